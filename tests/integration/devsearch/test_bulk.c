/* SPDX-License-Identifier: Apache-2.0 */
/* _bulk answers in the form of OpenSearch 2.19: items, versions, requests refused as a whole. */
#include "steps.h"

#include "rowferry/base/buf.h"

#define EXTERNAL(kind, id, version)                                                                \
    "{\"" kind "\":{\"_id\":\"" id "\",\"version\":" version ",\"version_type\":\"external\"}}\n"
#define GTE(kind, id, version)                                                                     \
    "{\"" kind "\":{\"_id\":\"" id "\",\"version\":" version                                       \
    ",\"version_type\":\"external_gte\"}}\n"
#define FILTERED "/t/_bulk?filter_path=errors,items.*.status,items.*.error"
#define WHOLE "\"type\":\"illegal_argument_exception\",\"reason\":\""

START_TEST(versions_decide_what_a_write_may_replace)
{
    CONVERSATION(
        NULL, {"PUT", "/t", NULL, 200, NULL, NULL},
        {"POST", "/t/_bulk", EXTERNAL("index", "1", "10") "{}\n", 200,
         ",\"errors\":false,\"items\":[{"
         "\"index\":{\"_index\":\"t\",\"_id\":\"1\",\"_version\":10,\"result\":\"created\",\"_"
         "shards\":{"
         "\"total\":2,\"successful\":1,\"failed\":0},\"_seq_no\":0,\"_primary_term\":1,\"status\":"
         "201}}]}",
         NULL},
        {"POST", "/t/_bulk", EXTERNAL("index", "1", "9") "{}\n", 200,
         "\"status\":409,\"error\":{\"type\":\"version_conflict_engine_exception\",\"reason\":\"[1]"
         ": "
         "version conflict, current version [10] is higher or equal to the one provided "
         "[9]\",\"index\":"
         "\"t\",\"shard\":\"0\",\"index_uuid\":",
         NULL},
        {"POST", "/t/_bulk", GTE("index", "1", "9") "{}\n", 200,
         "[1]: version conflict, current version [10] is higher than the one provided [9]", NULL},
        {"POST", "/t/_bulk", GTE("index", "1", "10") "{}\n", 200, "\"result\":\"updated\"", NULL},
        {"POST", "/t/_bulk", "{\"create\":{\"_id\":\"1\"}}\n{}\n", 200,
         "[1]: version conflict, document already exists (current version [10])", NULL},
        {"POST", "/t/_bulk", EXTERNAL("index", "big", "9223372036854775807") "{}\n", 200,
         "\"_version\":9223372036854775807", NULL},
        {"POST", FILTERED, EXTERNAL("index", "2", "0") "{}\n" EXTERNAL("index", "1", "3") "{}\n",
         200,
         "{\"errors\":true,\"items\":[{\"index\":{\"status\":201}},{\"index\":{\"status\":409,"
         "\"error\":{",
         "took"},
        {"POST", FILTERED, EXTERNAL("index", "2", "1") "{}\n", 200,
         "{\"errors\":false,\"items\":[{\"index\":{\"status\":200}}]}", NULL},
        {"POST", "/t/_bulk?filter_path=items.*.error", EXTERNAL("index", "2", "2") "{}\n", 200,
         "{}", "items"}, );
}
END_TEST

START_TEST(a_delete_leaves_a_tombstone_with_its_version)
{
    CONVERSATION(
        NULL, {"PUT", "/t", NULL, 200, NULL, NULL},
        {"POST", "/t/_bulk", EXTERNAL("delete", "z", "5"), 200,
         "\"errors\":false,\"items\":[{\"delete\":{\"_index\":\"t\",\"_id\":\"z\",\"_version\":5,"
         "\"result\":\"not_found\"",
         NULL},
        {"POST", "/t/_bulk", EXTERNAL("delete", "z", "5"), 200,
         "current version [5] is higher or equal to the one provided [5]", NULL},
        {"POST", "/t/_bulk", GTE("delete", "z", "5"), 200, "\"result\":\"not_found\"", "error\":{"},
        {"POST", "/t/_bulk", EXTERNAL("index", "z", "3") "{}\n", 200, "\"status\":409", NULL},
        {"POST", "/t/_bulk", EXTERNAL("index", "z", "7") "{}\n", 200, "\"status\":201", NULL},
        {"PUT", "/t/_settings", "{\"gc_deletes\":\"0\"}", 200, NULL, NULL},
        {"POST", "/t/_bulk", EXTERNAL("delete", "z", "8"), 200, "\"result\":\"deleted\"", NULL},
        {"POST", "/t/_bulk", EXTERNAL("index", "z", "1") "{}\n", 200, "\"status\":201", NULL}, );
}
END_TEST

