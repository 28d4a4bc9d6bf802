/* SPDX-License-Identifier: Apache-2.0 */
/* Data streams and their templates, as in both products. */
#include "steps.h"

#define TEMPLATE(pattern, priority)                                                                \
    "{\"index_patterns\":[\"" pattern "\"],\"priority\":" priority                                 \
    ",\"data_stream\":{},\"template\":{\"settings\":{\"number_of_replicas\":0},\"mappings\":{"     \
    "\"properties\":{\"@timestamp\":{\"type\":\"date\"},\"k\":{\"type\":\"keyword\"}}}}}"
#define CREATE(id, more) "{\"create\":{\"_id\":\"" id "\"" more "}}\n"
#define DOCUMENT "{\"@timestamp\":\"2026-01-01\",\"k\":\"a\"}\n"
#define ONLY_CREATE                                                                                \
    "\"status\":400,\"error\":{\"type\":\"illegal_argument_exception\",\"reason\":\"only write "   \
    "ops with an op_type of create are allowed in data streams\""

START_TEST(a_stream_is_made_by_its_template_and_takes_creates_alone)
{
    CONVERSATION(
        NULL,
        {"PUT", "/_data_stream/ev", NULL, 400,
         "no matching index template found for data stream [ev]", NULL},
        {"PUT", "/_index_template/t", TEMPLATE("ev", "500"), 200, "{\"acknowledged\":true}", NULL},
        {"PUT", "/ev", "{}", 400,
         "cannot create index with name [ev], because it matches with template [t] that creates "
         "data streams only, use create data stream api instead",
         NULL},
        {"PUT", "/_data_stream/ev", NULL, 200, "{\"acknowledged\":true}", NULL},
        {"PUT", "/_data_stream/ev", NULL, 400,
         "\"resource_already_exists_exception\",\"reason\":\"data_stream [ev] already exists\"",
         NULL},
        {"GET", "/ev", NULL, 200, "{\".ds-ev-000001\":{\"aliases\":{}", NULL},
        {"GET", "/ev", NULL, 200, ",\"data_stream\":\"ev\"}", NULL},
        {"POST", "/ev/_bulk", CREATE("1", "") DOCUMENT CREATE("1", "") DOCUMENT, 200,
         "\"status\":201}},{\"create\":{\"_index\":\".ds-ev-000001\",\"_id\":\"1\",\"status\":409,"
         "\"error\":{\"type\":\"version_conflict_engine_exception\",\"reason\":\"[1]: version "
         "conflict, document already exists (current version [1])\"",
         NULL},
        {"POST", "/ev/_bulk", "{\"index\":{\"_id\":\"2\"}}\n" DOCUMENT, 200, ONLY_CREATE, NULL},
        {"POST", "/ev/_bulk", "{\"delete\":{\"_id\":\"1\"}}\n", 200, ONLY_CREATE, NULL},
        {"POST", "/ev/_bulk", CREATE("3", ",\"routing\":\"x\"") DOCUMENT, 200,
         "index request targeting data stream [ev] specifies a custom routing.", NULL},
        {"POST", "/ev/_bulk", CREATE("4", "") "{\"k\":\"a\"}\n", 200,
         "documents must contain a single-valued timestamp field '@timestamp' of date type", NULL},
        {"POST", "/.ds-ev-000001/_bulk", CREATE("5", "") DOCUMENT, 200,
         "index request with op_type=create targeting backing indices is disallowed, target "
         "corresponding data stream [ev] instead",
         NULL},
        {"PUT", "/ev/_doc/6", "{\"@timestamp\":\"2026-01-01\"}", 400, "only write ops", NULL},
        {"POST", "/ev/_refresh", NULL, 200, NULL, NULL},
        {"GET", "/ev/_count", NULL, 200, "{\"count\":1,", NULL},
        {"GET", "/ev/_doc/1", NULL, 404, "index_not_found_exception", NULL}, );
}
END_TEST

