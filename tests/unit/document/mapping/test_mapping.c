/* SPDX-License-Identifier: Apache-2.0 */
/* The mapping: parsing, additions, errors. */
#include "rowferry/document/mapping/mapping.h"

#include <string.h>

#include "rowferry/base/buf.h"
#include "suite.h"

static void expect_error(const char *json, const char *message)
{
    struct mapping m;
    struct err err;
    ck_assert_int_eq(mapping_parse(&m, json, &err), ERR_CONFIG);
    ck_assert_str_eq(err.message, message);
}

static void expect_written(const char *json, const char *meta, const char *expected)
{
    struct mapping m;
    struct err err;
    struct buf out;
    buf_init(&out, 65536);
    ck_assert_int_eq(mapping_parse(&m, json, &err), 0);
    mapping_write(&out, &m, meta);
    ck_assert_str_eq(buf_text(&out), expected);
    buf_release(&out);
    mapping_release(&m);
}

START_TEST(properties_carry_what_the_converters_ask_for)
{
    struct mapping m;
    struct err err;
    const char *json =
        "{\"dynamic\": false, \"properties\": {\"t\": {\"type\": \"keyword\", \"ignore_above\": "
        "100}, \"v\": {\"type\": \"dense_vector\", \"dims\": 3}, \"k\": {\"type\": "
        "\"knn_vector\", \"dimension\": 4}, \"s\": {\"type\": \"scaled_float\", "
        "\"scaling_factor\": 100}, \"d\": {\"type\": \"date\", \"format\": \"epoch_second\"}, "
        "\"o\": {\"dynamic\": true, \"properties\": {\"x\": {\"type\": \"long\"}}}, \"e\": "
        "{\"type\": \"object\", \"enabled\": false}}}";
    ck_assert_int_eq(mapping_parse(&m, json, &err), 0);
    ck_assert_uint_eq(m.count, 7);
    ck_assert_str_eq(m.dynamic, "false");
    ck_assert_int_eq(mapping_find(&m, "t")->ignore_above, 100);
    ck_assert_int_eq(mapping_find(&m, "v")->dimension, 3);
    ck_assert_int_eq(mapping_find(&m, "k")->dimension, 4);
    ck_assert_double_eq(mapping_find(&m, "s")->scaling_factor, 100);
    ck_assert_str_eq(mapping_find(&m, "d")->format, "epoch_second");
    const struct property *o = mapping_find(&m, "o");
    ck_assert_str_eq(o->type, "object");
    ck_assert_str_eq(o->dynamic, "true");
    ck_assert_uint_eq(o->child_count, 1);
    ck_assert_str_eq(o->children[0].name, "x");
    ck_assert(o->enabled);
    ck_assert(!mapping_find(&m, "e")->enabled);
    ck_assert_ptr_null(mapping_find(&m, "x"));
    mapping_release(&m);
}
END_TEST

START_TEST(a_vector_carries_what_decides_its_values_in_either_products_words)
{
    struct mapping m;
    struct err err;
    const char *json =
        "{\"properties\": {\"e\": {\"type\": \"dense_vector\", \"element_type\": \"byte\", "
        "\"similarity\": \"l2_norm\", \"index\": false}, \"o\": {\"type\": \"knn_vector\", "
        "\"data_type\": \"binary\", \"space_type\": \"hamming\"}, \"m\": {\"type\": "
        "\"knn_vector\", \"method\": {\"space_type\": \"cosinesimil\"}}}}";
    ck_assert_int_eq(mapping_parse(&m, json, &err), 0);
    ck_assert_str_eq(mapping_find(&m, "e")->element_type, "byte");
    ck_assert_str_eq(mapping_find(&m, "e")->similarity, "l2_norm");
    ck_assert(!mapping_find(&m, "e")->indexed);
    ck_assert_str_eq(mapping_find(&m, "o")->element_type, "binary");
    ck_assert_str_eq(mapping_find(&m, "o")->similarity, "hamming");
    ck_assert_str_eq(mapping_find(&m, "m")->similarity, "cosinesimil");
    ck_assert_ptr_null(mapping_find(&m, "m")->element_type);
    ck_assert(mapping_find(&m, "m")->indexed);
    mapping_release(&m);
}
END_TEST

START_TEST(what_is_missing_is_added)
{
    expect_written("{\"properties\":{\"a\":{\"type\":\"text\"}}}", "{\"pipeline\":\"p\"}",
                   "{\"properties\":{\"a\":{\"type\":\"text\"},\"source_id\":{\"type\":\"keyword\"}"
                   "},\"dynamic\":\"strict\",\"_meta\":{\"rowferry\":{\"pipeline\":\"p\"}}}");
}
END_TEST

