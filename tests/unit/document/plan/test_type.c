/* SPDX-License-Identifier: Apache-2.0 */
/* The type table: pairs that fit, reasons for those that do not, and the same table in the
 * manual. */
#include "rowferry/document/convert/type.h"

#include <json-c/json.h>
#include <stdio.h>

#include "convert/converters.h"
#include "plan/converter.h"
#include "plan/type_table.h"
#include "rowferry/base/buf.h"
#include "rows.h"
#include "suite.h"

static const struct type_rule *find(const char *type, const char *property_type, struct buf *why)
{
    struct column column = rows_column("c", type);
    const struct type_rule *rule = type_find(&column, property_type, why);
    row_column_release(&column);
    return rule;
}

static void expect_fit(const char *type, const char *property_type, type_converter *convert,
                       bool lossless)
{
    const struct type_rule *rule = find(type, property_type, NULL);
    ck_assert_msg(rule != NULL, "%s into %s", type, property_type);
    ck_assert_msg(rule->convert == convert, "%s into %s", type, property_type);
    ck_assert_int_eq(rule->loss == NULL, lossless);
}

static void expect_misfit(const char *type, const char *property_type, const char *expected)
{
    struct buf why;
    buf_init(&why, 4096);
    ck_assert_msg(find(type, property_type, &why) == NULL, "%s into %s", type, property_type);
    ck_assert_str_eq(buf_text(&why), expected);
    buf_release(&why);
}

START_TEST(common_pairs_fit)
{
    expect_fit("text", "text", convert_string, true);
    expect_fit("int8", "long", convert_long, true);
    expect_fit("numeric", "keyword", convert_keyword, true);
    expect_fit("timestamptz", "date", convert_timestamptz, false);
    expect_fit("jsonb", "nested", convert_jsonb, true);
    expect_fit("enum:mood", "keyword", convert_keyword, true);
    expect_fit("text", "long", convert_string, false);
    expect_fit("ltree", "keyword", convert_keyword, false);
    expect_fit("text[]", "keyword", convert_keyword, true);
    expect_fit("mood[]", "keyword", convert_keyword, false);
    expect_fit("float4[]", "dense_vector", convert_vector, false);
    expect_fit("float4[]", "float", convert_float, true);
    expect_fit("vector", "knn_vector", convert_vector, false);
    expect_fit("range:int4", "long_range", convert_range, false);
    expect_fit("range:timestamptz", "keyword", convert_keyword, false);
    expect_fit("multirange:int4", "double_range", convert_multirange, false);
    expect_fit("(a int4)", "nested", convert_composite, false);
    expect_fit("hstore[]", "flattened", convert_hstore, true);
}
END_TEST

START_TEST(a_misfit_says_what_the_column_can_fill)
{
    expect_misfit("bool", "long",
                  "a column of type bool can fill boolean, keyword, text, match_only_text, "
                  "search_as_you_type, wildcard, semantic_text, semantic, version, completion");
    expect_misfit("bytea", "text", "a column of type bytea can fill binary");
    expect_misfit("vector", "keyword", "a column of type vector can fill dense_vector, knn_vector");
    expect_misfit("range:inet", "date_range",
                  "a column of type range:inet can fill ip_range, keyword, text, match_only_text, "
                  "search_as_you_type, wildcard, semantic_text, semantic, version, completion");
}
END_TEST

START_TEST(a_mistyped_type_is_answered_with_the_nearest)
{
    expect_misfit("bytea", "binray", "the type is unknown, did you mean \"binary\"?");
    expect_misfit("range:inet", "ip_rnage", "the type is unknown, did you mean \"ip_range\"?");
    expect_misfit("bytea", "annotated_text", "a column of type bytea can fill binary");
}
END_TEST

START_TEST(every_type_of_the_table_is_suggested_for_a_slip_in_it)
{
    for (const struct type_rule *r = type_rules; r->columns != NULL; r++) {
        const char *list = r->properties;
        while (*list != '\0') {
            char slip[64];
            size_t len = strcspn(list, " ");
            snprintf(slip, sizeof(slip), "%.*sq", (int)len, list);
            const char *meant = mapping_meant_type(slip);
            ck_assert_msg(meant != NULL, "%s", slip);
            ck_assert_msg(strlen(meant) == len && strncmp(meant, slip, len) == 0, "%s: %s", slip,
                          meant);
            list += len + strspn(list + len, " ");
        }
    }
}
END_TEST

static uint64_t next_random(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return *state >> 33;
}

/* Writes a value as PostgreSQL would, but changes up to three bytes. */
static size_t random_text(char out[80], uint64_t *state)
{
    static const char *const samples[] = {"2024-03-10 07:04:56.123456+00",
                                          "2024-03-10",
                                          "{1,NULL,\"a\\\"b\"}",
                                          "\\x00ff",
                                          "[1, 2]",
                                          "12.50",
                                          "-1e+05",
                                          "10.0.0.1/24",
                                          "t",
                                          "{\"a\": [1, \"b\"]}",
                                          "",
                                          "NaN",
                                          "(1,\"x \"\"y\\\\\",\"(\"\"{}\"\",{})\",\"[1,2)\")",
                                          "(,b,,)",
                                          "[1,\"2 \"\"\")",
                                          "empty",
                                          "{[1,2),(3,]}",
                                          "\"a\"=>\"1\", \"b\\\"\"=>NULL"};
    static const char bytes[] = "\"\\\n\x01\x7f,{}[]:;.?0-9eE+ /x()=>N";
    const char *sample = samples[next_random(state) % (sizeof(samples) / sizeof(samples[0]))];
    size_t len = strlen(sample);
    memcpy(out, sample, len);
    for (uint64_t n = next_random(state) % 4; n > 0; n--) {
        size_t at = next_random(state) % (len + 1);
        out[at] = bytes[next_random(state) % (sizeof(bytes) - 1)];
        len += at == len;
    }
    return len;
}

