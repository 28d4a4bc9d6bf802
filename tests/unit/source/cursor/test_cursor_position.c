/* SPDX-License-Identifier: Apache-2.0 */
/* Positions of a cursor: printed ones are parsed, invalid ones are refused. */
#include "cursor/cursor_position.h"

#include <string.h>

#include "suite.h"

static const char *const valid[] = {
    "cursor",
    "cursor copy",
    "cursor copy until \"2026-01-02 03:04:05.123456+00\"",
    "cursor copy until \"2026-01-02 03:04:05.123456+00\" null",
    "cursor copy null after 12",
    "cursor copy until \"17\" \"3\" after 9",
    "cursor \"2026-01-02 03:04:05.123456+00\" after eu:42",
    "cursor \"0044-03-15 00:00:00+00 BC\" after a \"b\" after\nc",
    "cursor \"infinity\" after ",
    "cursor in 16384",
    "cursor in 4294967295 \"7\" after 8",
    "cursor copy in 16384 until \"17\" null after 12",
};

static const char *const invalid[] = {
    "",
    "cursors",
    "log 10:10:",
    "cursor \"1\"",
    "cursor \"1 after 2",
    "cursor \"\" after 2",
    "cursor after 2",
    "cursor null after 2",
    "cursor until \"1\"",
    "cursor copy until \"1",
    "cursor copy \"1\"",
    "cursor in ",
    "cursor in 0",
    "cursor in x",
    "cursor in -1",
    "cursor in 4294967296",
    "cursor in 16384x",
    "cursor in 16384 copy",
};

START_TEST(every_form_is_printed_as_it_was_parsed)
{
    struct err err = {0};
    struct cursor_position p = {0};
    struct buf out;
    buf_init(&out, 4096);
    ck_assert_msg(cursor_position_parse(&p, valid[_i], &err) == 0, "%s", err.message);
    cursor_position_print(&out, &p);
    ck_assert_str_eq(buf_text(&out), valid[_i]);
    buf_release(&out);
    cursor_position_release(&p);
}
END_TEST

START_TEST(what_is_not_a_position_is_refused_and_the_old_one_kept)
{
    struct err err = {0};
    struct cursor_position p = {0};
    ck_assert_int_eq(cursor_position_parse(&p, "cursor \"7\" after 8", &err), 0);
    ck_assert_int_eq(cursor_position_parse(&p, invalid[_i], &err), ERR_STATE);
    ck_assert_str_eq(p.value, "7");
    ck_assert_str_eq(p.key, "8");
    cursor_position_release(&p);
}
END_TEST

/* Like the capture: moves a copy of the position; the original stays unchanged. */
START_TEST(a_copy_moves_by_itself)
{
    struct err err = {0};
    struct buf out;
    buf_init(&out, 4096);
    for (size_t i = 0; i < sizeof(valid) / sizeof(valid[0]); i++) {
        struct cursor_position from = {0};
        struct cursor_position to = {0};
        ck_assert_int_eq(cursor_position_parse(&from, valid[i], &err), 0);
        ck_assert_int_eq(cursor_position_parse(&to, "cursor \"7\" after 8", &err), 0);
        cursor_position_copy(&to, &from);
        cursor_position_move(&to, "9", to.key != NULL ? to.key : "");
        ck_assert_str_eq(to.value, "9");
        cursor_position_move(&to, NULL, NULL);
        ck_assert_ptr_null(to.key);
        buf_reset(&out);
        cursor_position_print(&out, &from);
        ck_assert_str_eq(buf_text(&out), valid[i]);
        cursor_position_release(&from);
        cursor_position_release(&to);
    }
    buf_release(&out);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("source/cursor_position");
    TCase *tcase = tcase_create("all");
    tcase_add_loop_test(tcase, every_form_is_printed_as_it_was_parsed, 0,
                        (int)(sizeof(valid) / sizeof(valid[0])));
    tcase_add_loop_test(tcase, what_is_not_a_position_is_refused_and_the_old_one_kept, 0,
                        (int)(sizeof(invalid) / sizeof(invalid[0])));
    tcase_add_test(tcase, a_copy_moves_by_itself);
    suite_add_tcase(suite, tcase);
    return suite_end(suite);
}
