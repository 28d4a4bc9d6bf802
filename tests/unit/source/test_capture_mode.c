/* SPDX-License-Identifier: Apache-2.0 */
/* The table of captures: every mode has an entry that contradicts neither itself nor the choices.
 */
#include "rowferry/source/capture_mode.h"

#include <string.h>

#include "rowferry/base/buf.h"
#include "suite.h"

START_TEST(the_choices_are_the_names_in_the_order_of_the_modes)
{
    struct buf names;
    buf_init(&names, 1024);
    for (int i = 0; i < CAPTURE_MODES; i++) {
        ck_assert_ptr_nonnull(capture_traits(i)->name);
        ck_assert_int_eq(capture_mode_find(capture_traits(i)->name), i);
        buf_printf(&names, "%s%s", i > 0 ? "|" : "", capture_traits(i)->name);
    }
    ck_assert_str_eq(buf_text(&names), CAPTURE_MODE_CHOICES);
    ck_assert_int_eq(capture_mode_find("wal"), -1);
    buf_release(&names);
}
END_TEST

START_TEST(each_mode_says_what_an_old_transaction_does)
{
    for (int i = 0; i < CAPTURE_MODES; i++) {
        ck_assert_ptr_nonnull(capture_traits(i)->held);
    }
}
END_TEST

START_TEST(the_change_log_keeps_entries_and_the_cursor_leaves_no_trace)
{
    const struct capture_traits *log = capture_traits(CAPTURE_MODE_CHANGELOG);
    const struct capture_traits *cursor = capture_traits(CAPTURE_MODE_CURSOR);
    ck_assert(log->installs && log->keeps && log->needs_primary && log->may_query);
    ck_assert(!log->follows_column);
    ck_assert_ptr_null(log->unqueued);
    ck_assert(!cursor->installs && !cursor->keeps && !cursor->needs_primary && !cursor->may_query);
    ck_assert(cursor->follows_column);
    ck_assert_ptr_nonnull(cursor->unqueued);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("source/capture_mode");
    TCase *tcase = tcase_create("all");
    tcase_add_test(tcase, the_choices_are_the_names_in_the_order_of_the_modes);
    tcase_add_test(tcase, each_mode_says_what_an_old_transaction_does);
    tcase_add_test(tcase, the_change_log_keeps_entries_and_the_cursor_leaves_no_trace);
    suite_add_tcase(suite, tcase);
    return suite_end(suite);
}
