/* SPDX-License-Identifier: Apache-2.0 */
/* Key listing by pages: each page starts after the previous one, or fails with the reason. */
#include "rowferry/source/listing/listing.h"

#include "walk.h"

/* Such conditions were once accepted: the page's own condition became one of two alternatives. */
#define UNBALANCED "true) or (true"

static const char *const body[] = {"body"};

static void make(struct walk *w)
{
    walk_new(w, "create table note (id int, body text, primary key (id)) partition by range (id);"
                "create table note_a partition of note for values from (0) to (200);"
                "create table note_b partition of note for values from (200) to (1000);"
                "insert into note select i, 'b' from generate_series(1, 400) i");
}

static void generation_retention_last(void *context, struct span key)
{
    struct buf *last = context;
    buf_reset(last);
    buf_push(last, key.data, key.len);
}

START_TEST(a_resync_whose_condition_takes_the_pages_own_away_ends_with_an_error)
{
    struct walk w = {.table = "note", .columns = body, .column_count = 1};
    struct listing *l = NULL;
    struct err err = {0};
    struct buf last;
    make(&w);
    buf_init(&last, 256);
    struct listing_options options = {.table = "note", .only = UNBALANCED};
    must(listing_open(&l, walk_connect(w.uri), &options, &err), &err);
    must(listing_next(l, span_make(NULL, 0), 100, generation_retention_last, &last, &err), &err);
    ck_assert_str_eq(buf_text(&last), "100");
    struct span after = span_make(buf_text(&last), last.len);
    ck_assert_int_eq(listing_next(l, after, 100, generation_retention_last, &last, &err),
                     ERR_REJECTED);
    ck_assert_msg(strstr(err.message, "the listing of keys went back") != NULL, "%s", err.message);
    ck_assert_msg(strstr(err.hint, "--where") != NULL, "%s", err.hint);
    listing_free(l);
    buf_release(&last);
    walk_free(&w);
}
END_TEST

/* Counts pages, because the listing was once endless. */
static void expect_end(struct walk *w)
{
    struct err err = {0};
    int rc = 0;
    make(w);
    walk_start(w);
    for (int pages = 0; rc == 0 && pages < 20; pages++) {
        rc = walk_try(w, &err);
    }
    ck_assert_int_eq(rc, ERR_REJECTED);
    ck_assert_msg(strstr(err.message, "the listing of keys went back") != NULL, "%s", err.message);
    ck_assert_msg(strstr(err.hint, "from.where") != NULL, "%s", err.hint);
    walk_free(w);
}

START_TEST(a_first_load_whose_condition_takes_the_pages_own_away_ends_with_an_error)
{
    struct walk w = {
        .table = "note", .columns = body, .column_count = 1, .where = UNBALANCED, .page_rows = 100};
    expect_end(&w);
}
END_TEST

SUITE_MAIN("integration/source/listing",
           a_resync_whose_condition_takes_the_pages_own_away_ends_with_an_error,
           a_first_load_whose_condition_takes_the_pages_own_away_ends_with_an_error)
