/* SPDX-License-Identifier: Apache-2.0 */
/* Differences between the configured mapping and that of an index. */
#include "rowferry/document/mapping/mapdiff.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "suite.h"

#define WANT(properties) "{\"properties\":{" properties "}}"
#define LIVE(properties)                                                                           \
    "{\"dynamic\":\"strict\",\"_meta\":{\"rowferry\":{\"pipeline\":\"p\"}},\"properties\":{"       \
    "\"source_id\":{\"type\":\"keyword\"}," properties "}}"

static void check(const char *configured, const char *live, const char *lines, bool additive)
{
    struct mapdiff d;
    struct err err;
    struct buf said;
    buf_init(&said, 65536);
    ck_assert_msg(mapdiff_make(&d, configured, live, &err) == 0, "%s", err.message);
    for (size_t i = 0; i < d.count; i++) {
        buf_push_text(&said, i > 0 ? "\n" : "");
        mapdiff_describe(&said, &d.lines[i]);
    }
    ck_assert_msg(strcmp(buf_text(&said), lines) == 0, "%s\nagainst\n%s\nsays:\n%s\nnot:\n%s",
                  configured, live, buf_text(&said), lines);
    ck_assert_msg(d.additive == additive, "%s against %s", configured, live);
    buf_release(&said);
    mapdiff_release(&d);
}

/* Mappings as OpenSearch 2.19.4 and Elasticsearch 8.19.21 return them after they were set. */
START_TEST(what_services_make_of_a_mapping_is_no_difference)
{
    static const char *const pairs[][2] = {
        {"\"t\":{\"type\":\"text\",\"index\":true,\"norms\":true,\"store\":false,\"analyzer\":"
         "\"standard\",\"search_analyzer\":\"standard\",\"index_options\":\"positions\","
         "\"position_increment_gap\":100,\"similarity\":\"BM25\",\"term_vector\":\"no\"}",
         "\"t\":{\"type\":\"text\",\"analyzer\":\"standard\",\"similarity\":\"BM25\","
         "\"position_increment_gap\":100}"},
        {"\"k\":{\"type\":\"keyword\",\"doc_values\":true,\"ignore_above\":2147483647,\"norms\":"
         "false,\"null_value\":null,\"copy_to\":\"t\"}",
         "\"k\":{\"type\":\"keyword\",\"copy_to\":[\"t\"]}"},
        {"\"l\":{\"type\":\"long\",\"coerce\":true,\"ignore_malformed\":false,\"index\":\"true\"}",
         "\"l\":{\"type\":\"long\",\"ignore_malformed\":false,\"coerce\":true}"},
        {"\"l\":{\"type\":\"long\",\"coerce\":\"false\"}",
         "\"l\":{\"type\":\"long\",\"coerce\":false}"},
        {"\"d\":{\"type\":\"date\",\"format\":\"strict_date_optional_time||epoch_millis\"}",
         "\"d\":{\"type\":\"date\"}"},
        {"\"c\":{\"type\":\"completion\"}",
         "\"c\":{\"type\":\"completion\",\"analyzer\":\"simple\",\"preserve_separators\":true,"
         "\"preserve_position_increments\":true,\"max_input_length\":50}"},
        {"\"y\":{\"type\":\"search_as_you_type\"}",
         "\"y\":{\"type\":\"search_as_you_type\",\"doc_values\":false,\"max_shingle_size\":3}"},
        {"\"v\":{\"type\":\"dense_vector\",\"dims\":4}",
         "\"v\":{\"type\":\"dense_vector\",\"dims\":4,\"index\":true,\"similarity\":\"cosine\","
         "\"index_options\":{\"type\":\"int8_hnsw\",\"m\":16,\"ef_construction\":100}}"},
        {"\"v\":{\"type\":\"knn_vector\",\"dimension\":3,\"method\":{\"name\":\"hnsw\",\"engine\":"
         "\"lucene\",\"space_type\":\"l2\"}}",
         "\"v\":{\"type\":\"knn_vector\",\"dimension\":3,\"method\":{\"engine\":\"lucene\","
         "\"space_type\":\"l2\",\"name\":\"hnsw\",\"parameters\":{}}}"},
        {"\"s\":{\"type\":\"scaled_float\",\"scaling_factor\":\"100\"}",
         "\"s\":{\"type\":\"scaled_float\",\"scaling_factor\":100.0}"},
        {"\"w\":{\"type\":\"wildcard\"}", "\"w\":{\"type\":\"wildcard\",\"doc_values\":false}"},
        {"\"b\":{\"type\":\"binary\",\"doc_values\":false}", "\"b\":{\"type\":\"binary\"}"},
        {"\"o\":{\"type\":\"object\",\"properties\":{\"x\":{\"type\":\"ip\"}}}",
         "\"o\":{\"properties\":{\"x\":{\"type\":\"ip\"}}}"},
        {"\"o\":{\"type\":\"object\",\"dynamic\":true}",
         "\"o\":{\"type\":\"object\",\"dynamic\":\"true\"}"},
        {"\"o\":{\"type\":\"object\",\"dynamic\":\"true\"}",
         "\"o\":{\"dynamic\":\"true\",\"properties\":{\"grown\":{\"type\":\"long\"}}}"},
        {"\"a.b\":{\"type\":\"keyword\"},\"a.c.d\":{\"type\":\"long\"}",
         "\"a\":{\"properties\":{\"b\":{\"type\":\"keyword\"},\"c\":{\"properties\":{\"d\":{"
         "\"type\":\"long\"}}}}}"},
        {"\"t\":{\"type\":\"text\",\"boost\":1.0,\"analyzer\":\"simple\",\"search_analyzer\":"
         "\"simple\"}",
         "\"t\":{\"type\":\"text\",\"analyzer\":\"simple\"}"},
    };
    for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
        char configured[1024];
        char live[1024];
        snprintf(configured, sizeof(configured), WANT("%s"), pairs[i][0]);
        snprintf(live, sizeof(live), LIVE("%s"), pairs[i][1]);
        check(configured, live, "", false);
        check(live, live, "", false);
    }
}
END_TEST

