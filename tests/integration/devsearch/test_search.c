/* SPDX-License-Identifier: Apache-2.0 */
/* Hits of a search, their order, and the visibility of writes. */
#include "steps.h"

#include <stdio.h>

#define INDEX                                                                                      \
    {                                                                                              \
        "PUT", "/s",                                                                               \
            "{\"settings\":{\"number_of_replicas\":0},\"mappings\":{\"properties\":{\"source_"     \
            "id\":{"                                                                               \
            "\"type\":\"keyword\"},\"title\":{\"type\":\"text\"},\"n\":{\"type\":\"long\"},\"d\":" \
            "{\"type\":"                                                                           \
            "\"date\"},\"b\":{\"type\":\"boolean\"}}}}",                                           \
            200, NULL, NULL                                                                        \
    }
#define DOCUMENTS                                                                                  \
    {                                                                                              \
        "POST", "/s/_bulk?refresh=true",                                                           \
            "{\"index\":{\"_id\":\"1\",\"version\":10,\"version_type\":\"external\"}}\n"           \
            "{\"source_id\":\"1\",\"title\":\"The quick "                                          \
            "Brown-fox\",\"n\":5,\"d\":\"2024-01-01\",\"b\":true}\n"                               \
            "{\"index\":{\"_id\":\"a b:c\\\"d\"}}\n"                                               \
            "{\"source_id\":\"a b:c\\\"d\",\"title\":\"lazy "                                      \
            "dog\",\"n\":7,\"d\":1704153600000,\"b\":false}\n"                                     \
            "{\"index\":{\"_id\":\"3\"}}\n{\"source_id\":\"3\",\"title\":\"quick lazy "            \
            "cat\",\"n\":6}\n"                                                                     \
            "{\"index\":{\"_id\":\"4\"}}\n{\"source_id\":\"4\"}\n",                                \
            200, "\"errors\":false", NULL                                                          \
    }

#define Q(query, holds)                                                                            \
    {                                                                                              \
        "GET", "/s/_search?" query, NULL, 200, holds, NULL                                         \
    }
#define BODY(body, holds)                                                                          \
    {                                                                                              \
        "POST", "/s/_search", body, 200, holds, NULL                                               \
    }
#define BAD(body, code, holds)                                                                     \
    {                                                                                              \
        "POST", "/s/_search", body, code, holds, NULL                                              \
    }
#define TOTAL(n) "\"total\":{\"value\":" #n ",\"relation\":\"eq\"}"

START_TEST(a_query_string_finds_words_phrases_and_escaped_ids)
{
    CONVERSATION(
        NULL, INDEX, DOCUMENTS, Q("q=title:quick", TOTAL(2)), Q("q=title:QUICK", TOTAL(2)),
        Q("q=source_id:%22a%20b:c%5C%22d%22", "\"_id\":\"a b:c\\\"d\""),
        Q("q=source_id:a%5C%20b%5C:c%5C%22d", TOTAL(1)), Q("q=*", TOTAL(4)),
        Q("q=nofield:x", TOTAL(0)), Q("q=quick", TOTAL(2)), Q("q=quick%20lazy", TOTAL(3)),
        Q("q=title:quick%20AND%20title:lazy", TOTAL(1)),
        Q("q=title:quick%20AND%20NOT%20title:lazy", "\"_id\":\"1\""), Q("q=n:%3E5", TOTAL(2)),
        Q("q=n:%5B5%20TO%206%5D", TOTAL(2)), Q("q=title:%22quick%20brown%22", TOTAL(1)),
        Q("q=title:qui*", TOTAL(2)), Q("q=n:*&size=0", TOTAL(3)),
        {"GET", "/s/_search?q=title:(quick", NULL, 400,
         "\"type\":\"query_shard_exception\",\"reason\":\"Failed to parse query [title:(quick]",
         NULL},
        {"GET", "/nope/_search", NULL, 404, "index_not_found_exception", NULL}, );
}
END_TEST

