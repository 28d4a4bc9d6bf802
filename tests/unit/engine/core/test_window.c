/* SPDX-License-Identifier: Apache-2.0 */
/* The invariants of the window. */
#include "core/window.h"

#include <signal.h>

#include "suite.h"

START_TEST(a_position_is_reached_when_all_before_it_is_settled)
{
    struct window w;
    window_init(&w, 1000);
    uint64_t one = window_open(&w);
    window_admit(&w, one, 11, 100);
    window_close(&w, one, "one");
    uint64_t two = window_open(&w);
    window_admit(&w, two, 22, 100);
    window_close(&w, two, "two");
    window_settle(&w, two, 22, 100);
    ck_assert_ptr_null(window_take_reached(&w));
    ck_assert_uint_eq(window_unsettled_before_reached(&w), 0);
    window_settle(&w, one, 11, 100);
    char *reached = window_take_reached(&w);
    ck_assert_str_eq(reached, "two");
    ck_assert(window_empty(&w));
    free(reached);
    window_release(&w);
}
END_TEST

START_TEST(an_open_page_is_not_reached)
{
    struct window w;
    window_init(&w, 1000);
    uint64_t one = window_open(&w);
    window_admit(&w, one, 11, 100);
    window_settle(&w, one, 11, 100);
    ck_assert_ptr_null(window_take_reached(&w));
    ck_assert(!window_empty(&w));
    window_close(&w, one, NULL);
    ck_assert_ptr_null(window_take_reached(&w));
    ck_assert(window_empty(&w));
    window_release(&w);
}
END_TEST

START_TEST(full_at_its_bytes_and_at_its_pages)
{
    struct window w;
    window_init(&w, 150);
    uint64_t page = window_open(&w);
    window_admit(&w, page, 1, 100);
    ck_assert(!window_full(&w));
    window_admit(&w, page, 2, 100);
    ck_assert(window_full(&w));
    window_replace(&w, 100, 10);
    ck_assert(!window_full(&w));
    for (int i = 1; i < WINDOW_PAGES; i++) {
        ck_assert(!window_pages_full(&w));
        window_close(&w, window_open(&w), "x");
    }
    ck_assert(window_pages_full(&w));
    window_release(&w);
}
END_TEST

START_TEST(two_operations_of_one_key_abort)
{
    struct window w;
    window_init(&w, 1000);
    uint64_t page = window_open(&w);
    window_admit(&w, page, 5, 1);
    window_admit(&w, page, 5, 1);
}
END_TEST

START_TEST(settling_what_was_not_read_aborts)
{
    struct window w;
    window_init(&w, 1000);
    window_settle(&w, window_open(&w), 5, 1);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("engine/window");
    TCase *laws = tcase_create("laws");
    tcase_add_test(laws, a_position_is_reached_when_all_before_it_is_settled);
    tcase_add_test(laws, an_open_page_is_not_reached);
    tcase_add_test(laws, full_at_its_bytes_and_at_its_pages);
    tcase_add_test_raise_signal(laws, two_operations_of_one_key_abort, SIGABRT);
    tcase_add_test_raise_signal(laws, settling_what_was_not_read_aborts, SIGABRT);
    suite_add_tcase(suite, laws);
    return suite_end(suite);
}
