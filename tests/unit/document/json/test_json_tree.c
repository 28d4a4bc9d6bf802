/* SPDX-License-Identifier: Apache-2.0 */
/* Values of an unexpected type, and texts whose trees would be too large. */
#include "rowferry/document/json/json_tree.h"

#include <json-c/json.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>

#include "rowferry/base/buf.h"
#include "suite.h"

#define MIB ((size_t)1 << 20)

static const struct json_limits small = {4096, 20000, 8};

static struct json_object *tree_of(const char *text)
{
    struct json_object *tree;
    ck_assert_int_eq(json_tree_parse(&tree, text, strlen(text), &small), JSON_FITS);
    return tree;
}

static enum json_fit fit(const char *text)
{
    struct json_object *tree;
    enum json_fit found = json_tree_parse(&tree, text, strlen(text), &small);
    ck_assert(found == JSON_FITS || tree == NULL);
    json_object_put(tree);
    return found;
}

START_TEST(one_value_is_read_and_nothing_beside_it)
{
    static const char *const good[] = {
        "{}",         " [1, 2]\n", "7",    "-1.5e3",
        "\"a\\\"b\"", "true",      "null", "\t{\"a\": {\"b\": []}} \r\n"};
    static const char *const bad[] = {"",      "{",           "{} {}", "[1,]",        "{'a\"': {}}",
                                      "['a']", "[/* 1 */ 2]", "nul",   "{\"a\": 1}x", "7 8",
                                      "\"a",   "tru"};
    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
        ck_assert_msg(fit(good[i]) == JSON_FITS, "%s", good[i]);
    }
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        ck_assert_msg(fit(bad[i]) == JSON_BROKEN, "%s", bad[i]);
    }
}
END_TEST

START_TEST(what_is_deeper_or_longer_than_the_limit_is_refused)
{
    char text[5000];
    ck_assert_int_eq(fit("[[[[[[[[1]]]]]]]]"), JSON_FITS);
    ck_assert_int_eq(fit("[[[[[[[[[1]]]]]]]]]"), JSON_DEEP);
    ck_assert_int_eq(fit("[[1],[1],[1],[1],[1],[1],[1],[1],[1]]"), JSON_FITS);
    memset(text, ' ', sizeof(text) - 1);
    text[sizeof(text) - 1] = '\0';
    text[0] = '1';
    ck_assert_int_eq(fit(text), JSON_LONG);
}
END_TEST

static void repeat(struct buf *out, const char *open, const char *piece, size_t len,
                   const char *close)
{
    buf_push_text(out, open);
    while (out->len + strlen(piece) + 2 < len) {
        buf_push_text(out, piece);
    }
    buf_push_text(out, close);
}

/* No tree uses more memory than its limit, whatever its text contains. */
START_TEST(a_tree_never_needs_more_memory_than_its_limit)
{
    static const char *const pieces[] = {"{},",
                                         "[],",
                                         "{\"a\":{}},",
                                         "1,",
                                         "\"\",",
                                         "1.5,",
                                         "[1],",
                                         "[[]],",
                                         "null,",
                                         "true,",
                                         "[{}],",
                                         "\"0123456789\",",
                                         "{\"a\":1,\"b\":\"2\"},"};
    for (size_t i = 0; i < sizeof(pieces) / sizeof(pieces[0]); i++) {
        struct json_limits limits = {8 * MIB, 1000 * MIB, 64};
        struct json_object *tree;
        struct buf text;
        buf_init(&text, 8 * MIB);
        repeat(&text, "[", pieces[i], 100000, "0]");
        size_t before = mallinfo2().uordblks;
        ck_assert_int_eq(json_tree_parse(&tree, buf_text(&text), text.len, &limits), JSON_FITS);
        limits.tree_bytes = mallinfo2().uordblks - before;
        json_object_put(tree);
        ck_assert_msg(json_tree_parse(&tree, buf_text(&text), text.len, &limits) == JSON_LARGE,
                      "%s takes %zu bytes", pieces[i], limits.tree_bytes);
        buf_release(&text);
    }
}
END_TEST

