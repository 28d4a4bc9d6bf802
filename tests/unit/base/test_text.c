/* SPDX-License-Identifier: Apache-2.0 */
/* Text helpers: escapes, truncation, hashes, nearest names, copies. */
#include "rowferry/base/text.h"

#include <json-c/json.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rowferry/base/buf.h"
#include "suite.h"

static struct buf out;

static void setup_out(void)
{
    buf_release(&out);
    buf_init(&out, 1 << 20);
}

START_TEST(spans_are_equal_by_their_bytes)
{
    ck_assert(span_is(span_make("abcd", 3), "abc"));
    ck_assert(!span_is(span_make("abcd", 3), "abcd"));
    ck_assert(!span_is(span_make("abc", 3), "abd"));
    ck_assert(span_equal(span_make(NULL, 0), span_make("", 0)));
    ck_assert(span_equal(span_make("a\0b", 3), span_make("a\0b", 3)));
    ck_assert(!span_equal(span_make("a\0b", 3), span_make("a\0c", 3)));
}
END_TEST

START_TEST(escape_leaves_nothing_that_moves_a_terminal)
{
    setup_out();
    text_escape(&out, "a\n\r\t\\\x1b\x7f\0z\xc3\xa9", 11);
    ck_assert_str_eq(buf_text(&out), "a\\n\\r\\t\\\\\\x1b\\x7f\\x00z\xc3\xa9");
    setup_out();
    for (int c = 0; c < 256; c++) {
        char byte = (char)c;
        text_escape(&out, &byte, 1);
    }
    for (size_t i = 0; i < out.len; i++) {
        unsigned char c = (unsigned char)out.data[i];
        ck_assert(c >= 0x20 && c < 0x7f);
    }
    buf_release(&out);
}
END_TEST