START_TEST(bodies_select_sort_and_page)
{
    CONVERSATION(
        NULL, INDEX, DOCUMENTS,
        BODY("{\"size\":1,\"version\":true,\"_source\":false,\"track_total_hits\":false,\"sort\":[{"
             "\"source_id\":\"asc\"}]}",
             "\"hits\":{\"max_score\":null,\"hits\":[{\"_index\":\"s\",\"_id\":\"1\",\"_version\":"
             "10,"
             "\"_score\":null,\"sort\":[\"1\"]}]}}"),
        BODY("{\"_source\":false,\"sort\":[{\"source_id\":\"asc\"}],\"search_after\":[\"3\"]}",
             "[{\"_index\":\"s\",\"_id\":\"4\",\"_score\":null,\"sort\":[\"4\"]},{\"_index\":\"s\","
             "\"_id\":\"a b:c\\\"d\""),
        BODY("{\"_source\":false,\"sort\":[{\"n\":\"desc\"}]}", "\"sort\":[-9223372036854775808]"),
        BODY("{\"_source\":[\"n\"],\"sort\":[\"d\"],\"size\":1}",
             "\"_source\":{\"n\":5},\"sort\":[1704067200000]"),
        BODY("{\"query\":{\"ids\":{\"values\":[\"1\",\"3\"]}}}", TOTAL(2)),
        BODY("{\"query\":{\"term\":{\"source_id\":\"3\"}}}", TOTAL(1)),
        BODY("{\"query\":{\"terms\":{\"n\":[5,7]}}}", TOTAL(2)),
        BODY("{\"query\":{\"match\":{\"title\":\"quick cat\"}}}", TOTAL(2)),
        BODY("{\"query\":{\"match\":{\"title\":{\"query\":\"quick cat\",\"operator\":\"and\"}}}}",
             TOTAL(1)),
        BODY("{\"query\":{\"match_phrase\":{\"title\":\"lazy cat\"}}}", TOTAL(1)),
        BODY("{\"query\":{\"exists\":{\"field\":\"n\"}}}", TOTAL(3)),
        BODY("{\"query\":{\"range\":{\"d\":{\"gt\":\"2024-01-01\"}}}}", TOTAL(1)),
        BODY("{\"query\":{\"bool\":{\"filter\":[{\"range\":{\"n\":{\"gte\":6}}}],\"must_not\":[{"
             "\"term\":"
             "{\"source_id\":\"3\"}}]}}}",
             TOTAL(1)),
        BODY("{\"size\":0,\"track_total_hits\":2}", "\"total\":{\"value\":2,\"relation\":\"gte\"}"),
        {"POST", "/s/_count", "{\"query\":{\"term\":{\"source_id\":\"3\"}}}", 200,
         "{\"count\":1,\"_shards\":{\"total\":1,\"successful\":1,\"skipped\":0,\"failed\":0}}",
         NULL}, );
}
END_TEST

START_TEST(what_it_does_not_know_is_a_refusal_not_an_answer)
{
    CONVERSATION(
        NULL, INDEX, BAD("{\"size\":10001}", 400, "Result window is too large"),
        BAD("{\"sort\":[\"zzz\"]}", 400, "No mapping found for [zzz] in order to sort on"),
        BAD("{\"sort\":[\"title\"]}", 400, "Text fields are not optimised for operations"),
        BAD("{\"query\":{\"bogus\":{}}}", 400, "unknown query [bogus]"),
        BAD("{\"query\":{\"knn\":{}}}", 400, "devsearch does not know a [knn] query"),
        BAD("{\"query\":{\"fuzzy\":{}}}", 400, "devsearch does not know the query [fuzzy]"),
        BAD("{\"aggs\":{}}", 400, "devsearch does not know [aggs] in a search body"),
        BAD("{\"query\":{\"term\":{\"n\":\"abc\"}}}", 400, "For input string: \\\"abc\\\""),
        BAD("{\"sort\":[\"_shard_doc\"]}", 400, "No mapping found for [_shard_doc]"),
        {"GET", "/a/b", NULL, 400,
         "{\"error\":\"no handler found for uri [/a/b] and method [GET]\"}", NULL}, );
}
END_TEST

