/* SPDX-License-Identifier: Apache-2.0 */
/* The plan: which column fills which property, and the errors for people. */
#include "rowferry/document/plan/plan.h"

#include "convert/converters.h"
#include "rows.h"
#include "suite.h"

struct compiled {
    struct mapping mapping;
    struct columns columns;
    struct plan plan;
    struct plan_notes notes;
    struct err err;
    int result;
};

static const char *const articles[] = {
    "id",     "int8", "headline", "text", "body",  "text",  "made",      "timestamptz", "tags",
    "text[]", "open", "bool",     "more", "jsonb", "local", "timestamp", NULL};

static void compile(struct compiled *c, const char *json, const struct field *fields,
                    size_t field_count)
{
    *c = (struct compiled){0};
    c->columns = rows_columns(articles);
    ck_assert_int_eq(mapping_parse(&c->mapping, json, &c->err), 0);
    struct plan_input in = {&c->mapping, &c->columns, fields, field_count, 1000};
    c->result = plan_compile(&c->plan, &in, &c->notes, &c->err);
}

static void release(struct compiled *c)
{
    plan_release(&c->plan);
    plan_notes_release(&c->notes);
    mapping_release(&c->mapping);
    row_columns_release(&c->columns);
}

static struct field field(const char *property, const char *column)
{
    return (struct field){.property = text_copy(property),
                          .column = column != NULL ? text_copy(column) : NULL};
}

static void field_release(struct field *f)
{
    free(f->property);
    free(f->column);
}

START_TEST(each_property_has_its_column_and_each_column_is_selected_once)
{
    struct field title = field("title", "headline");
    struct compiled c;
    compile(&c,
            "{\"properties\":{\"source_id\":{\"type\":\"keyword\"},\"body\":{\"type\":\"text\"},"
            "\"title\":{\"type\":\"text\"},\"headline\":{\"type\":\"keyword\"},\"tags\":{\"type\":"
            "\"keyword\"}}}",
            &title, 1);
    ck_assert_int_eq(c.result, 0);
    ck_assert_uint_eq(c.plan.count, 4);
    ck_assert_uint_eq(c.plan.column_count, 3);
    ck_assert_str_eq(c.plan.columns[0], "body");
    ck_assert_str_eq(c.plan.columns[1], "headline");
    ck_assert_str_eq(c.plan.columns[2], "tags");
    ck_assert_uint_eq(c.plan.steps[1].value, 2);
    ck_assert_uint_eq(c.plan.steps[2].value, 2);
    ck_assert_str_eq(c.plan.steps[1].prefix, ",\"title\":");
    ck_assert_uint_eq(c.plan.steps[1].prefix_len, 9);
    ck_assert_ptr_eq(c.plan.steps[3].pair.convert, convert_array);
    ck_assert_uint_eq(c.notes.count, 0);
    release(&c);
    field_release(&title);
}
END_TEST

START_TEST(what_the_service_fills_needs_no_column)
{
    struct field vector = field("body_vector", NULL);
    struct compiled c;
    compile(&c,
            "{\"properties\":{\"body\":{\"type\":\"text\"},\"body_vector\":{\"type\":"
            "\"dense_vector\"},\"text\":{\"type\":\"alias\",\"path\":\"body\"}}}",
            &vector, 1);
    ck_assert_int_eq(c.result, 0);
    ck_assert_uint_eq(c.plan.count, 1);
    release(&c);
    field_release(&vector);
}
END_TEST

static void expect_rejected(const char *json, const char *message, const char *hint)
{
    struct compiled c;
    compile(&c, json, NULL, 0);
    ck_assert_int_eq(c.result, ERR_REJECTED);
    ck_assert_str_eq(c.err.message, message);
    ck_assert_str_eq(c.err.hint, hint);
    ck_assert_uint_ge(c.notes.count, 1);
    ck_assert(c.notes.items[0].error);
    ck_assert_uint_eq(c.plan.count, 0);
    release(&c);
}

START_TEST(a_property_without_a_column_is_an_error_that_helps)
{
    expect_rejected("{\"properties\":{\"headlines\":{\"type\":\"text\"}}}",
                    "property \"headlines\" has no column: there is no column \"headlines\"",
                    "did you mean the column \"headline\"? name it in \"fields\"");
    expect_rejected("{\"properties\":{\"price\":{\"type\":\"long\"}}}",
                    "property \"price\" has no column: there is no column \"price\"",
                    "name its column in \"fields\", or null if the service fills it");
}
END_TEST

START_TEST(a_type_that_cannot_hold_its_column_is_an_error)
{
    expect_rejected("{\"properties\":{\"open\":{\"type\":\"date\"}}}",
                    "property \"open\" (date) cannot be filled from column \"open\": a column of "
                    "type bool can fill boolean, keyword, text, match_only_text, "
                    "search_as_you_type, wildcard, semantic_text, semantic, version, completion",
                    "");
}
END_TEST