#define K "\"k\":{\"type\":\"keyword\"}"

START_TEST(new_properties_and_new_multi_fields_are_additive)
{
    check(WANT(K ",\"n\":{\"type\":\"long\"}"), LIVE(K), "n: added {\"type\":\"long\"}", true);
    check(WANT("\"t\":{\"type\":\"text\",\"fields\":{\"raw\":{\"type\":\"keyword\"}}}"),
          LIVE("\"t\":{\"type\":\"text\"}"), "t.raw: added {\"type\":\"keyword\"}", true);
    check(WANT("\"o\":{\"properties\":{" K ",\"n\":{\"type\":\"long\"}}}"),
          LIVE("\"o\":{\"properties\":{" K "}}"), "o.n: added {\"type\":\"long\"}", true);
    check(WANT("\"a.k\":{\"type\":\"keyword\"},\"a.n\":{\"type\":\"long\"}"),
          LIVE("\"a\":{\"properties\":{" K "}}"), "a.n: added {\"type\":\"long\"}", true);
}
END_TEST

START_TEST(all_else_is_not)
{
    check(WANT("\"k\":{\"type\":\"long\"}"), LIVE(K),
          "k: changed type from \"keyword\" to \"long\"", false);
    check(WANT("\"k\":{\"type\":\"keyword\",\"doc_values\":false}"), LIVE(K),
          "k: changed doc_values from its default to false", false);
    check(WANT(K), LIVE("\"k\":{\"type\":\"keyword\",\"index\":false}"),
          "k: changed index from false to its default", false);
    check(WANT("\"k\":{\"type\":\"keyword\",\"ignore_above\":5}"),
          LIVE("\"k\":{\"type\":\"keyword\",\"ignore_above\":6}"),
          "k: changed ignore_above from 6 to 5", false);
    check(WANT(K), LIVE(K ",\"n\":{\"type\":\"long\"}"), "n: removed {\"type\":\"long\"}", false);
    check(WANT("\"t\":{\"type\":\"text\"}"),
          LIVE("\"t\":{\"type\":\"text\",\"fields\":{\"raw\":{\"type\":\"keyword\"}}}"),
          "t.raw: removed {\"type\":\"keyword\"}", false);
    check(WANT("\"o\":{\"type\":\"nested\",\"properties\":{" K "}}"),
          LIVE("\"o\":{\"properties\":{" K "}}"), "o: changed type from \"object\" to \"nested\"",
          false);
    check(WANT("\"o\":{\"type\":\"object\",\"enabled\":false}"),
          LIVE("\"o\":{\"type\":\"object\"}"), "o: changed enabled from its default to false",
          false);
    check(WANT("\"t\":{\"type\":\"text\",\"analyzer\":\"simple\",\"search_analyzer\":\"stop\"}"),
          LIVE("\"t\":{\"type\":\"text\",\"analyzer\":\"simple\"}"),
          "t: changed search_analyzer from its default to \"stop\"", false);
    check(WANT("\"k\":{\"type\":\"keyword\",\"copy_to\":[\"a\",\"b\"]}"),
          LIVE("\"k\":{\"type\":\"keyword\",\"copy_to\":[\"a\"]}"),
          "k: changed copy_to from [\"a\"] to [\"a\",\"b\"]", false);
    check(WANT("\"s\":{\"type\":\"scaled_float\",\"scaling_factor\":10}"),
          LIVE("\"s\":{\"type\":\"scaled_float\",\"scaling_factor\":100.0}"),
          "s: changed scaling_factor from 100.0 to 10", false);
    check(WANT("\"v\":{\"type\":\"dense_vector\",\"dims\":4}"),
          LIVE("\"v\":{\"type\":\"dense_vector\",\"dims\":4,\"similarity\":\"dot_product\"}"),
          "v: changed similarity from \"dot_product\" to its default", false);
}
END_TEST

