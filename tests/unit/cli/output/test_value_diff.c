/* SPDX-License-Identifier: Apache-2.0 */
/* Two different values are never displayed as the same text. */
#include "output/value_diff.h"

#include <string.h>

#include "output/terminal.h"
#include "suite.h"

static char *shown(const char *value, const char *other)
{
    struct buf out;
    buf_init(&out, 4096);
    value_diff_push(&out, span_make(value, strlen(value)), span_make(other, strlen(other)));
    char *text = text_copy(buf_text(&out));
    buf_release(&out);
    return text;
}

static void expect(const char *value, const char *other, const char *wanted)
{
    char *text = shown(value, other);
    ck_assert_str_eq(text, wanted);
    free(text);
}

START_TEST(long_texts_that_differ_late_are_shown_where_they_differ)
{
    char a[401];
    char b[401];
    memset(a, 'a', 400);
    memset(b, 'a', 400);
    a[400] = '\0';
    b[400] = '\0';
    b[200] = 'b';
    char *row = shown(a, b);
    char *indexed = shown(b, a);
    ck_assert_str_ne(row, indexed);
    ck_assert_ptr_nonnull(strstr(row, "(differs at byte 200) ..."));
    ck_assert_ptr_nonnull(strstr(indexed, "aaab"));
    ck_assert_uint_lt(strlen(indexed), 120);
    free(row);
    free(indexed);
}
END_TEST

START_TEST(composed_and_decomposed_letters_are_told_apart)
{
    expect("\"caf\xc3\xa9 noir\"", "\"cafe\xcc\x81 noir\"", "\"caf\\u00e9 noir\"");
    expect("\"cafe\xcc\x81 noir\"", "\"caf\xc3\xa9 noir\"", "\"cafe\\u0301 noir\"");
    expect("\"p\xd0\xb0y\"", "\"pay\"", "\"p\\u0430y\"");
    expect("\"\xf0\x9f\x98\x80\"", "\"\xf0\x9f\x98\x81\"", "\"\\u{1f600}\"");
}
END_TEST

START_TEST(a_character_without_width_is_seen)
{
    expect("\"a\xe2\x80\x8b b\"", "\"a b\"", "\"a\\u200b b\"");
    expect("\"a b\"", "\"a\xe2\x80\x8b b\"", "\"a b\"");
}
END_TEST

START_TEST(what_is_the_same_on_both_sides_stays_readable)
{
    expect("\"gr\xc3\xbc\xc3\x9f 1\"", "\"gr\xc3\xbc\xc3\x9f 2\"", "\"gr\xc3\xbc\xc3\x9f 1\"");
    expect("\"\xc3\xa4 x\"", "\"\xc3\xa5 x\"", "\"\\u00e4 x\"");
    expect("1", "2", "1");
}
END_TEST

START_TEST(a_value_that_begins_or_ends_as_the_other_is_not_read_beyond_its_end)
{
    expect("", "\"x\"", "");
    expect("12", "123", "12");
    expect("123", "12", "123");
    expect("\"\xff\"", "\"\xfe\"", "\"\\xff\"");
    expect("\xc3", "\xc3\xa9", "\\xc3");
}
END_TEST

START_TEST(text_that_turns_the_line_around_is_escaped)
{
    struct buf out;
    buf_init(&out, 256);
    static const char text[] = "a\xe2\x80\xae"
                               "b\xc2\x9b"
                               "c\xef\xbb\xbf"
                               "d\xc3\xa9\x1b";
    terminal_push_safe(&out, text, sizeof(text) - 1);
    ck_assert_str_eq(buf_text(&out), "a\\u202eb\\u009bc\\ufeffd\xc3\xa9\\x1b");
    buf_reset(&out);
    text_json(&out, text, sizeof(text) - 1);
    ck_assert_str_eq(buf_text(&out), "\"a\\u202eb\\u009bc\\ufeffd\xc3\xa9\\u001b\"");
    buf_release(&out);
}
END_TEST

SUITE_MAIN("cli/value_diff", long_texts_that_differ_late_are_shown_where_they_differ,
           composed_and_decomposed_letters_are_told_apart, a_character_without_width_is_seen,
           what_is_the_same_on_both_sides_stays_readable,
           a_value_that_begins_or_ends_as_the_other_is_not_read_beyond_its_end,
           text_that_turns_the_line_around_is_escaped)