START_TEST(a_bare_strict_object_is_an_error_and_one_with_room_is_not)
{
    expect_rejected("{\"properties\":{\"more\":{\"type\":\"object\"}}}",
                    "property \"more\" (object) refuses all that column \"more\" of type jsonb "
                    "holds: give it \"properties\", \"dynamic\": true, \"enabled\": false or the "
                    "type flattened",
                    "");
    static const char *const good[] = {
        "{\"properties\":{\"more\":{\"type\":\"object\",\"dynamic\":true}}}",
        "{\"properties\":{\"more\":{\"type\":\"object\",\"enabled\":false}}}",
        "{\"properties\":{\"more\":{\"properties\":{\"a\":{\"type\":\"long\"}}}}}",
        "{\"dynamic\":\"true\",\"properties\":{\"more\":{\"type\":\"nested\"}}}",
        "{\"properties\":{\"more\":{\"type\":\"flattened\"}}}"};
    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
        struct compiled c;
        compile(&c, good[i], NULL, 0);
        ck_assert_msg(c.result == 0, "%s", good[i]);
        release(&c);
    }
}
END_TEST

START_TEST(losses_and_errors_are_all_noted)
{
    struct compiled c;
    compile(&c,
            "{\"properties\":{\"made\":{\"type\":\"date\"},\"nope\":{\"type\":\"long\"},\"id\":"
            "{\"type\":\"ip\"}}}",
            NULL, 0);
    ck_assert_int_eq(c.result, ERR_REJECTED);
    ck_assert_uint_eq(c.notes.count, 3);
    ck_assert(!c.notes.items[0].error);
    ck_assert_str_eq(c.notes.items[0].property, "made");
    ck_assert_str_eq(c.notes.items[0].text, "property \"made\" (date) from column \"made\" of type "
                                            "timestamptz: search sees milliseconds");
    ck_assert(c.notes.items[1].error);
    ck_assert(c.notes.items[2].error);
    ck_assert_str_eq(c.notes.items[2].property, "id");
    release(&c);
}
END_TEST

START_TEST(a_format_of_the_mapping_is_noted)
{
    struct compiled c;
    compile(&c, "{\"properties\":{\"id\":{\"type\":\"date\",\"format\":\"epoch_second\"}}}", NULL,
            0);
    ck_assert_int_eq(c.result, 0);
    ck_assert_uint_eq(c.notes.count, 2);
    ck_assert_str_eq(c.notes.items[1].text,
                     "property \"id\" (date) from column \"id\" of type int8: "
                     "its \"format\" has to accept what arrives");
    release(&c);
}
END_TEST

START_TEST(fields_that_name_no_property_are_an_error_of_the_file)
{
    struct field f = field("titel", "headline");
    struct compiled c;
    compile(&c, "{\"properties\":{\"title\":{\"type\":\"text\"}}}", &f, 1);
    ck_assert_int_eq(c.result, ERR_CONFIG);
    ck_assert_str_eq(c.err.message,
                     "\"fields\" names \"titel\", which is not a property of the mapping");
    ck_assert_str_eq(c.err.hint, "did you mean \"title\"?");
    release(&c);
    field_release(&f);
    f = field("source_id", "headline");
    compile(&c, "{\"properties\":{\"body\":{\"type\":\"text\"}}}", &f, 1);
    ck_assert_int_eq(c.result, ERR_CONFIG);
    ck_assert_str_eq(c.err.message, "\"fields\" cannot name \"source_id\": it is the key's text");
    release(&c);
    field_release(&f);
}
END_TEST

START_TEST(a_zone_makes_an_instant_of_a_timestamp_and_of_nothing_else)
{
    static const char json[] = "{\"properties\":{\"local\":{\"type\":\"date\"}}}";
    struct field f = {.property = text_copy("local"), .zone = text_copy("Europe/Berlin")};
    f.column = text_copy("local");
    struct compiled c;
    compile(&c, json, &f, 1);
    ck_assert_int_eq(c.result, 0);
    ck_assert_str_eq(c.plan.columns[0], "local");
    ck_assert_str_eq(c.plan.zones[0], "Europe/Berlin");
    ck_assert_ptr_eq(c.plan.steps[0].pair.convert, convert_timestamptz);
    release(&c);
    free(f.column);
    f.column = text_copy("made");
    compile(&c, json, &f, 1);
    ck_assert_int_eq(c.result, ERR_REJECTED);
    ck_assert_str_eq(c.err.message, "property \"local\" cannot have a \"zone\": column \"made\" is "
                                    "of type timestamptz, not timestamp without time zone");
    release(&c);
    field_release(&f);
    free(f.zone);
}
END_TEST

SUITE_MAIN("document/plan", a_zone_makes_an_instant_of_a_timestamp_and_of_nothing_else,
           each_property_has_its_column_and_each_column_is_selected_once,
           what_the_service_fills_needs_no_column,
           a_property_without_a_column_is_an_error_that_helps,
           a_type_that_cannot_hold_its_column_is_an_error,
           a_bare_strict_object_is_an_error_and_one_with_room_is_not,
           losses_and_errors_are_all_noted, a_format_of_the_mapping_is_noted,
           fields_that_name_no_property_are_an_error_of_the_file)
