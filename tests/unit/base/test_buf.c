/* SPDX-License-Identifier: Apache-2.0 */
/* The byte buffer: the maximum is enforced, a failure persists, the text is always
 * NUL-terminated. */
#include "rowferry/base/buf.h"

#include <stdint.h>
#include <stdlib.h>

#include "suite.h"

START_TEST(an_empty_buffer_reads_as_empty_text)
{
    struct buf b;
    buf_init(&b, 10);
    ck_assert_str_eq(buf_text(&b), "");
    buf_truncate(&b, 0);
    char *text = buf_detach(&b);
    ck_assert_str_eq(text, "");
    free(text);
    buf_release(&b);
}
END_TEST

START_TEST(appends_of_every_kind_follow_each_other)
{
    struct buf b;
    buf_init(&b, 1000);
    buf_push(&b, "a\0b", 3);
    buf_push_char(&b, '-');
    buf_push_text(&b, "text");
    buf_push_literal(&b, "-lit-");
    buf_printf(&b, "%d/%s", 42, "x");
    ck_assert_uint_eq(b.len, 17);
    ck_assert_mem_eq(b.data, "a\0b-text-lit-42/x", 18);
    ck_assert(!b.failed);
    buf_release(&b);
}
END_TEST

START_TEST(exactly_the_maximum_fits_and_one_more_byte_does_not)
{
    for (size_t most = 0; most < 300; most++) {
        struct buf b;
        buf_init(&b, most);
        for (size_t i = 0; i < most; i++) {
            buf_push_char(&b, 'x');
        }
        ck_assert(!b.failed);
        ck_assert_uint_eq(b.len, most);
        buf_push_char(&b, 'y');
        ck_assert(b.failed);
        ck_assert_uint_eq(b.len, most);
        ck_assert_uint_eq(strlen(buf_text(&b)), most);
        ck_assert_uint_le(b.capacity, most + 1);
        buf_release(&b);
    }
}
END_TEST

START_TEST(a_failure_sticks_until_the_buffer_is_cut_back)
{
    struct buf b;
    buf_init(&b, 8);
    buf_push_text(&b, "12345");
    buf_push_text(&b, "6789");
    buf_push_text(&b, "6");
    ck_assert(b.failed);
    ck_assert_str_eq(buf_text(&b), "12345");
    buf_truncate(&b, 3);
    buf_push_text(&b, "abc");
    ck_assert(!b.failed);
    ck_assert_str_eq(buf_text(&b), "123abc");
    buf_reset(&b);
    ck_assert_str_eq(buf_text(&b), "");
    buf_release(&b);
}
END_TEST

START_TEST(a_printf_over_the_maximum_appends_nothing)
{
    struct buf b;
    buf_init(&b, 4);
    buf_printf(&b, "%d", 123);
    buf_printf(&b, "%d", 45);
    ck_assert(b.failed);
    ck_assert_str_eq(buf_text(&b), "123");
    buf_release(&b);
}
END_TEST

START_TEST(a_request_beyond_the_address_space_fails_without_wrapping)
{
    struct buf b;
    buf_init(&b, SIZE_MAX);
    buf_push_char(&b, 'x');
    ck_assert(!buf_reserve(&b, SIZE_MAX));
    ck_assert(b.failed);
    buf_truncate(&b, 1);
    ck_assert(!buf_reserve(&b, SIZE_MAX - 1));
    ck_assert_str_eq(buf_text(&b), "x");
    buf_release(&b);
}
END_TEST

START_TEST(reserved_room_is_used_without_moving)
{
    struct buf b;
    buf_init(&b, 10000);
    ck_assert(buf_reserve(&b, 5000));
    const char *before = b.data;
    for (int i = 0; i < 5000; i++) {
        buf_push_char(&b, 'x');
    }
    ck_assert_ptr_eq(b.data, before);
    buf_release(&b);
}
END_TEST

START_TEST(detach_gives_the_bytes_away_and_leaves_a_usable_buffer)
{
    struct buf b;
    buf_init(&b, 10);
    buf_push_text(&b, "mine");
    char *text = buf_detach(&b);
    ck_assert_str_eq(text, "mine");
    free(text);
    ck_assert_uint_eq(b.len, 0);
    buf_push_text(&b, "next");
    ck_assert_str_eq(buf_text(&b), "next");
    buf_release(&b);
}
END_TEST

SUITE_MAIN("base/buf", an_empty_buffer_reads_as_empty_text, appends_of_every_kind_follow_each_other,
           exactly_the_maximum_fits_and_one_more_byte_does_not,
           a_failure_sticks_until_the_buffer_is_cut_back, a_printf_over_the_maximum_appends_nothing,
           a_request_beyond_the_address_space_fails_without_wrapping,
           reserved_room_is_used_without_moving,
           detach_gives_the_bytes_away_and_leaves_a_usable_buffer)