START_TEST(what_is_said_stays_digit_for_digit)
{
    expect_written(
        "{ \"dynamic\" : true,\n \"_meta\": {\"team\": \"a/b\"}, \"properties\": "
        "{\"source_id\": {\"type\": \"keyword\"}, \"a\": {\"type\": \"text\", \"boost\":"
        " 1.10}, \"b\": {\"type\": \"long\", \"null_value\": 9223372036854775807}}}",
        "{\"v\":1}",
        "{\"dynamic\":true,\"_meta\":{\"team\":\"a/b\",\"rowferry\":{\"v\":1}},"
        "\"properties\":{\"source_id\":{\"type\":\"keyword\"},\"a\":{\"type\":\"text\","
        "\"boost\":1.10},\"b\":{\"type\":\"long\",\"null_value\":9223372036854775807}}}");
}
END_TEST

START_TEST(errors_name_the_property)
{
    expect_error("[]", "\"mappings\" is not a JSON object");
    expect_error("{\"properties\":{}} x", "\"mappings\" is not a JSON object");
    expect_error("{", "\"mappings\" is not a JSON object");
    expect_error("{}", "\"mappings\" has no \"properties\"");
    expect_error("{\"properties\":[]}", "\"properties\" of the mapping is not an object");
    expect_error("{\"properties\":{\"a\":1}}", "property \"a\" of the mapping is not an object");
    expect_error("{\"properties\":{\"a\":{}}}", "property \"a\" of the mapping has no \"type\"");
    expect_error("{\"properties\":{\"a\":{\"properties\":{\"b\":{\"type\":4}}}}}",
                 "property \"a.b\" of the mapping has no \"type\"");
    expect_error("{\"properties\":{\"\":{\"type\":\"text\"}}}",
                 "the mapping has a property with an empty name");
    expect_error("{\"_meta\":1,\"properties\":{}}", "\"_meta\" of \"mappings\" is not an object");
    expect_error("{\"properties\":{\"source_id\":{\"type\":\"text\"}}}",
                 "property \"source_id\" must be a keyword without \"ignore_above\"");
    expect_error("{\"properties\":{\"source_id\":{\"type\":\"keyword\",\"ignore_above\":9}}}",
                 "property \"source_id\" must be a keyword without \"ignore_above\"");
    expect_error(
        "{\"properties\":{\"source_id\":{\"type\":\"keyword\",\"normalizer\":\"lowercase\"}}}",
        "property \"source_id\" must be a keyword without \"normalizer\"");
    expect_error("{\"properties\":{\"source_id\":{\"type\":\"keyword\",\"doc_values\":false}}}",
                 "property \"source_id\" must be a keyword without \"doc_values\": false");
    expect_error("{\"properties\":{\"source_id\":{\"type\":\"keyword\",\"script\":\"emit('x')\"}}}",
                 "property \"source_id\" must be a keyword without \"script\"");
}
END_TEST

START_TEST(parameters_that_change_no_key_of_source_id_are_taken)
{
    struct mapping m;
    struct err err;
    ck_assert_int_eq(
        mapping_parse(&m,
                      "{\"properties\":{\"source_id\":{\"type\":\"keyword\",\"index\":"
                      "false,\"doc_values\":true,\"null_value\":\"x\",\"normalizer\":null,"
                      "\"split_queries_on_whitespace\":true}}}",
                      &err),
        0);
    mapping_release(&m);
}
END_TEST

START_TEST(the_fingerprint_sees_meaning_and_not_blanks)
{
    static const char *const json[] = {"{\"properties\":{\"a\":{\"type\":\"text\"}}}",
                                       "{ \"properties\" : {\"a\":\n{\"type\": \"text\"}}}",
                                       "{\"properties\":{\"a\":{\"type\":\"long\"}}}"};
    char prints[3][17];
    for (size_t i = 0; i < 3; i++) {
        struct mapping m;
        struct err err;
        ck_assert_int_eq(mapping_parse(&m, json[i], &err), 0);
        mapping_fingerprint(prints[i], &m);
        mapping_release(&m);
    }
    ck_assert_uint_eq(strlen(prints[0]), 16);
    ck_assert_str_eq(prints[0], prints[1]);
    ck_assert_str_ne(prints[0], prints[2]);
}
END_TEST

SUITE_MAIN("document/mapping", properties_carry_what_the_converters_ask_for,
           a_vector_carries_what_decides_its_values_in_either_products_words,
           what_is_missing_is_added, what_is_said_stays_digit_for_digit, errors_name_the_property,
           parameters_that_change_no_key_of_source_id_are_taken,
           the_fingerprint_sees_meaning_and_not_blanks)
