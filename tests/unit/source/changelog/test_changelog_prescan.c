/* SPDX-License-Identifier: Apache-2.0 */
/* The prescan of a window: when it begins, how it moves on and back. */
#include "changelog/changelog_prescan.h"

#include "rowferry/base/text.h"
#include "suite.h"

struct fixture {
    struct capture capture;
    struct changelog_options options;
    struct changelog_position position;
    struct changelog_page page;
    struct prescan prescan;
};

/* A page of the log from 10:10: on, whose snapshot is 20:20:, with this number of keys. */
static struct fixture page_of(size_t keys)
{
    struct fixture f = {.capture = {.guarded = true, .harmless = 3}, .options = {.page_rows = 5}};
    f.position.at = (struct position){.kind = POSITION_LOG, .last = text_copy("10:10:")};
    f.page.kind = PAGE_LOG;
    f.page.page.look.snapshot = text_copy("20:20:");
    f.page.keys.set.count = keys;
    return f;
}

static bool runs(struct fixture *f)
{
    f->page.capture = &f->capture;
    f->page.options = &f->options;
    f->page.position = &f->position;
    return changelog_prescan_runs(&f->prescan, &f->page);
}

static void release(struct fixture *f)
{
    changelog_prescan_reset(&f->prescan);
    changelog_position_release(&f->position);
    page_look_release(&f->page.page.look);
    position_release(&f->page.end);
}

START_TEST(only_a_guarded_window_with_more_keys_than_the_limit_is_prescanned)
{
    struct fixture f = page_of(3);
    ck_assert(!runs(&f));
    f.page.keys.set.count = 1; /* the fourth of the window */
    ck_assert(runs(&f));
    ck_assert_str_eq(f.prescan.from.target, "20:20:");
    ck_assert_int_eq(f.prescan.from.part, 1);
    release(&f);
    f = page_of(4);
    f.capture.guarded = false;
    ck_assert(!runs(&f));
    release(&f);
}
END_TEST

START_TEST(a_window_with_more_pages_is_prescanned_whatever_its_first_page_has)
{
    struct fixture f = page_of(1);
    f.page.page.stretch.full = true;
    ck_assert(runs(&f));
    release(&f);
    f = page_of(5); /* as many keys of the query's table as a page may list */
    f.capture.harmless = 100;
    f.page.kind = PAGE_FAN;
    ck_assert(runs(&f));
    release(&f);
}
END_TEST

START_TEST(a_prescan_moves_on_to_the_end_of_the_window_and_then_back)
{
    struct fixture f = page_of(4);
    struct change change;
    f.position.fan_after = text_copy("k");
    ck_assert(runs(&f));
    f.page.end = (struct position){.kind = POSITION_LOG,
                                   .last = text_copy("10:10:"),
                                   .target = text_copy("20:20:"),
                                   .part = 2};
    changelog_prescan_end_page(&f.prescan, &f.page, &change);
    ck_assert_int_eq(change.kind, CHANGE_PAGE);
    ck_assert(change.ahead);
    ck_assert_int_eq(f.position.at.part, 2);
    ck_assert(runs(&f));
    position_release(&f.page.end);
    f.page.end = (struct position){.kind = POSITION_LOG, .last = text_copy("20:20:")};
    free(f.position.fan_after);
    f.position.fan_after = NULL;
    changelog_prescan_end_page(&f.prescan, &f.page, &change);
    ck_assert_int_eq(change.kind, CHANGE_PRESCAN_END);
    ck_assert(!change.truncated);
    ck_assert_int_eq(f.position.at.part, 1);
    ck_assert_str_eq(f.position.at.target, "20:20:");
    ck_assert_str_eq(f.position.fan_after, "k");
    ck_assert_int_eq(f.prescan.state, PRESCAN_DONE);
    ck_assert(!runs(&f)); /* the window's own pages */
    release(&f);
}
END_TEST

START_TEST(a_truncated_table_ends_the_prescan_at_once_even_without_a_guard)
{
    struct fixture f = page_of(0);
    struct change change;
    f.capture.guarded = false;
    ck_assert(!runs(&f));
    ck_assert(!changelog_prescan_truncated(&f.prescan, &f.page));
    f.page.page.stretch.truncated = true;
    ck_assert(changelog_prescan_truncated(&f.prescan, &f.page));
    changelog_prescan_end_page(&f.prescan, &f.page, &change);
    ck_assert_int_eq(change.kind, CHANGE_PRESCAN_END);
    ck_assert(change.truncated);
    ck_assert(!changelog_prescan_truncated(&f.prescan, &f.page)); /* reported already */
    release(&f);
}
END_TEST

START_TEST(an_abandoned_prescan_leads_back_and_may_begin_again)
{
    struct fixture f = page_of(4);
    ck_assert(runs(&f));
    position_release(&f.position.at);
    f.position.at = (struct position){.kind = POSITION_LOG, .last = text_copy("15:15:")};
    changelog_prescan_abandon(&f.prescan, &f.position);
    ck_assert_str_eq(f.position.at.last, "10:10:");
    ck_assert_int_eq(f.prescan.state, PRESCAN_NONE);
    ck_assert(runs(&f));
    release(&f);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("source/changelog_prescan");
    TCase *tcase = tcase_create("all");
    tcase_add_test(tcase, only_a_guarded_window_with_more_keys_than_the_limit_is_prescanned);
    tcase_add_test(tcase, a_window_with_more_pages_is_prescanned_whatever_its_first_page_has);
    tcase_add_test(tcase, a_prescan_moves_on_to_the_end_of_the_window_and_then_back);
    tcase_add_test(tcase, a_truncated_table_ends_the_prescan_at_once_even_without_a_guard);
    tcase_add_test(tcase, an_abandoned_prescan_leads_back_and_may_begin_again);
    suite_add_tcase(suite, tcase);
    return suite_end(suite);
}