START_TEST(a_delete_in_a_missing_index_creates_it_only_with_a_version)
{
    CONVERSATION(
        NULL,
        {"POST", "/_bulk", "{\"delete\":{\"_index\":\"m1\",\"_id\":\"1\"}}\n", 200,
         "\"status\":404,\"error\":{\"type\":\"index_not_found_exception\"", NULL},
        {"GET", "/m1", NULL, 404, NULL, NULL},
        {"POST", "/m2/_bulk", EXTERNAL("delete", "1", "4"), 200, "\"errors\":false", "\"error\":{"},
        {"GET", "/m2", NULL, 200, NULL, NULL},
        {"POST", "/m3/_bulk?require_alias=true", "{\"index\":{\"_id\":\"1\"}}\n{}\n", 200,
         "no such index [m3] and [require_alias] request flag is [true] and [m3] is not an alias",
         NULL},
        {"GET", "/m3", NULL, 404, NULL, NULL}, );
}
END_TEST

START_TEST(a_malformed_request_is_refused_whole)
{
    CONVERSATION(
        NULL, {"PUT", "/t", NULL, 200, NULL, NULL},
        {"POST", "/t/_bulk", "{\"index\":{\"_id\":\"1\"}}\n{}", 400,
         WHOLE "The bulk request must be terminated by a newline [\\\\n]", NULL},
        {"POST", "/t/_bulk", "{\"index\":{\"_id\":\"1\"}}\n{}\n{\"index\":{\"foo\":1}}\n{}\n", 400,
         WHOLE "Action/metadata line [3] contains an unknown parameter [foo]", NULL},
        {"POST", "/t/_bulk", "{\"index\":{\"_type\":\"x\"}}\n{}\n", 400,
         "contains an unknown parameter [_type]", NULL},
        {"POST", "/t/_bulk", "{\"bogus\":{}}\n{}\n", 400,
         "Malformed action/metadata line [1], expected one of [create, delete, index, update] but "
         "found [bogus]",
         NULL},
        {"POST", "/t/_bulk", "[]\n{}\n", 400, "expected START_OBJECT but found [START_ARRAY]",
         NULL},
        {"POST", "/t/_bulk", "{\"update\":{\"_id\":\"1\"}}\n{\"doc\":{}}\n", 400,
         "devsearch does not know the action [update]", NULL},
        {"POST", "/t/_bulk?bogus=1", "{\"index\":{}}\n{}\n", 400,
         WHOLE "request [/t/_bulk] contains unrecognized parameter: [bogus]", NULL},
        {"POST", "/t/_bulk?include_source_on_error=false", "{\"index\":{}}\n{}\n", 400,
         "unrecognized parameter", NULL},
        {"POST", "/t/_bulk", EXTERNAL("index", "1", "-1") "{}\n", 400,
         "Validation Failed: 1: illegal version value [-1] for version type [EXTERNAL];", NULL},
        {"POST", "/t/_bulk", EXTERNAL("index", "1", "9223372036854775808") "{}\n", 400,
         "Numeric value (9223372036854775808) out of range of long", NULL},
        {"POST", "/t/_bulk", EXTERNAL("create", "1", "3") "{}\n", 400,
         "create operations only support internal versioning. use index instead", NULL},
        {"POST", "/t/_bulk", "{\"delete\":{\"_id\":\"\"}}\n", 400, "id is missing", NULL},
        {"POST", "/t/_bulk", "\n", 400, "Validation Failed: 1: no requests added;", NULL},
        {"POST", "/_bulk", "{\"index\":{\"_id\":\"1\"}}\n{}\n", 400, "index is missing", NULL},
        {"GET", "/t/_bulk", NULL, 405, "allowed: [PUT, POST]", NULL},
        {"POST", "/t/_refresh", NULL, 200, NULL, NULL},
        {"GET", "/t/_count", NULL, 200, "{\"count\":0,", NULL}, );
}
END_TEST