START_TEST(a_write_is_searchable_after_a_refresh_and_readable_at_once)
{
    CONVERSATION(
        NULL, {"PUT", "/r", "{\"settings\":{\"refresh_interval\":\"-1\"}}", 200, NULL, NULL},
        {"PUT", "/r/_doc/1", "{\"a\":1}", 201, NULL, NULL},
        {"GET", "/r/_count", NULL, 200, "{\"count\":0,", NULL},
        {"GET", "/r/_doc/1", NULL, 200, "\"found\":true", NULL},
        {"POST", "/r/_refresh", NULL, 200,
         "{\"_shards\":{\"total\":2,\"successful\":1,\"failed\":0}}", NULL},
        {"GET", "/r/_count", NULL, 200, "{\"count\":1,", NULL},
        {"PUT", "/r/_doc/1", "{\"a\":2}", 200, NULL, NULL},
        {"GET", "/r/_search?q=a:1", NULL, 200, TOTAL(1), NULL},
        {"GET", "/r/_stats/docs,indexing", NULL, 200, "\"indexing\":{\"index_total\":2}", NULL},
        {"DELETE", "/r/_doc/1?refresh=true", NULL, 200, "\"result\":\"deleted\"", NULL},
        {"GET", "/r/_count", NULL, 200, "{\"count\":0,", NULL},
        {"POST", "/r/_doc?refresh=wait_for", "{}", 400, "refresh_interval is -1", NULL},
        {"PUT", "/r/_settings", "{\"refresh_interval\":\"1s\"}", 200, NULL, NULL},
        {"POST", "/r/_doc?refresh=wait_for", "{}", 201, "\"result\":\"created\"", "forced_refresh"},
        {"GET", "/r/_count", NULL, 200, "{\"count\":1,", NULL}, );
}
END_TEST

START_TEST(a_point_in_time_does_not_see_later_writes)
{
    struct devsearch service;
    struct reply reply;
    static const struct step before[] = {INDEX, DOCUMENTS};
    static const struct step after[] = {
        {"DELETE", "/s/_doc/1?refresh=true", NULL, 200, NULL, NULL},
        {"GET", "/s/_count", NULL, 200, "{\"count\":3,", NULL},
    };
    devsearch_start(&service, NULL);
    steps_take(service.url, before, 2);
    struct json_object *opened =
        reply_json(200, "POST", service.url, "/s/_search/point_in_time?keep_alive=1m", NULL, NULL);
    const char *id = json_object_get_string(json_object_object_get(opened, "pit_id"));
    char body[512];
    snprintf(
        body, sizeof(body),
        "{\"pit\":{\"id\":\"%s\",\"keep_alive\":\"1m\"},\"size\":1,\"_source\":false,\"sort\":[{"
        "\"source_id\":\"asc\"}]}",
        id);
    steps_take(service.url, after, 2);
    reply_get(&reply, "POST", service.url, "/_search", body, NULL);
    ck_assert_int_eq(reply.status, 200);
    ck_assert_ptr_nonnull(strstr(reply.body, TOTAL(4)));
    ck_assert_ptr_nonnull(strstr(reply.body, "\"_id\":\"1\""));
    reply_release(&reply);
    reply_get(&reply, "POST", service.url, "/s/_search", body, NULL);
    ck_assert_int_eq(reply.status, 400);
    reply_release(&reply);
    char ids[256];
    snprintf(ids, sizeof(ids), "{\"pit_id\":[\"%s\"]}", id);
    reply_get(&reply, "DELETE", service.url, "/_search/point_in_time", ids, NULL);
    ck_assert_int_eq(reply.status, 200);
    reply_release(&reply);
    reply_get(&reply, "POST", service.url, "/_search", body, NULL);
    ck_assert_int_eq(reply.status, 404);
    ck_assert_ptr_nonnull(strstr(reply.body, "search_context_missing_exception"));
    reply_release(&reply);
    json_object_put(opened);
    devsearch_stop(&service);
}
END_TEST

