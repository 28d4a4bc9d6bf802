/* SPDX-License-Identifier: Apache-2.0 */
/* The JSON scanner: positions, and the same result as json-c. */
#include "syntax/scan.h"

#include <json-c/json.h>
#include <string.h>
#include <time.h>

#include "rowferry/base/buf.h"
#include "rowferry/base/text.h"
#include "suite.h"

static const char text[] = "// caf\xc3\xa9\n"
                           "{ /* caf\xc3\xa9 // */ \"a\": [1, {\"b.c\": \"\xc3\xa9\\\"//\"}],\n"
                           "  \"d\": {\"a\": {}, \"e\": -0.5e+3}, \"f\": null, \"\\u0067h\": 0 }\n";

static void expect_place(const char *path, enum scan_end end, int line, int column)
{
    char *copy = text_copy(text);
    struct err err = {0};
    ck_assert_msg(scan_check("f", copy, strlen(copy), &err) == 0, "%s", err.message);
    struct place p = scan_find(copy, strlen(copy), path, end);
    ck_assert_msg(p.line == line && p.column == column, "%s: %d:%d", path, p.line, p.column);
    free(copy);
}

START_TEST(keys_and_values_are_found_by_their_path)
{
    expect_place("d", SCAN_KEY, 3, 3);
    expect_place("d", SCAN_VALUE, 3, 8);
    expect_place("d.a", SCAN_KEY, 3, 9);
    expect_place("d.e", SCAN_VALUE, 3, 23);
    expect_place("f", SCAN_KEY, 3, 33);
    expect_place("gh", SCAN_KEY, 3, 44);
}
END_TEST

START_TEST(what_is_missing_is_placed_at_its_nearest_part)
{
    expect_place("d.x", SCAN_VALUE, 3, 8);
    expect_place("d.e.x.y[3]", SCAN_VALUE, 3, 23);
    expect_place("x.y", SCAN_VALUE, 2, 1);
    expect_place("", SCAN_VALUE, 2, 1);
}
END_TEST

/* The scanner is stricter in one point: it refuses a repeated key. */
static bool json_c_accepts(const char *bytes, size_t len)
{
    struct json_tokener *tokener = json_tokener_new();
    ck_assert_ptr_nonnull(tokener);
    json_tokener_set_flags(tokener, JSON_TOKENER_STRICT | JSON_TOKENER_VALIDATE_UTF8);
    struct json_object *root = json_tokener_parse_ex(tokener, bytes, (int)len + 1);
    bool good = root != NULL && json_object_is_type(root, json_type_object) &&
                json_tokener_get_error(tokener) == json_tokener_success;
    json_object_put(root);
    json_tokener_free(tokener);
    return good;
}

static void try_text(char *copy, size_t len, int *accepted)
{
    struct err err = {0};
    if (scan_check("f", copy, len, &err) == 0) {
        ck_assert_msg(json_c_accepts(copy, len), "%s", copy);
        struct place p = scan_find(copy, len, "d.e", SCAN_VALUE);
        ck_assert_int_ge(p.line, 1);
        ++*accepted;
    } else {
        ck_assert_int_eq(err.class, ERR_CONFIG);
        ck_assert_msg(strncmp(err.message, "f:", 2) == 0, "%s", err.message);
    }
}

START_TEST(no_change_of_a_byte_is_accepted_that_json_c_refuses)
{
    static const char bytes[] = "{}[]\",:\\/*019.-+eEtn \n\t\x01\x7f\xc3\xff";
    size_t len = strlen(text);
    int accepted = 0;
    for (size_t at = 0; at < len; at++) {
        for (size_t i = 0; i < sizeof(bytes); i++) {
            char *copy = text_copy(text);
            copy[at] = bytes[i];
            try_text(copy, len, &accepted);
            free(copy);
        }
    }
    ck_assert_int_gt(accepted, 100);
}
END_TEST

START_TEST(no_cut_or_doubled_text_is_accepted_that_json_c_refuses)
{
    size_t len = strlen(text);
    int accepted = 0;
    for (size_t kept = 0; kept <= len; kept++) {
        char *copy = text_copy_span(span_make(text, kept));
        try_text(copy, kept, &accepted);
        free(copy);
        copy = mem_zero(2 * len + 1, 1);
        memcpy(copy, text, kept);
        memcpy(copy + kept, text + len - kept, kept);
        try_text(copy, 2 * kept, &accepted);
        free(copy);
    }
    ck_assert_int_ge(accepted, 1);
}
END_TEST

START_TEST(deep_nesting_is_refused_before_the_stack_ends)
{
    enum { DEEP = 100000 };
    char *deep = mem_zero(DEEP + 8, 1);
    memcpy(deep, "{\"a\":", 5);
    memset(deep + 5, '[', DEEP);
    struct err err = {0};
    ck_assert_int_eq(scan_check("f", deep, DEEP + 5, &err), ERR_CONFIG);
    ck_assert_str_eq(err.message, "f:1:69: nested too deeply");
    free(deep);
}
END_TEST

/* Comparing each key with each other took a minute and a half. */
START_TEST(a_file_of_many_keys_is_read_in_seconds)
{
    enum { KEYS = 400000 };
    struct buf many;
    struct err err = {0};
    buf_init(&many, (size_t)KEYS * 16);
    for (int i = 0; i < KEYS; i++) {
        buf_printf(&many, "%s\"k%06d\":0", i > 0 ? "," : "{", (int)((int64_t)i * 7919 % KEYS));
    }
    buf_push_literal(&many, "}");
    ck_assert(!many.failed);
    clock_t start = clock();
    ck_assert_msg(scan_check("f", many.data, many.len, &err) == 0, "%s", err.message);
    ck_assert_int_lt((clock() - start) / CLOCKS_PER_SEC, 20);
    memcpy(many.data + 2, "k000000", 7);
    memcpy(strstr(many.data, ",\"k000001") + 2, "k000000", 7);
    ck_assert_int_eq(scan_check("f", many.data, many.len, &err), ERR_CONFIG);
    ck_assert_ptr_nonnull(strstr(err.message, ": this key occurs twice in its object"));
    buf_release(&many);
}
END_TEST

SUITE_MAIN("config/scan", keys_and_values_are_found_by_their_path,
           what_is_missing_is_placed_at_its_nearest_part,
           no_change_of_a_byte_is_accepted_that_json_c_refuses,
           no_cut_or_doubled_text_is_accepted_that_json_c_refuses,
           deep_nesting_is_refused_before_the_stack_ends, a_file_of_many_keys_is_read_in_seconds)
