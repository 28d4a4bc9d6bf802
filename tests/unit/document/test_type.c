/* SPDX-License-Identifier: Apache-2.0 */
/* The type table: what fits, what does not and why, and that people read the same table. */
#include "rowferry/document/type.h"

#include <json-c/json.h>
#include <stdio.h>

#include "array.h"
#include "convert_json.h"
#include "rowferry/base/buf.h"
#include "rows.h"
#include "suite.h"
#include "type_table.h"

static bool fits(const char *type, const char *property_type, struct type_pair *pair,
                 struct buf *why)
{
    struct columns columns = {mem_zero(1, sizeof(struct column)), 1};
    columns.items[0] = rows_column("c", type);
    char *name = text_copy(property_type);
    struct property property = {.name = name, .type = name};
    bool found = type_find(pair, &columns.items[0], &property, why);
    columns_release(&columns);
    free(name);
    return found;
}

static void expect_fit(const char *type, const char *property_type, bool array, bool lossless)
{
    struct buf why;
    struct type_pair pair;
    buf_init(&why, 4096);
    ck_assert_msg(fits(type, property_type, &pair, &why), "%s into %s", type, property_type);
    ck_assert_int_eq(pair.convert == convert_array, array);
    ck_assert_int_eq(pair.loss == NULL, lossless);
    type_release(&pair);
    buf_release(&why);
}

static void expect_misfit(const char *type, const char *property_type, const char *expected)
{
    struct buf why;
    struct type_pair pair;
    buf_init(&why, 4096);
    ck_assert_msg(!fits(type, property_type, &pair, &why), "%s into %s", type, property_type);
    ck_assert_str_eq(buf_text(&why), expected);
    buf_release(&why);
}

START_TEST(common_pairs_fit)
{
    expect_fit("text", "text", false, true);
    expect_fit("int8", "long", false, true);
    expect_fit("numeric", "keyword", false, true);
    expect_fit("timestamptz", "date", false, false);
    expect_fit("jsonb", "nested", false, true);
    expect_fit("enum:mood", "keyword", false, true);
    expect_fit("text", "long", false, false);
    expect_fit("ltree", "keyword", false, false);
    expect_fit("text[]", "keyword", true, true);
    expect_fit("mood[]", "keyword", true, false);
    expect_fit("float4[]", "dense_vector", false, false);
    expect_fit("float4[]", "float", true, true);
    expect_fit("vector", "knn_vector", false, false);
}
END_TEST

START_TEST(a_misfit_says_what_the_column_can_fill)
{
    expect_misfit("bool", "long",
                  "a column of type bool can fill boolean, keyword, text, match_only_text, "
                  "search_as_you_type, wildcard, completion, semantic_text, semantic, version");
    expect_misfit("bytea", "text", "a column of type bytea can fill binary");
    expect_misfit("vector", "keyword", "a column of type vector can fill dense_vector, knn_vector");
}
END_TEST

static uint64_t next_random(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return *state >> 33;
}

/* A value as PostgreSQL writes one, with up to three bytes that it would not write there. */
static size_t random_text(char out[64], uint64_t *state)
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
                                          "NaN"};
    static const char bytes[] = "\"\\\n\x01\x7f,{}[]:;.?0-9eE+ /x";
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

START_TEST(whatever_comes_one_json_value_on_one_line_is_written_or_nothing)
{
    uint64_t state = 11;
    struct buf out;
    buf_init(&out, 4096);
    char type[] = "x";
    struct property property = {.type = type};
    struct type_pair pair = {.property = &property};
    for (const struct type_rule *r = type_rules; r->columns != NULL; r++) {
        bool json = r->convert == convert_json || r->convert == convert_jsonb;
        for (int i = 0; i < 2000; i++) {
            char text[64];
            size_t len = random_text(text, &state);
            buf_reset(&out);
            if (r->convert(&out, text, len, &pair) == NULL) {
                expect_one_value(&out, json);
            }
        }
    }
    buf_release(&out);
}
END_TEST

/* "a b" as "`a` `b`". */
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

/* docs/types.md beside this repository's sources. */
static char *read_manual(void)
{
    struct buf path;
    struct buf text;
    buf_init(&path, 4096);
    buf_init(&text, 1 << 20);
    const char *here = __FILE__;
    buf_push(&path, here, (size_t)(strstr(here, "tests/unit/") - here));
    buf_push_literal(&path, "docs/types.md");
    FILE *file = fopen(buf_text(&path), "r");
    ck_assert_msg(file != NULL, "cannot open %s", buf_text(&path));
    for (int c = fgetc(file); c != EOF; c = fgetc(file)) {
        buf_push_char(&text, (char)c);
    }
    fclose(file);
    buf_release(&path);
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
        fputs(buf_text(&table), stderr); /* longer than Check takes as a message */
    }
    ck_assert_msg(same, "docs/types.md does not hold the table above");
    free(manual);
    buf_release(&table);
}
END_TEST

SUITE_MAIN("document/type", common_pairs_fit, a_misfit_says_what_the_column_can_fill,
           whatever_comes_one_json_value_on_one_line_is_written_or_nothing,
           the_manual_shows_the_same_table)
