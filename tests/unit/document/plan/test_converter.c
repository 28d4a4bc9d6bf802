/* SPDX-License-Identifier: Apache-2.0 */
/* Messages of check about columns and properties with parts. */
#include "rows.h"
#include "suite.h"

#define STRICT(children) "{\"properties\":{\"p\":{\"properties\":{" children "}}}}"

struct outcome {
    int result;
    struct plan_notes notes;
};

static struct outcome compile(const char *type, const char *mapping_json)
{
    struct err err = {0};
    struct mapping mapping;
    struct plan plan = {0};
    struct outcome o = {0};
    struct columns columns = rows_columns((const char *[]){"p", type, NULL});
    ck_assert_msg(mapping_parse(&mapping, mapping_json, &err) == 0, "%s", err.message);
    struct plan_input in = {
        .mapping = &mapping, .columns = &columns, .document_bytes = (size_t)1 << 20};
    o.result = plan_compile(&plan, &in, &o.notes, &err);
    if (o.result == 0) {
        plan_release(&plan);
    }
    mapping_release(&mapping);
    row_columns_release(&columns);
    return o;
}

static void expect_error(const char *type, const char *mapping, const char *path, const char *text)
{
    struct outcome o = compile(type, mapping);
    ck_assert_int_eq(o.result, ERR_REJECTED);
    ck_assert_uint_eq(o.notes.count, 1);
    ck_assert(o.notes.items[0].error);
    ck_assert_str_eq(o.notes.items[0].property, path);
    ck_assert_str_eq(o.notes.items[0].text, text);
    plan_notes_release(&o.notes);
}

static void expect_note(const char *type, const char *mapping, const char *path, const char *text)
{
    struct outcome o = compile(type, mapping);
    ck_assert_int_eq(o.result, 0);
    ck_assert_uint_eq(o.notes.count, 1);
    ck_assert(!o.notes.items[0].error);
    ck_assert_str_eq(o.notes.items[0].property, path);
    ck_assert_str_eq(o.notes.items[0].text, text);
    plan_notes_release(&o.notes);
}

static void expect_quiet(const char *type, const char *mapping)
{
    struct outcome o = compile(type, mapping);
    ck_assert_msg(o.result == 0 && o.notes.count == 0, "%s: %s", mapping,
                  o.notes.count > 0 ? o.notes.items[0].text : "");
    plan_notes_release(&o.notes);
}

START_TEST(a_child_that_cannot_hold_its_field_is_named_by_its_path)
{
    expect_error("(city bytea)", STRICT("\"city\":{\"type\":\"long\"}"), "p.city",
                 "property \"p.city\" (long) cannot be filled from column \"p.city\": a column of "
                 "type bytea can fill binary");
    expect_error("(a (b bool)[])[]",
                 STRICT("\"a\":{\"type\":\"nested\",\"properties\":{\"b\":{\"type\":\"ip\"}}}"),
                 "p.a.b",
                 "property \"p.a.b\" (ip) cannot be filled from column \"p.a.b\": a column of type "
                 "bool can fill boolean, keyword, text, match_only_text, search_as_you_type, "
                 "wildcard, semantic_text, semantic, version, completion");
}
END_TEST

#define VECTOR(more) "{\"properties\":{\"p\":{\"type\":\"knn_vector\"" more "}}}"

START_TEST(a_vector_column_has_the_dimension_of_the_mapping)
{
    expect_error("vector(3)", VECTOR(",\"dimension\":4"), "p",
                 "property \"p\" (knn_vector) cannot be filled from column \"p\": a column of type "
                 "vector(3) cannot fill a vector of 4 dimensions");
    expect_error("sparsevec(9)", VECTOR(",\"dimension\":4"), "p",
                 "property \"p\" (knn_vector) cannot be filled from column \"p\": a column of type "
                 "sparsevec(9) cannot fill a vector of 4 dimensions");
    expect_note(
        "halfvec(4)", VECTOR(",\"dimension\":4"), "p",
        "property \"p\" (knn_vector) from column \"p\" of type halfvec(4): search rounds to "
        "the vector's element type");
    expect_note("vector(1)", VECTOR(",\"data_type\":\"binary\",\"dimension\":8"), "p",
                "property \"p\" (knn_vector) from column \"p\" of type vector(1): search rounds to "
                "the vector's element type");
}
END_TEST

