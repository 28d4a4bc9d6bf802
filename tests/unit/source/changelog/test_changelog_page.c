/* SPDX-License-Identifier: Apache-2.0 */
/* A page of the change log: its kind, the size of its chunks, and where it ends. */
#include "changelog/changelog_page.h"

#include "rowferry/base/text.h"
#include "suite.h"

struct fixture {
    struct changelog_options options;
    struct catalogue catalogue;
    struct changelog_position position;
    struct changelog_page page;
};

static void set(struct fixture *f, const char *at)
{
    struct err err = {0};
    ck_assert_msg(position_parse(&f->position.at, at, &err) == 0, "%s", err.message);
    free(f->page.page.look.snapshot);
    f->page.page.look.snapshot = text_copy("30:30:");
    f->page.options = &f->options;
    f->page.catalogue = &f->catalogue;
    f->page.position = &f->position;
    f->page.kind = changelog_page_next_kind(&f->page);
}

static void must_end(struct fixture *f, const char *expected)
{
    struct buf text;
    buf_init(&text, 1024);
    position_print(&text, &f->page.end);
    ck_assert_str_eq(buf_text(&text), expected);
    buf_release(&text);
}

static void release(struct fixture *f)
{
    position_release(&f->position.at);
    position_release(&f->page.end);
    free(f->position.fan_after);
    page_look_release(&f->page.page.look);
}

START_TEST(the_position_and_the_query_decide_the_kind_of_a_page)
{
    struct fixture f = {.options = {.page_rows = 5}};
    set(&f, "copy 1 2/3 from 10:10:");
    ck_assert_int_eq(f.page.kind, PAGE_BLOCKS);
    set(&f, "copy keys first from 10:10:");
    ck_assert_int_eq(f.page.kind, PAGE_RANGE);
    f.options.query = "select";
    set(&f, "copy keys first from 10:10:");
    ck_assert_int_eq(f.page.kind, PAGE_LISTED);
    set(&f, "copy keys nulls from 10:10:");
    ck_assert_int_eq(f.page.kind, PAGE_RANGE);
    set(&f, "log 10:10: to 20:20: after 1 0 0");
    ck_assert_int_eq(f.page.kind, PAGE_LOG);
    set(&f, "log 10:10: to 20:20: after 1 0 0 of 4");
    ck_assert_int_eq(f.page.kind, PAGE_FAN);
    release(&f);
}
END_TEST

START_TEST(a_chunk_is_as_large_as_the_last_one_suggests)
{
    ck_assert_uint_eq(changelog_chunk_target(100, 100, 1000, 2000), 200);
    ck_assert_uint_eq(changelog_chunk_target(100, 100, 4000, 2000), 50);
    ck_assert_uint_eq(changelog_chunk_target(100, 100, 1, 2000), 400);  /* at most four times */
    ck_assert_uint_eq(changelog_chunk_target(100, 100, 0, 2000), 400);  /* no row */
    ck_assert_uint_eq(changelog_chunk_target(1, 1, 100000, 2000), 1);   /* never nothing */
    ck_assert_uint_eq(changelog_chunk_target(100, 10, 1000, 2000), 20); /* the last of a page */
}
END_TEST

START_TEST(a_full_page_of_the_log_ends_within_the_window)
{
    struct fixture f = {.options = {.page_rows = 5}};
    struct page_stretch *w = &f.page.page.stretch;
    set(&f, "log 10:10:");
    *w =
        (struct page_stretch){.full = true, .taken = 5, .part = 2, .after_xid = 12, .after_seq = 9};
    changelog_list_reach_log(&f.page);
    must_end(&f, "log 10:10: to 30:30: after 2 12 9");
    ck_assert(!changelog_page_drained(&f.page));
    ck_assert(f.catalogue.consumer.keeps);
    release(&f);
}
END_TEST

START_TEST(the_last_page_of_a_window_ends_at_its_target_or_at_the_next_capture)
{
    struct fixture f = {.options = {.page_rows = 5}};
    struct page_stretch *w = &f.page.page.stretch;
    set(&f, "log 10:10:");
    *w = (struct page_stretch){.taken = 1};
    changelog_list_reach_log(&f.page);
    must_end(&f, "log 30:30:");
    ck_assert(changelog_page_drained(&f.page));
    set(&f, "log 10:10: to 20:20: after 1 4 4");
    changelog_list_reach_log(&f.page);
    must_end(&f, "log 20:20:");
    ck_assert(!changelog_page_drained(&f.page)); /* the page's snapshot is later */
    w->due = 7;
    changelog_list_reach_log(&f.page);
    must_end(&f, "log 10:10: to 20:20: after 1 0 0 of 7");
    release(&f);
}
END_TEST

START_TEST(a_window_without_entries_moves_the_position_only_if_entries_can_be_pruned)
{
    struct fixture f = {.options = {.page_rows = 5}};
    set(&f, "log 10:10:");
    changelog_list_reach_log(&f.page);
    must_end(&f, "log 10:10:");
    ck_assert(changelog_page_drained(&f.page));
    f.catalogue.consumer.keeps = true;
    changelog_list_reach_log(&f.page);
    must_end(&f, "log 30:30:");
    set(&f, "log 30:30:");
    changelog_list_reach_log(&f.page);
    must_end(&f, "log 30:30:");
    release(&f);
}
END_TEST

START_TEST(entries_of_a_querys_table_are_complete_with_the_last_of_their_keys)
{
    struct fixture f = {.options = {.page_rows = 1}};
    struct page_stretch *w = &f.page.page.stretch;
    keyset_init(&f.page.keys.set, 1024);
    set(&f, "log 10:10: to 20:20: after 1 0 0 of 4");
    ck_assert_int_eq(keyset_add(&f.page.keys.set, span_make("k", 1)), KEYSET_NEW);
    changelog_list_reach_fan(&f.page);
    must_end(&f, "log 10:10: to 20:20: after 1 0 0 of 4");
    ck_assert_str_eq(f.position.fan_after, "k");
    keyset_reset(&f.page.keys.set);
    *w = (struct page_stretch){.full = true, .part = 2, .after_xid = 12, .after_seq = 9};
    changelog_list_reach_fan(&f.page);
    must_end(&f, "log 10:10: to 20:20: after 2 12 9 of 4");
    ck_assert_ptr_null(f.position.fan_after);
    w->full = false;
    changelog_list_reach_fan(&f.page);
    must_end(&f, "log 20:20:");
    keyset_release(&f.page.keys.set);
    release(&f);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("source/changelog_page");
    TCase *tcase = tcase_create("all");
    tcase_add_test(tcase, the_position_and_the_query_decide_the_kind_of_a_page);
    tcase_add_test(tcase, a_chunk_is_as_large_as_the_last_one_suggests);
    tcase_add_test(tcase, a_full_page_of_the_log_ends_within_the_window);
    tcase_add_test(tcase, the_last_page_of_a_window_ends_at_its_target_or_at_the_next_capture);
    tcase_add_test(tcase,
                   a_window_without_entries_moves_the_position_only_if_entries_can_be_pruned);
    tcase_add_test(tcase, entries_of_a_querys_table_are_complete_with_the_last_of_their_keys);
    suite_add_tcase(suite, tcase);
    return suite_end(suite);
}
