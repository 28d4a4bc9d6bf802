/* SPDX-License-Identifier: Apache-2.0 */
/* Reading searches of an application, and the fields that they use. */
#include "rowferry/service/trial/querylog.h"

#include <string.h>

#include "rowferry/base/buf.h"
#include "suite.h"

static int read_text(struct querylog *q, const char *text, struct err *err)
{
    return querylog_read(q, "slow.log", span_make(text, strlen(text)), err);
}

START_TEST(each_format_gives_the_search)
{
    static const char *const lines[] = {
        "{\"query\":{\"term\":{\"a\":\"]\"}},\"size\":20,\"from\":40}",
        "[2026-11-27T10:00:00,000][WARN ][index.search.slowlog.query] [node] [shop-1][0] "
        "took[1ms], "
        "took_millis[1], total_hits[1 hits], stats[], search_type[QUERY_THEN_FETCH], "
        "total_shards[1], source[{\"size\":20,\"query\":{\"term\":{\"a\":\"]\"}}}], id[], ",
        "{\"type\": \"index_search_slowlog\", \"took\": \"1ms\", \"source\": "
        "\"{\\\"query\\\":{\\\"term\\\":{\\\"a\\\":\\\"]\\\"}}}\", \"id\": \"\"}",
        "{\"event.dataset\":\"elasticsearch.index_search_slowlog\",\"elasticsearch.slowlog."
        "source\":"
        "\"{\\\"query\\\":{\\\"term\\\":{\\\"a\\\":\\\"]\\\"}}}\"}",
        "{\"elasticsearch\":{\"slowlog\":{\"source\":{\"query\":{\"term\":{\"a\":\"]\"}}}}}}",
    };
    for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
        struct querylog q;
        struct err err;
        ck_assert_msg(read_text(&q, lines[i], &err) == 0, "%zu: %s", i, err.message);
        ck_assert_uint_eq(q.count, 1);
        ck_assert_str_eq(q.items[0].body, "{\"query\":{\"term\":{\"a\":\"]\"}}}");
        querylog_release(&q);
    }
}
END_TEST

START_TEST(equal_searches_are_kept_once_and_writes_are_left_out)
{
    struct querylog q;
    struct err err;
    int rc = read_text(&q,
                       "\r\n{\"sort\":[\"a\"]}\n"
                       "[..][index.indexing.slowlog.index] [n] [i/u] took[1ms], source[{\"a\":1}]\n"
                       "{\"type\":\"index_indexing_slowlog\",\"source\":\"{}\"}\n"
                       "{\"sort\": [\"a\"], \"size\": 3}\n"
                       "[..][index.search.slowlog.query] [n] [i][0] source[], id[]\n",
                       &err);
    ck_assert_msg(rc == 0, "%s", err.message);
    ck_assert_uint_eq(q.searches, 3);
    ck_assert_uint_eq(q.count, 2);
    ck_assert_uint_eq(q.items[0].line, 2);
    ck_assert_uint_eq(q.items[1].line, 6);
    ck_assert_str_eq(q.items[1].body, "{}");
    querylog_release(&q);
}
END_TEST

START_TEST(a_wrong_line_is_named_with_its_key)
{
    static const struct {
        const char *text, *message;
    } wrong[] = {
        {"\n{\"qurey\":{}}", "slow.log:2: \"qurey\" is not a key of a search body"},
        {"{\"query\":", "slow.log:1: the line is not JSON"},
        {"hello", "slow.log:1: neither a search body as JSON nor a line of a search slow log"},
        {"[1]", "slow.log:1: neither a search body as JSON nor a line of a search slow log"},
        {"{\"source\":\"{\\\"query\\\":{\"}",
         "slow.log:1: \"source\" is not a search body as JSON; was it cut?"},
        {"{\"source\":7}", "slow.log:1: \"source\" is not a search body as JSON; was it cut?"},
        {"[q] source[{\"query\":{\"a",
         "slow.log:1: \"source\" is not a search body as JSON; was it "
         "cut?"},
        {"{\"elasticsearch.slowlog.source\":\"x\"}",
         "slow.log:1: \"elasticsearch.slowlog.source\" is not a search body as JSON; was it cut?"},
        {"{\"source\":\"{\\\"x\\\":1}\"}", "slow.log:1: \"x\" is not a key of a search body"},
    };
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        struct querylog q;
        struct err err;
        ck_assert_int_eq(read_text(&q, wrong[i].text, &err), ERR_CONFIG);
        ck_assert_str_eq(err.message, wrong[i].message);
        querylog_release(&q);
    }
}
END_TEST