START_TEST(members_in_number_never_need_more_memory_than_their_limit)
{
    struct json_limits limits = {8 * MIB, 1000 * MIB, 64};
    struct json_object *tree;
    struct buf text;
    buf_init(&text, 8 * MIB);
    buf_push_literal(&text, "{");
    for (int i = 0; i < 45000; i++) { /* the table has just doubled */
        buf_printf(&text, "\"%x\":1,", i);
    }
    buf_push_literal(&text, "\"z\":1}");
    size_t before = mallinfo2().uordblks;
    ck_assert_int_eq(json_tree_parse(&tree, buf_text(&text), text.len, &limits), JSON_FITS);
    ck_assert_uint_eq(json_tree_count(tree), 45001);
    limits.tree_bytes = mallinfo2().uordblks - before;
    json_object_put(tree);
    ck_assert_int_eq(json_tree_parse(&tree, buf_text(&text), text.len, &limits), JSON_LARGE);
    buf_release(&text);
}
END_TEST

START_TEST(eight_megabytes_of_empty_objects_are_refused_before_they_are_built)
{
    struct json_limits limits = {8 * MIB, 48 * MIB, 64};
    struct json_object *tree;
    struct buf text;
    buf_init(&text, 8 * MIB);
    repeat(&text, "[", "{},", 8 * MIB, "{}]");
    size_t before = mallinfo2().uordblks;
    ck_assert_int_eq(json_tree_parse(&tree, buf_text(&text), text.len, &limits), JSON_LARGE);
    ck_assert_uint_lt(mallinfo2().uordblks - before, 65536);
    buf_release(&text);
}
END_TEST

START_TEST(values_of_another_type_have_no_members_and_no_items)
{
    static const char *const texts[] = {"null", "1",   "\"a\"",      "true",
                                        "[]",   "1.5", "[\"a\", 1]", "{\"a\": [1]}"};
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        struct json_object *tree = tree_of(texts[i]);
        bool object = texts[i][0] == '{';
        struct json_members m = json_tree_members(tree);
        ck_assert_int_eq(json_tree_next(&m), object);
        ck_assert_uint_eq(json_tree_count(tree), object);
        ck_assert_uint_eq(json_tree_length(tree), texts[i][0] == '[' ? strlen(texts[i]) / 4 : 0);
        ck_assert_int_eq(json_tree_has(tree, "a"), object);
        ck_assert_str_eq(json_tree_text(tree, "a"), "");
        ck_assert_int_eq(json_tree_amount(tree, "a"), 0);
        ck_assert_ptr_null(json_tree_item(tree, 7));
        ck_assert_ptr_null(json_tree_at(tree, (const char *const[]){"a", "b", "c", NULL}));
        json_tree_remove(tree, "a");
        ck_assert_ptr_null(json_tree_member(tree, "a"));
        json_object_put(tree);
    }
}
END_TEST

START_TEST(members_come_in_their_order_and_amounts_stay_in_bounds)
{
    struct json_object *tree =
        tree_of("{\"a\": 5, \"b\": -7, \"c\": 99999999999999999999, "
                "\"d\": \"text\", \"e\": null, \"f\": [1, 2], \"g\": true, "
                "\"h\": 1e400, \"i\": \"1e400\", \"j\": \"100mb\", \"k\": \"12\"}");
    static const int64_t amounts[] = {5, 0, JSON_AMOUNT_MAX, 0, 0, 0, 0, 0, 0, 0, 12};
    char name[] = "a";
    for (struct json_members m = json_tree_members(tree); json_tree_next(&m); name[0]++) {
        ck_assert_str_eq(m.name, name);
        ck_assert_int_eq(json_tree_amount(tree, name), amounts[name[0] - 'a']);
    }
    ck_assert_str_eq(name, "l");
    ck_assert(json_tree_has(tree, "e") && json_tree_member(tree, "e") == NULL);
    ck_assert_str_eq(json_tree_text(tree, "d"), "text");
    ck_assert_int_eq(json_object_get_int(json_tree_item(json_tree_member(tree, "f"), 1)), 2);
    json_object_put(tree);
}
END_TEST

SUITE_MAIN("document/json_tree", one_value_is_read_and_nothing_beside_it,
           what_is_deeper_or_longer_than_the_limit_is_refused,
           a_tree_never_needs_more_memory_than_its_limit,
           members_in_number_never_need_more_memory_than_their_limit,
           eight_megabytes_of_empty_objects_are_refused_before_they_are_built,
           values_of_another_type_have_no_members_and_no_items,
           members_come_in_their_order_and_amounts_stay_in_bounds)