START_TEST(a_rollover_puts_another_index_behind_it)
{
    CONVERSATION(
        NULL, {"PUT", "/_index_template/t", TEMPLATE("ev", "500"), 200, NULL, NULL},
        {"POST", "/ev/_bulk", CREATE("1", "") DOCUMENT, 200,
         "\"_index\":\".ds-ev-000001\",\"_id\":\"1\"", NULL}, /* creates the stream */
        {"POST", "/ev/_rollover", NULL, 200,
         "\"old_index\":\".ds-ev-000001\",\"new_index\":\".ds-ev-000002\",\"rolled_over\":true",
         NULL},
        {"POST", "/ev/_bulk?refresh=true", CREATE("1", "") DOCUMENT, 200, "\"status\":201", NULL},
        {"POST", "/ev/_search", "{\"query\":{\"ids\":{\"values\":[\"1\"]}},\"sort\":[\"_doc\"]}",
         200, "\"total\":{\"value\":2,", NULL},
        {"GET", "/_data_stream/ev", NULL, 200, "\"generation\":2,", NULL},
        {"PUT", "/ev/_mapping", "{\"_meta\":{\"a\":1}}", 200, NULL, NULL},
        {"GET", "/.ds-ev-000001/_mapping", NULL, 200, "\"_meta\":{\"a\":1}", NULL},
        {"DELETE", "/.ds-ev-000002", NULL, 400,
         "index [.ds-ev-000002] is the write index for data stream [ev] and cannot be deleted",
         NULL},
        {"DELETE", "/.ds-ev-000001", NULL, 200, NULL, NULL},
        {"DELETE", "/ev", NULL, 404, "index_not_found_exception", NULL},
        {"DELETE", "/_index_template/t", NULL, 400,
         "unable to remove composable templates [t] as they are in use by a data streams [ev]",
         NULL},
        {"DELETE", "/_data_stream/ev", NULL, 200, "{\"acknowledged\":true}", NULL},
        {"GET", "/ev", NULL, 404, NULL, NULL},
        {"DELETE", "/_index_template/t", NULL, 200, NULL, NULL}, );
}
END_TEST

START_TEST(of_templates_the_highest_priority_counts)
{
    CONVERSATION(
        NULL, {"PUT", "/_index_template/low", TEMPLATE("e*", "1"), 200, NULL, NULL},
        {"PUT", "/_index_template/high", "{\"index_patterns\":[\"ev\"],\"priority\":2}", 200, NULL,
         NULL},
        {"PUT", "/ev", "{}", 200, NULL, NULL},
        {"PUT", "/ew", "{}", 400, "matches with template [low]", NULL},
        {"POST", "/_index_template/_simulate_index/ew", NULL, 200,
         "{\"template\":{\"settings\":{\"number_of_replicas\":0}", NULL},
        {"GET", "/_index_template", NULL, 200, "{\"index_templates\":[{\"name\":\"low\"", NULL},
        {"GET", "/_index_template/none", NULL, 404, "index template matching [none] not found",
         NULL},
        {"PUT", "/_index_template/x", "{\"index_patterns\":[\"x\"],\"composed_of\":[\"c\"]}", 400,
         "devsearch does not know [composed_of] of an index template", NULL}, );
}
END_TEST

START_TEST(with_elasticsearch_the_name_has_the_day)
{
    static const char *const options[] = {"--product", "elasticsearch", NULL};
    CONVERSATION(options, {"PUT", "/_index_template/t", TEMPLATE("ev", "500"), 200, NULL, NULL},
                 {"POST", "/ev/_bulk", CREATE("4", "") "{\"k\":\"a\"}\n", 200,
                  "data stream timestamp field [@timestamp] is missing", NULL},
                 {"POST", "/ev/_bulk", CREATE("3", ",\"routing\":\"x\"") DOCUMENT, 200,
                  "[allow_custom_routing] setting was not enabled in the data stream's template",
                  NULL},
                 {"GET", "/ev", NULL, 200, "{\".ds-ev-20", NULL}, );
}
END_TEST

SUITE_MAIN("devsearch/streams", a_stream_is_made_by_its_template_and_takes_creates_alone,
           a_rollover_puts_another_index_behind_it, of_templates_the_highest_priority_counts,
           with_elasticsearch_the_name_has_the_day)