START_TEST(more_searches_than_are_kept_are_counted)
{
    struct buf text;
    struct querylog q;
    struct err err;
    buf_init(&text, QUERYLOG_BYTES);
    for (int i = 0; i < QUERYLOG_MOST + 7; i++) {
        buf_printf(&text, "{\"min_score\":%d}\n", i);
    }
    ck_assert_int_eq(querylog_read(&q, "q", span_make(text.data, text.len), &err), 0);
    ck_assert_uint_eq(q.count, QUERYLOG_MOST);
    ck_assert_uint_eq(q.left_out, 7);
    querylog_release(&q);
    buf_release(&text);
}
END_TEST

static void push_use(void *context, enum field_use use, const char *field)
{
    static const char letters[] = "FMSAV";
    buf_printf(context, " %c:%s", letters[use], field);
}

START_TEST(fields_are_found_where_a_search_names_them)
{
    static const struct {
        const char *body, *fields;
    } known[] = {
        {"{\"query\":{\"bool\":{\"filter\":[{\"term\":{\"status\":{\"value\":\"x\",\"boost\":1}}},"
         "{\"terms\":{\"tag\":[\"a\"],\"boost\":1}}],\"must\":{\"match\":{\"title\":\"a\"}},"
         "\"must_not\":{\"exists\":{\"field\":\"gone\"}}}}}",
         " F:status F:tag M:title M:gone"},
        {"{\"query\":{\"function_score\":{\"query\":{\"range\":{\"at\":{\"gte\":1}}},\"functions\":"
         "[{\"field_value_factor\":{\"field\":\"votes\"}},{\"script_score\":{\"script\":{"
         "\"params\":"
         "{\"term\":{\"no\":1}}}}}]}}}",
         " F:at A:votes"},
        {"{\"query\":{\"multi_match\":{\"fields\":[\"title^3\",\"body.*\",\"_id\",7]}}}",
         " M:title"},
        {"{\"query\":{\"match\":{\"term\":{\"query\":\"a\"}}}}", " M:term"},
        {"{\"sort\":[\"a\",{\"b\":\"desc\"},\"_score\",{\"_script\":{}}],\"collapse\":{\"field\":"
         "\"c\"}}",
         " S:a S:b S:c"},
        {"{\"sort\":{\"a\":\"asc\"}}", " S:a"},
        {"{\"aggs\":{\"term\":{\"terms\":{\"field\":\"a\",\"order\":{\"field\":\"no\"}},\"aggs\":{"
         "\"x\":"
         "{\"avg\":{\"field\":\"b\"}}}},\"f\":{\"filter\":{\"term\":{\"c\":1}}},\"g\":{\"filters\":"
         "{\"filters\":{\"one\":{\"range\":{\"d\":{}}}}}},\"h\":{\"composite\":{\"sources\":[{"
         "\"s\":"
         "{\"terms\":{\"field\":\"e\"}}}]}},\"t\":{\"top_hits\":{\"sort\":[{\"no\":\"asc\"}]}}}}",
         " A:a A:b F:c F:d A:e"},
        {"{\"runtime_mappings\":{\"day\":{}},\"query\":{\"term\":{\"day\":1}},\"post_filter\":{"
         "\"term\":{\"b\":1}}}",
         " F:b"},
        {"{\"knn\":[{\"field\":\"v\",\"query_vector\":[1],\"filter\":{\"term\":{\"a\":1}}}]}",
         " V:v F:a"},
        {"{\"query\":{\"hybrid\":{\"queries\":[{\"match\":{\"t\":\"a\"}},{\"knn\":{\"v\":{"
         "\"vector\":"
         "[1],\"k\":2}}},{\"neural\":{\"s\":{\"query_text\":\"a\"}}}]}}}",
         " V: M:t V:v V:s"},
        {"{\"retriever\":{\"rrf\":{\"retrievers\":[{\"standard\":{\"query\":{\"semantic\":{"
         "\"field\":"
         "\"s\",\"query\":\"a\"}}}}]}}}",
         " V: V:s"},
        {"[1]", ""},
        {"{\"query\":7,\"sort\":null,\"aggs\":[],\"collapse\":\"x\"}", ""},
    };
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
        struct buf said;
        buf_init(&said, 4096);
        querylog_fields(known[i].body, push_use, &said);
        ck_assert_msg(strcmp(buf_text(&said), known[i].fields) == 0, "%s:%s", known[i].body,
                      buf_text(&said));
        buf_release(&said);
    }
}
END_TEST

SUITE_MAIN("service/querylog", each_format_gives_the_search,
           equal_searches_are_kept_once_and_writes_are_left_out, a_wrong_line_is_named_with_its_key,
           more_searches_than_are_kept_are_counted, fields_are_found_where_a_search_names_them)