START_TEST(one_that_is_not_additive_makes_the_whole_so)
{
    check(WANT("\"k\":{\"type\":\"long\"},\"n\":{\"type\":\"long\"}"), LIVE(K),
          "k: changed type from \"keyword\" to \"long\"\nn: added {\"type\":\"long\"}", false);
}
END_TEST

START_TEST(the_whole_mapping_has_parameters_too)
{
    check("{\"dynamic\":\"false\",\"properties\":{" K "}}", LIVE(K),
          "the mapping: changed dynamic from \"strict\" to \"false\"", false);
    check(WANT(K), "{\"properties\":{" K "}}",
          "the mapping: changed dynamic from \"true\" to \"strict\"", false);
    check("{\"dynamic\":false,\"date_detection\":true,\"properties\":{" K "}}",
          "{\"dynamic\":\"false\",\"properties\":{" K "}}", "", false);
    check("{\"dynamic\":true,\"properties\":{" K "}}",
          "{\"dynamic\":\"true\",\"properties\":{" K ",\"grown\":{\"type\":\"long\"}}}", "", false);
    check("{\"_source\":{\"excludes\":[\"a\"]},\"properties\":{" K "}}", LIVE(K),
          "the mapping: changed _source from its default to {\"excludes\":[\"a\"]}", false);
}
END_TEST

START_TEST(the_identity_is_no_difference_but_where_the_index_lacks_it)
{
    check(WANT("\"source_id\":{\"type\":\"keyword\"}," K), LIVE(K), "", false);
    check(WANT("\"source_id\":{\"type\":\"keyword\"}," K),
          "{\"dynamic\":\"strict\",\"properties\":{" K "}}",
          "source_id: added {\"type\":\"keyword\"}", true);
    check(WANT("\"o\":{\"properties\":{" K "}}"),
          LIVE("\"o\":{\"properties\":{" K ",\"source_id\":{\"type\":\"keyword\"}}}"),
          "o.source_id: removed {\"type\":\"keyword\"}", false);
}
END_TEST