START_TEST(health_and_analysis_answer)
{
    CONVERSATION(
        NULL, INDEX,
        {"GET", "/_cluster/health/s", NULL, 200, "\"status\":\"green\",\"timed_out\":false", NULL},
        {"GET", "/_cluster/health/nope?timeout=100ms", NULL, 408,
         "\"status\":\"red\",\"timed_out\":true", NULL},
        {"POST", "/_analyze", "{\"analyzer\":\"standard\",\"text\":\"The QUICK brown-fox 2 is\"}",
         200,
         "{\"token\":\"fox\",\"start_offset\":16,\"end_offset\":19,\"type\":\"<ALPHANUM>\","
         "\"position\":3},"
         "{\"token\":\"2\",\"start_offset\":20,\"end_offset\":21,\"type\":\"<NUM>\",\"position\":"
         "4}",
         NULL},
        {"GET", "/", NULL, 200, "\"distribution\" : \"opensearch\"", NULL}, );
}
END_TEST

#define NEAR(query, holds, misses)                                                                 \
    {                                                                                              \
        "POST", "/v/_search", query, 200, holds, misses                                            \
    }

START_TEST(the_nearest_by_a_vector_come_first_and_no_more_than_asked)
{
    CONVERSATION(
        NULL,
        {"PUT", "/v",
         "{\"mappings\":{\"properties\":{\"v\":{\"type\":\"knn_vector\",\"dimension\":2},\"c\":"
         "{\"type\":\"knn_vector\",\"dimension\":2,\"space_type\":\"cosinesimil\"},\"x\":{\"type\":"
         "\"knn_vector\",\"dimension\":2,\"space_type\":\"linf\"}}}}",
         200, NULL, NULL},
        {"POST", "/v/_bulk?refresh=true",
         "{\"index\":{\"_id\":\"far\"}}\n{\"v\":[9,9],\"c\":[9,0.5]}\n"
         "{\"index\":{\"_id\":\"near\"}}\n{\"v\":[1,0.5],\"c\":[1,1]}\n"
         "{\"index\":{\"_id\":\"none\"}}\n{}\n",
         200, "\"errors\":false", NULL},
        NEAR("{\"query\":{\"knn\":{\"v\":{\"vector\":[1,0],\"k\":1}}}}", "\"_id\":\"near\"",
             "\"_id\":\"far\""),
        NEAR("{\"query\":{\"knn\":{\"c\":{\"vector\":[1,0],\"k\":1}}}}", "\"_id\":\"far\"",
             "\"_id\":\"near\""),
        NEAR("{\"query\":{\"knn\":{\"v\":{\"vector\":[1,0],\"k\":5}}}}", "\"value\":2",
             "\"_id\":\"none\""),
        {"POST", "/v/_search", "{\"query\":{\"knn\":{\"v\":{\"vector\":[1,0,0],\"k\":1}}}}", 400,
         "another dimension", NULL},
        {"POST", "/v/_search", "{\"query\":{\"knn\":{\"x\":{\"vector\":[1,0],\"k\":1}}}}", 400,
         "devsearch does not know nearest neighbours by [linf]", NULL}, );
}
END_TEST

SUITE_MAIN("devsearch/search", a_query_string_finds_words_phrases_and_escaped_ids,
           bodies_select_sort_and_page, what_it_does_not_know_is_a_refusal_not_an_answer,
           a_write_is_searchable_after_a_refresh_and_readable_at_once,
           a_point_in_time_does_not_see_later_writes, health_and_analysis_answer,
           the_nearest_by_a_vector_come_first_and_no_more_than_asked)