static void expect_one_value(const struct buf *out, bool parsed_before)
{
    for (size_t i = 0; i < out->len; i++) {
        ck_assert_msg((unsigned char)out->data[i] >= 0x20, "a control character in %s", out->data);
    }
    if (!parsed_before) {
        enum json_tokener_error error;
        struct json_object *value = json_tokener_parse_verbose(out->data, &error);
        ck_assert_msg(error == json_tokener_success, "no JSON: %s", out->data);
        json_object_put(value);
    }
}

/* Returns a column for the line: its first type name, or one of its kind. */
static struct column column_of(const struct type_rule *rule)
{
    static const char *const kinds[][2] = {
        {"composite", "(a int4, b text, c (d bool, e timestamptz[]), f range:float8)"},
        {"range", "range:text"},
        {"multirange", "multirange:text"}};
    size_t len = strcspn(rule->columns, " ");
    char *first = text_copy_span(span_make(rule->columns, len));
    const char *type = first;
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        type = strcmp(first, kinds[i][0]) == 0 ? kinds[i][1] : type;
    }
    struct column column = rows_column("c", type);
    free(first);
    return column;
}

static void throw_at(const struct type_pair *pair, bool json, uint64_t *state)
{
    struct buf out;
    buf_init(&out, 4096);
    for (int i = 0; i < 1000; i++) {
        char text[80];
        size_t len = random_text(text, state);
        char *exact = text_copy_span(span_make(text, len)); /* detects reading beyond the end */
        buf_reset(&out);
        if (type_convert(&out, exact, len, pair) == NULL) {
            expect_one_value(&out, json);
        }
        free(exact);
    }
    buf_release(&out);
}

START_TEST(whatever_comes_one_json_value_on_one_line_is_written_or_nothing)
{
    uint64_t state = 11;
    for (const struct type_rule *r = type_rules; r->columns != NULL; r++) {
        struct column column = column_of(r);
        char *type = text_copy_span(span_make(r->properties, strcspn(r->properties, " ")));
        struct property property = {.name = type, .type = type};
        struct plan_notes notes = {0};
        struct converter_search search = {.max_bytes = 1000, .notes = &notes};
        struct type_pair pair;
        ck_assert_msg(converter_compile(&pair, &search, &column, &property), "%s", r->columns);
        throw_at(&pair, strstr(r->columns, "json") != NULL, &state);
        type_release(&pair);
        plan_notes_release(&notes);
        row_column_release(&column);
        free(type);
    }
}
END_TEST

/* Writes "a b" as "`a` `b`". */
static void push_code(struct buf *out, const char *list)
{
    buf_push_char(out, '`');
    for (const char *p = list; *p != '\0'; p++) {
        if (*p == ' ') {
            buf_push_literal(out, "` `");
        } else {
            buf_push_char(out, *p);
        }
    }
    buf_push_char(out, '`');
}

static void render_table(struct buf *out)
{
    buf_push_literal(out, "| column | property | what arrives | what is lost |\n"
                          "| --- | --- | --- | --- |\n");
    for (const struct type_rule *r = type_rules; r->columns != NULL; r++) {
        buf_push_literal(out, "| ");
        push_code(out, r->columns);
        buf_push_literal(out, " | ");
        push_code(out, r->properties);
        buf_printf(out, " | %s | %s |\n", r->arrives, r->loss != NULL ? r->loss : "nothing");
    }
}

static char *read_manual(void)
{
    struct buf text;
    buf_init(&text, 1 << 20);
    FILE *file = fopen(TEST_DOCS "/types.md", "r");
    ck_assert_ptr_nonnull(file);
    for (int c = fgetc(file); c != EOF; c = fgetc(file)) {
        buf_push_char(&text, (char)c);
    }
    fclose(file);
    return buf_detach(&text);
}

START_TEST(the_manual_shows_the_same_table)
{
    struct buf table;
    buf_init(&table, 1 << 20);
    render_table(&table);
    char *manual = read_manual();
    bool same = strstr(manual, buf_text(&table)) != NULL;
    if (!same) {
        fputs(buf_text(&table), stderr); /* longer than the messages that Check accepts */
    }
    ck_assert_msg(same, "docs/types.md does not hold the table above");
    free(manual);
    buf_release(&table);
}
END_TEST

SUITE_MAIN("document/type", common_pairs_fit, a_misfit_says_what_the_column_can_fill,
           a_mistyped_type_is_answered_with_the_nearest,
           every_type_of_the_table_is_suggested_for_a_slip_in_it,
           whatever_comes_one_json_value_on_one_line_is_written_or_nothing,
           the_manual_shows_the_same_table)