static void check_additions(const char *configured, const char *live, const char *wanted)
{
    struct mapdiff d;
    struct err err;
    struct buf out;
    buf_init(&out, 4096);
    ck_assert_int_eq(mapdiff_make(&d, configured, live, &err), 0);
    mapdiff_additions(&out, &d, configured);
    ck_assert_str_eq(buf_text(&out), wanted);
    buf_release(&out);
    mapdiff_release(&d);
}

START_TEST(what_is_added_is_sent_with_the_property_that_it_belongs_to)
{
    check_additions(WANT(K ",\"n\":{\"type\":\"long\"},\"t\":{\"type\":\"text\",\"norms\":false,"
                           "\"fields\":{\"raw\":{\"type\":\"keyword\"}}}"),
                    LIVE(K ",\"t\":{\"type\":\"text\",\"norms\":false}"),
                    "{\"n\":{\"type\":\"long\"},\"t\":{\"type\":\"text\",\"norms\":false,"
                    "\"fields\":{\"raw\":{\"type\":\"keyword\"}}}}");
    check_additions(WANT(K), LIVE(K), "{}");
    check_additions(WANT("\"a.n\":{\"type\":\"long\"},\"ab\":{\"type\":\"ip\"}"),
                    LIVE("\"ab\":{\"type\":\"ip\"}"),
                    "{\"a\":{\"properties\":{\"n\":{\"type\":\"long\"}}}}");
}
END_TEST

START_TEST(what_is_no_object_is_refused)
{
    struct mapdiff d;
    struct err err;
    ck_assert_int_eq(mapdiff_make(&d, "[]", "{}", &err), ERR_CONFIG);
    ck_assert_int_eq(mapdiff_make(&d, "{}", "nope", &err), ERR_TRANSIENT);
    mapdiff_release(&d);
}
END_TEST

#define REPEATED 300000

/* Returns {"properties":{"<part><part>..x":{"type":"keyword"}}}; the caller frees it. */
static char *with_name_of(const char *part, size_t count)
{
    struct buf out;
    buf_init(&out, (size_t)8 << 20);
    buf_push_literal(&out, "{\"dynamic\":\"strict\",\"properties\":{\"");
    for (size_t i = 0; i < count; i++) {
        buf_push_text(&out, part);
    }
    buf_push_literal(&out, "x\":{\"type\":\"keyword\"}}}");
    return buf_detach(&out);
}

static void check_refused(const char *configured, const char *live)
{
    struct mapdiff d;
    struct err err;
    ck_assert_int_eq(mapdiff_make(&d, configured, live, &err), ERR_REJECTED);
    ck_assert_ptr_nonnull(strstr(err.message, "cannot compare the index's mapping"));
    ck_assert_uint_eq(d.count, 0);
    mapdiff_release(&d);
}

START_TEST(a_name_of_300_000_dots_is_refused_and_does_not_crash)
{
    static const char *const parts[] = {"a.", ".", "..a", "a"};
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
        struct mapdiff d;
        struct err err;
        char *live = with_name_of(parts[i], REPEATED);
        int rc = mapdiff_make(&d, "{\"properties\":{}}", live, &err);
        ck_assert_msg(rc == ERR_REJECTED, "%s: %d", parts[i], rc);
        mapdiff_release(&d);
        free(live);
    }
    char *deep = with_name_of("a.", REPEATED);
    check_refused(deep, "{}");
    struct mapdiff none = {0};
    struct buf out;
    buf_init(&out, 4096);
    mapdiff_additions(&out, &none, deep);
    ck_assert_str_eq(buf_text(&out), "{}");
    buf_release(&out);
    free(deep);
}
END_TEST

START_TEST(a_hundred_levels_are_compared_and_no_more)
{
    struct mapdiff d;
    struct err err;
    char *most = with_name_of("a.", 99);
    char *more = with_name_of("a.", 100);
    ck_assert_int_eq(mapdiff_make(&d, most, most, &err), 0);
    ck_assert_uint_eq(d.count, 0);
    mapdiff_release(&d);
    check_refused("{}", more);
    free(most);
    free(more);
}
END_TEST