START_TEST(an_id_of_513_bytes_fails_the_request_and_one_of_512_does_not)
{
    struct devsearch service;
    struct buf body;
    struct reply reply;
    devsearch_start(&service, NULL);
    for (int n = 512; n <= 513; n++) {
        buf_init(&body, 4096);
        buf_push_literal(&body, "{\"index\":{\"_id\":\"");
        for (int i = 0; i < n; i++) {
            buf_push_char(&body, 'a');
        }
        buf_push_literal(&body, "\"}}\n{}\n");
        reply_get(&reply, "POST", service.url, "/t/_bulk", buf_text(&body), NULL);
        ck_assert_int_eq(reply.status, n == 512 ? 200 : 400);
        ck_assert(n == 512 ||
                  strstr(reply.body, "is too long, must be no longer than 512 bytes but "
                                     "was: 513;") != NULL);
        reply_release(&reply);
        buf_release(&body);
    }
    devsearch_stop(&service);
}
END_TEST

START_TEST(items_fail_alone_and_the_last_action_without_a_source_is_dropped)
{
    CONVERSATION(
        NULL,
        {"PUT", "/t",
         "{\"mappings\":{\"dynamic\":\"strict\",\"properties\":{\"n\":{\"type\":\"long\"}}}}", 200,
         NULL, NULL},
        {"POST", FILTERED,
         "{\"index\":{\"_id\":\"1\"}}\n{\"n\":1}\n{\"index\":{\"_id\":\"2\"}}\n{\"n\":\"abc\"}\n"
         "{\"index\":{\"_id\":\"3\"}}\n{\"n\":3}\n",
         200,
         "[{\"index\":{\"status\":201}},{\"index\":{\"status\":400,\"error\":{\"type\":"
         "\"mapper_parsing_exception\",\"reason\":\"failed to parse field [n] of type [long] in "
         "document "
         "with id '2'. Preview of field's value: 'abc'\",\"caused_by\":{\"type\":"
         "\"illegal_argument_exception\",\"reason\":\"For input string: "
         "\\\"abc\\\"\"}}}},{\"index\":{"
         "\"status\":201}}]",
         NULL},
        {"POST", FILTERED, "{\"index\":{\"_id\":\"\"}}\n{}\n", 200,
         "if _id is specified it must not be empty", NULL},
        {"POST", FILTERED, "{\"delete\":{\"_id\":\"1\"}}\n{\"index\":{\"_id\":\"9\"}}\n", 200,
         "{\"errors\":false,\"items\":[{\"delete\":{\"status\":200}}]}", NULL},
        {"POST", FILTERED,
         "{\"index\":{\"_id\":\"s\"}}\n{}\n{\"delete\":{\"_id\":\"s\"}}\n{\"index\":{\"_id\":\"s\"}"
         "}\n{}\n",
         200,
         "[{\"index\":{\"status\":201}},{\"delete\":{\"status\":200}},{\"index\":{\"status\":201}}"
         "]",
         NULL},
        {"POST", FILTERED, "{\"index\":{\"_id\":\"c\"}}\r\n{}\r\n", 200, "\"status\":201", NULL}, );
}
END_TEST

START_TEST(a_blocked_index_refuses_writes_with_the_block)
{
    CONVERSATION(
        NULL, {"PUT", "/t", NULL, 200, NULL, NULL},
        {"PUT", "/t/_settings", "{\"index.blocks.write\":true}", 200, NULL, NULL},
        {"POST", FILTERED, "{\"index\":{\"_id\":\"1\"}}\n{}\n", 200,
         "\"status\":403,\"error\":{\"type\":\"cluster_block_exception\",\"reason\":\"index [t] "
         "blocked "
         "by: [FORBIDDEN/8/index write (api)];\"}",
         NULL},
        {"PUT", "/t/_settings", "{\"index.blocks.write\":null}", 200, NULL, NULL},
        {"POST", FILTERED, "{\"index\":{\"_id\":\"1\"}}\n{}\n", 200, "\"status\":201", NULL}, );
}
END_TEST

SUITE_MAIN("devsearch/bulk", versions_decide_what_a_write_may_replace,
           a_delete_leaves_a_tombstone_with_its_version,
           a_delete_in_a_missing_index_creates_it_only_with_a_version,
           a_malformed_request_is_refused_whole,
           an_id_of_513_bytes_fails_the_request_and_one_of_512_does_not,
           items_fail_alone_and_the_last_action_without_a_source_is_dropped,
           a_blocked_index_refuses_writes_with_the_block)