START_TEST(a_field_without_a_child_is_an_error_in_a_strict_object)
{
    expect_error("(a int4, b int4)", STRICT("\"a\":{\"type\":\"long\"}"), "p",
                 "property \"p\" (object) refuses the field \"b\" of column \"p\" of type (a int4, "
                 "b int4): name it in \"properties\", or give it \"dynamic\": true, \"enabled\": "
                 "false or the type flattened");
    static const char *const open[] = {
        "{\"dynamic\":true,\"properties\":{\"p\":{\"properties\":{\"a\":{\"type\":\"long\"}}}}}",
        "{\"properties\":{\"p\":{\"dynamic\":false,\"properties\":{\"a\":{\"type\":\"long\"}}}}}",
        "{\"properties\":{\"p\":{\"enabled\":false}}}",
        "{\"properties\":{\"p\":{\"type\":\"flattened\"}}}"};
    for (size_t i = 0; i < sizeof(open) / sizeof(open[0]); i++) {
        expect_quiet("(a int4, b int4)", open[i]);
    }
    expect_error("(a int4)", "{\"properties\":{\"p\":{\"type\":\"nested\"}}}", "p",
                 "property \"p\" (nested) refuses all that column \"p\" of type (a int4) holds: "
                 "give it \"properties\", \"dynamic\": true, \"enabled\": false or the type "
                 "flattened");
    expect_error("(a (b int4))",
                 "{\"dynamic\":true,\"properties\":{\"p\":{\"dynamic\":\"strict\",\"properties\":{"
                 "\"a\":{\"type\":\"object\"}}}}}",
                 "p.a",
                 "property \"p.a\" (object) refuses all that column \"p.a\" of type (b int4) "
                 "holds: give it \"properties\", \"dynamic\": true, \"enabled\": false or the type "
                 "flattened");
}
END_TEST

START_TEST(a_child_without_a_field_is_an_error_but_an_alias_is_not)
{
    expect_error("(a int4)", STRICT("\"a\":{\"type\":\"long\"},\"b\":{\"type\":\"long\"}"), "p.b",
                 "property \"p.b\" (long) cannot be filled: column \"p\" of type (a int4) has no "
                 "field \"b\"");
    expect_quiet("(a int4)",
                 STRICT("\"a\":{\"type\":\"long\"},\"b\":{\"type\":\"alias\",\"path\":\"p.a\"}"));
}
END_TEST

START_TEST(losses_of_parts_are_noted_where_they_happen)
{
    expect_note("(t timestamptz)", STRICT("\"t\":{\"type\":\"date\"}"), "p.t",
                "property \"p.t\" (date) from column \"p.t\" of type timestamptz: search sees "
                "milliseconds");
    expect_note("multirange:timestamptz[]", "{\"properties\":{\"p\":{\"type\":\"date_range\"}}}",
                "p",
                "property \"p\" (date_range) from column \"p\" of type multirange:timestamptz[]: "
                "search sees milliseconds");
    expect_quiet("range:int4", "{\"properties\":{\"p\":{\"type\":\"integer_range\"}}}");
}
END_TEST

START_TEST(children_of_an_hstore_take_texts)
{
    expect_error("hstore", STRICT("\"a\":{\"type\":\"binary\"}"), "p.a",
                 "property \"p.a\" (binary) cannot be filled from column \"p.a\": a column of type "
                 "text can fill keyword, text, match_only_text, search_as_you_type, wildcard, "
                 "semantic_text, semantic, version, completion, byte, short, integer, long, "
                 "unsigned_long, half_float, float, double, scaled_float, boolean, ip, date, "
                 "date_nanos, geo_point, geo_shape, integer_range, long_range, float_range, "
                 "double_range, date_range, ip_range");
    expect_quiet("hstore", STRICT("\"a\":{\"type\":\"keyword\"}"));
}
END_TEST

START_TEST(a_range_fills_what_its_bounds_fill)
{
    static const char *const misfits[][2] = {{"range:date", "integer_range"},
                                             {"range:int4", "ip_range"},
                                             {"range:int4[]", "ip_range"},
                                             {"multirange:inet", "long_range"},
                                             {"int4", "integer_range"}};
    for (size_t i = 0; i < sizeof(misfits) / sizeof(misfits[0]); i++) {
        struct buf mapping;
        buf_init(&mapping, 1000);
        buf_printf(&mapping, "{\"properties\":{\"p\":{\"type\":\"%s\"}}}", misfits[i][1]);
        struct outcome o = compile(misfits[i][0], buf_text(&mapping));
        ck_assert_msg(o.result == ERR_REJECTED, "%s", misfits[i][0]);
        plan_notes_release(&o.notes);
        buf_release(&mapping);
    }
}
END_TEST

SUITE_MAIN("document/converter", a_child_that_cannot_hold_its_field_is_named_by_its_path,
           a_vector_column_has_the_dimension_of_the_mapping,
           a_field_without_a_child_is_an_error_in_a_strict_object,
           a_child_without_a_field_is_an_error_but_an_alias_is_not,
           losses_of_parts_are_noted_where_they_happen, children_of_an_hstore_take_texts,
           a_range_fills_what_its_bounds_fill)