/* Each of these aborted, or dereferenced a null pointer. */
START_TEST(a_text_in_place_of_an_object_is_a_difference_and_does_not_crash)
{
    static const char *const lives[] = {
        "{\"properties\":\"text\"}",
        "{\"properties\":[1,2]}",
        "{\"properties\":{\"o\":\"text\"}}",
        "{\"properties\":{\"o\":null}}",
        "{\"properties\":{\"o\":[{}]}}",
        "{\"properties\":{\"o\":{\"properties\":\"text\"}}}",
        "{\"properties\":{\"o\":7,\"o.p\":{\"type\":\"keyword\"}}}",
        "{\"properties\":{\"o\":{\"properties\":7},\"o.p\":{\"type\":\"long\"}}}",
        "{\"properties\":{\"o\":{\"properties\":{\"p\":{\"fields\":\"text\",\"type\":1}}}}}",
    };
    for (size_t i = 0; i < sizeof(lives) / sizeof(lives[0]); i++) {
        struct mapdiff d;
        struct err err;
        int rc = mapdiff_make(&d,
                              WANT("\"o\":{\"properties\":{\"p\":{\"type\":\"keyword\","
                                   "\"fields\":{\"raw\":{\"type\":\"keyword\"}}}}}"),
                              lives[i], &err);
        ck_assert_msg(rc == 0 && d.count > 0, "%s: %d, %zu", lives[i], rc, d.count);
        mapdiff_release(&d);
    }
}
END_TEST

/* Each level doubled the time. */
START_TEST(parameters_nested_90_deep_are_compared_at_once)
{
    struct mapdiff d;
    struct err err;
    struct buf nested;
    struct buf live;
    buf_init(&nested, 65536);
    buf_init(&live, 65536);
    for (int i = 0; i < 90; i++) {
        buf_push_literal(&nested, "{\"a\":");
    }
    buf_push_literal(&nested, "1");
    for (int i = 0; i < 90; i++) {
        buf_push_literal(&nested, "}");
    }
    buf_printf(&live, LIVE("\"t\":{\"type\":\"text\",\"analyzer\":%s,\"search_analyzer\":%s}"),
               buf_text(&nested), buf_text(&nested));
    ck_assert_int_eq(mapdiff_make(&d, WANT("\"t\":{\"type\":\"text\"}"), buf_text(&live), &err), 0);
    ck_assert_uint_eq(d.count, 1);
    mapdiff_release(&d);
    buf_release(&nested);
    buf_release(&live);
}
END_TEST

START_TEST(differences_without_number_are_refused)
{
    struct buf live;
    buf_init(&live, (size_t)8 << 20);
    buf_push_literal(&live, "{\"properties\":{\"");
    for (size_t i = 0; i < 8000; i++) {
        buf_push_char(&live, 'n');
    }
    buf_push_literal(&live, "\":{\"type\":\"keyword\"");
    for (size_t i = 0; i < 5000; i++) { /* each line contains the path */
        buf_printf(&live, ",\"p%zu\":1", i);
    }
    buf_push_literal(&live, "}}}");
    char *want = with_name_of("n", 7999);
    want[strlen("{\"dynamic\":\"strict\",\"properties\":{\"") + 7999] = 'n';
    check_refused(want, buf_text(&live));
    free(want);
    buf_release(&live);
}
END_TEST

SUITE_MAIN("document/mapdiff", what_services_make_of_a_mapping_is_no_difference,
           new_properties_and_new_multi_fields_are_additive, all_else_is_not,
           one_that_is_not_additive_makes_the_whole_so, the_whole_mapping_has_parameters_too,
           the_identity_is_no_difference_but_where_the_index_lacks_it,
           what_is_added_is_sent_with_the_property_that_it_belongs_to, what_is_no_object_is_refused,
           a_name_of_300_000_dots_is_refused_and_does_not_crash,
           a_hundred_levels_are_compared_and_no_more,
           a_text_in_place_of_an_object_is_a_difference_and_does_not_crash,
           parameters_nested_90_deep_are_compared_at_once, differences_without_number_are_refused)