/* The first and the last character of each range are escaped, their neighbours are not. */
START_TEST(what_moves_or_hides_text_is_escaped_at_the_edges_of_its_ranges)
{
    static const struct {
        const char *bytes;
        const char *shown; /* null: unchanged */
    } rows[] = {
        {"\x1f", "\\x1f"},
        {" ", NULL},
        {"~", NULL},
        {"\x7f", "\\x7f"},
        {"\xc2\x80", "\\u0080"},
        {"\xc2\x9b", "\\u009b"},
        {"\xc2\x9f", "\\u009f"},
        {"\xc2\xa0", NULL},
        {"\xd8\x9b", NULL},
        {"\xd8\x9c", "\\u061c"},
        {"\xd8\x9d", NULL},
        {"\xe2\x80\x8a", NULL},
        {"\xe2\x80\x8b", "\\u200b"},
        {"\xe2\x80\x8e", "\\u200e"},
        {"\xe2\x80\x8f", "\\u200f"},
        {"\xe2\x80\x90", NULL},
        {"\xe2\x80\xa7", NULL},
        {"\xe2\x80\xa8", "\\u2028"},
        {"\xe2\x80\xaa", "\\u202a"},
        {"\xe2\x80\xae", "\\u202e"},
        {"\xe2\x80\xaf", NULL},
        {"\xe2\x81\x9f", NULL},
        {"\xe2\x81\xa6", "\\u2066"},
        {"\xe2\x81\xa9", "\\u2069"},
        {"\xe2\x81\xaf", "\\u206f"},
        {"\xe2\x81\xb0", NULL},
        {"\xef\xbb\xbf", "\\ufeff"},
        {"\xf0\x9f\x98\x80", NULL},
        /* bytes that are not characters: raw controls, truncated ones, overlong forms of C1 */
        {"\x80", "\\x80"},
        {"\x9b", "\\x9b"},
        {"\xc2", "\\xc2"},
        {"\xe2\x80", "\\xe2\\x80"},
        {"\xe0\x82\x9b", "\\xe0\\x82\\x9b"},
        {"\xf0\x82\x80\xae", "\\xf0\\x82\\x80\\xae"},
        {"\xff", "\\xff"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const char *wanted = rows[i].shown != NULL ? rows[i].shown : rows[i].bytes;
        setup_out();
        text_escape(&out, rows[i].bytes, strlen(rows[i].bytes));
        ck_assert_str_eq(buf_text(&out), wanted);
    }
    buf_release(&out);
}
END_TEST

START_TEST(json_text_is_read_back_as_it_was)
{
    char bytes[128];
    for (int i = 0; i < 128; i++) {
        bytes[i] = (char)i;
    }
    setup_out();
    text_json(&out, bytes, sizeof(bytes));
    json_object *parsed = json_tokener_parse(buf_text(&out));
    ck_assert_ptr_nonnull(parsed);
    ck_assert_int_eq(json_object_get_string_len(parsed), 128);
    ck_assert_mem_eq(json_object_get_string(parsed), bytes, sizeof(bytes));
    json_object_put(parsed);
    setup_out();
    text_json(&out, "", 0);
    text_json(&out, "\b\f\n\r\t\"\\/\x01\xc3\xa9", 11);
    ck_assert_str_eq(buf_text(&out), "\"\"\"\\b\\f\\n\\r\\t\\\"\\\\/\\u0001\xc3\xa9\"");
    buf_release(&out);
}
END_TEST

START_TEST(what_is_not_utf8_is_replaced_byte_by_byte)
{
    static const struct {
        const char *bytes;
        const char *shown; /* R is replaced with U+FFFD */
    } rows[] = {
        {"plain", "plain"},
        {"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80", "\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80"},
        {"a\xff"
         "b",
         "aRb"},
        {"\xc3", "R"},
        {"\xe2\x82", "RR"},
        {"\xc0\x80", "RR"},
        {"\xe0\x80\x80", "RRR"},
        {"\xed\xa0\x80", "RRR"},
        {"\xf4\x90\x80\x80", "RRRR"},
        {"\xf5\x80", "RR"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        setup_out();
        text_valid(&out, rows[i].bytes, strlen(rows[i].bytes));
        struct buf wanted;
        buf_init(&wanted, 100);
        for (const char *c = rows[i].shown; *c != '\0'; c++) {
            buf_push(&wanted, *c == 'R' ? "\xef\xbf\xbd" : c, *c == 'R' ? 3 : 1);
        }
        ck_assert_str_eq(buf_text(&out), buf_text(&wanted));
        buf_release(&wanted);
    }
    buf_release(&out);
}
END_TEST

START_TEST(a_cut_never_halves_a_character)
{
    const char *text = "a\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80"; /* 1, 2, 3, 4 bytes */
    static const size_t kept[] = {0, 1, 1, 3, 3, 3, 6, 6, 6, 6, 10, 10};
    for (size_t most = 0; most < sizeof(kept) / sizeof(kept[0]); most++) {
        ck_assert_uint_eq(text_cut(text, 10, most), kept[most]);
    }
    ck_assert_uint_eq(text_cut("\x80\x80\x80\x80\x80\x80\x80\x80", 8, 7), 4);
}
END_TEST

START_TEST(hashes_differ_where_the_text_differs_and_are_never_zero)
{
    enum { KEYS = 20000 };
    static uint64_t seen[1 << 16];
    int shared = 0;
    for (int i = 0; i < KEYS; i++) {
        char key[16];
        int len = snprintf(key, sizeof(key), "%d", i);
        uint64_t h = text_hash(key, (size_t)len);
        ck_assert_uint_ne(h, 0);
        ck_assert_uint_eq(h, text_hash(key, (size_t)len));
        shared += seen[h >> 48] != 0;
        seen[h >> 48] = h;
    }
    /* as many as random chance gives: 20,000 keys in 65,536 slots share about 2,800 */
    ck_assert_int_gt(shared, 2300);
    ck_assert_int_lt(shared, 3300);
    ck_assert_uint_ne(text_hash("", 0), 0);
}
END_TEST

START_TEST(the_nearest_name_is_the_one_that_was_meant)
{
    static const char *const names[] = {"capture", "mode", "table", "key", "where", "query", NULL};
    static const struct {
        const char *word;
        const char *nearest;
    } rows[] = {
        {"tabel", "table"}, {"mdoe", "mode"},  {"capturre", "capture"}, {"kye", "key"},
        {"ky", "key"},      {"were", "where"}, {"queries", NULL},       {"table", "table"},
        {"zzz", NULL},      {"", NULL},        {"captcha", NULL},       {"Mode", "mode"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const char *nearest = text_nearest(rows[i].word, names);
        ck_assert_pstr_eq(nearest, rows[i].nearest);
    }
    static const char *const close[] = {"abcdef_xx", "abcdef_x", NULL};
    ck_assert_str_eq(text_nearest("abcdef_", close), "abcdef_x");
    char long_word[200];
    memset(long_word, 'a', sizeof(long_word) - 1);
    long_word[sizeof(long_word) - 1] = '\0';
    ck_assert_ptr_null(text_nearest(long_word, names));
    const char *const long_names[] = {long_word, "mode", NULL};
    ck_assert_str_eq(text_nearest("mode", long_names), "mode");
}
END_TEST

START_TEST(copies_and_grown_memory_keep_their_bytes)
{
    char *a = text_copy("text");
    char *b = text_copy_span(span_make("a span", 1));
    ck_assert_str_eq(a, "text");
    ck_assert_str_eq(b, "a");
    int *numbers = mem_zero(4, sizeof(*numbers));
    ck_assert_int_eq(numbers[3], 0);
    numbers[3] = 7;
    numbers = mem_grow(numbers, 1000, sizeof(*numbers));
    ck_assert_int_eq(numbers[3], 7);
    free(mem_zero(0, 8));
    free(numbers);
    free(a);
    free(b);
}
END_TEST

START_TEST(a_wiped_secret_is_gone)
{
    char secret[] = "hunter2";
    text_wipe(secret);
    static const char zeros[sizeof(secret)];
    ck_assert_mem_eq(secret, zeros, sizeof(secret));
    text_wipe(NULL);
}
END_TEST

START_TEST(base64_pads_to_four_characters)
{
    static const char *const cases[][2] = {
        {"", ""},        {"f", "Zg=="},          {"fo", "Zm8="},
        {"foo", "Zm9v"}, {"foobar", "Zm9vYmFy"}, {"\xff\xfb", "//s="}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct buf coded;
        buf_init(&coded, 64);
        text_base64(&coded, cases[i][0], strlen(cases[i][0]));
        ck_assert_str_eq(buf_text(&coded), cases[i][1]);
        buf_release(&coded);
    }
}
END_TEST

SUITE_MAIN("base/text", base64_pads_to_four_characters, spans_are_equal_by_their_bytes,
           escape_leaves_nothing_that_moves_a_terminal,
           what_moves_or_hides_text_is_escaped_at_the_edges_of_its_ranges,
           json_text_is_read_back_as_it_was, what_is_not_utf8_is_replaced_byte_by_byte,
           a_cut_never_halves_a_character, hashes_differ_where_the_text_differs_and_are_never_zero,
           the_nearest_name_is_the_one_that_was_meant, copies_and_grown_memory_keep_their_bytes,
           a_wiped_secret_is_gone)
