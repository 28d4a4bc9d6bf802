/* SPDX-License-Identifier: Apache-2.0 */
/* The next generation besides the live one: its rows are separate until the promotion. */
#include "rowferry/state/rebuild.h"

#include <stdlib.h>

#include "rowferry/state/deadletter.h"
#include "rowferry/state/generation_config.h"
#include "rowferry/state/reconcile.h"
#include "statefile.h"

static void apply_outcome_letter(struct state *s, const char *key, const char *position)
{
    struct err err = {0};
    const struct new_letter letter = {
        .key = span_of(key), .reason = span_of("no long"), .version = 7};
    OK(checkpoint_settle(s,
                         &(struct settlement){.position = position,
                                              .letters = &letter,
                                              .letter_count = 1,
                                              .settled = 5,
                                              .wall_us = 40},
                         &err));
}

static struct state *live(const struct statefile *f)
{
    struct err err = {0};
    struct state *s = statefile_open(f, "articles");
    statefile_begin(s, 1);
    OK(checkpoint_set_uuid(s, "uuid-1", &err));
    OK(checkpoint_go_live(s, 10, &err));
    apply_outcome_letter(s, "old", "1:1:");
    OK(checkpoint_raise_ceiling(s, 5000, &err));
    return s;
}

static struct state *begun(struct state *s, const struct checkpoint *former)
{
    struct err err = {0};
    struct state *next;
    const struct rebuild r = {.kind = former != NULL ? REBUILD_BACK : REBUILD_NEW, .begun_us = 99};
    OK(rebuild_begin(s, &r, former, &err));
    OK(rebuild_open(s, &next, &err));
    ck_assert_ptr_nonnull(next);
    return next;
}

static int64_t letters(struct state *s)
{
    struct err err = {0};
    int64_t count;
    OK(deadletter_count(s, &count, &err));
    return count;
}

/* Begins again, and expects no rows of the previous rebuild. */
static void expect_begun_anew(struct state *s)
{
    struct err err = {0};
    struct checkpoint c;
    struct state *next = begun(s, NULL);
    OK(checkpoint_load(next, &c, &err));
    ck_assert(c.phase == GENERATION_NONE && c.generation_number == 2 && letters(next) == 0);
    checkpoint_release(&c);
    state_close(next);
}

/* Expects the previously live consumer, records another one, and removes both. */
static void expect_former_config(struct state *s, const char *words)
{
    struct former_config former;
    struct err err;
    OK(generation_config_read_former(s, &former, &err));
    ck_assert_str_eq(former.configuration, words);
    ck_assert(!former.returned);
    free(former.configuration);
}

static void expect_former_known(struct state *s)
{
    struct err err = {0};
    struct former former;
    bool known;
    OK(rebuild_former_look(s, &former, &known, &err));
    ck_assert(known && former.left_us == 77);
    ck_assert_str_eq(former.consumer, "articles/articles-1/uuid-1");
    ck_assert_int_eq(former.count, 1);
    OK(rebuild_former_meet(s, "articles/articles-1/uuid-1", 5, &err)); /* already known */
    OK(rebuild_former_look(s, &former, &known, &err));
    ck_assert(known && former.count == 1 && former.left_us == 77);
    OK(rebuild_former_meet(s, "articles/articles-9/uuid-9", 5, &err));
    OK(rebuild_former_look(s, &former, &known, &err));
    ck_assert(known && former.count == 2 && former.left_us == 5);
    OK(rebuild_former_forget(s, "articles/articles-9/uuid-9", &err));
    OK(rebuild_former_due(s, "articles/articles-1/uuid-1", &err));
    OK(rebuild_former_look(s, &former, &known, &err));
    ck_assert(known && former.count == 1 && former.left_us == 0);
    OK(rebuild_former_forget(s, "articles/articles-1/uuid-1", &err));
    OK(rebuild_former_look(s, &former, &known, &err));
    ck_assert(!known);
}

START_TEST(the_next_generation_takes_the_place_of_the_live_one)
{
    struct statefile f = statefile_make();
    struct err err = {0};
    struct checkpoint c;
    struct rebuild r;
    struct reconcile owed;
    char *words;
    bool known;
    struct state *s = live(&f);
    struct state *next = begun(s, NULL);
    statefile_begin(next, 2);
    OK(checkpoint_set_uuid(next, "uuid-2", &err));
    apply_outcome_letter(next, "new", "9:9:");
    apply_outcome_letter(next, "newer", "9:9:");
    OK(checkpoint_raise_ceiling(next, 4000, &err));
    OK(reconcile_write(next, &(struct reconcile){.owed_us = 3}, &err));
    OK(generation_config_write(s, "articles-1", "old words", &err));
    OK(generation_config_write(next, "articles-2", "first words", &err));
    OK(generation_config_write(next, "articles-2", "new words", &err));
    ck_assert_int_eq(letters(s), 1);
    OK(rebuild_look(s, &r, &known, &err));
    ck_assert(known && r.kind == REBUILD_NEW && !r.adopt && r.begun_us == 99);
    OK(rebuild_promote(s, "articles/articles-1/uuid-1", 77, &err));
    state_close(next);
    OK(checkpoint_load(s, &c, &err));
    ck_assert_str_eq(c.generation, "articles-2");
    ck_assert_str_eq(c.index_uuid, "uuid-2");
    ck_assert_str_eq(c.position, "9:9:");
    ck_assert(c.phase == GENERATION_LIVE && c.generation_number == 2);
    ck_assert_int_eq(c.clock_ceiling, 5000);
    ck_assert_int_eq(letters(s), 2);
    checkpoint_release(&c);
    OK(generation_config_read(s, "articles-1", &words, &err));
    ck_assert_ptr_null(words);
    OK(generation_config_read(s, "articles-2", &words, &err));
    ck_assert_str_eq(words, "new words");
    free(words);
    expect_former_config(s, "old words");
    OK(reconcile_read(s, &owed, &known, &err));
    ck_assert(known && owed.owed_us == 3);
    OK(rebuild_look(s, &r, &known, &err));
    ck_assert(!known);
    OK(rebuild_open(s, &next, &err));
    ck_assert_ptr_null(next);
    expect_former_known(s);
    expect_begun_anew(s);
    state_close(s);
    statefile_remove(&f);
}
END_TEST

START_TEST(a_former_generation_is_gone_back_to_where_it_stood)
{
    struct statefile f = statefile_make();
    struct err err = {0};
    struct checkpoint c;
    struct state *s = live(&f);
    struct checkpoint former = {.generation = (char *)(uintptr_t) "articles-0",
                                .index_uuid = (char *)(uintptr_t) "uuid-0",
                                .mapping_fingerprint = (char *)(uintptr_t) "m",
                                .table_fingerprint = (char *)(uintptr_t) "t",
                                .source_identity = (char *)(uintptr_t) "i",
                                .position = (char *)(uintptr_t) "0:0:",
                                .clock_ceiling = 9000};
    struct state *next = begun(s, &former);
    OK(checkpoint_load(next, &c, &err));
    ck_assert_int_eq(c.phase, GENERATION_BUILDING);
    ck_assert_str_eq(c.generation, "articles-0");
    ck_assert_str_eq(c.position, "0:0:");
    ck_assert_int_eq(c.clock_ceiling, 9000);
    ck_assert_int_eq(c.generation_number, 1);
    checkpoint_release(&c);
    apply_outcome_letter(next, "back", "2:2:");
    OK(rebuild_promote(s, NULL, 77, &err));
    state_close(next);
    OK(checkpoint_load(s, &c, &err));
    ck_assert_str_eq(c.generation, "articles-0");
    ck_assert_int_eq(c.generation_number, 1); /* never lower, because names are not reused */
    ck_assert_int_eq(letters(s), 1);
    checkpoint_release(&c);
    state_close(s);
    statefile_remove(&f);
}
END_TEST

START_TEST(one_that_is_given_up_leaves_the_live_one_as_it_was)
{
    struct statefile f = statefile_make();
    struct err err = {0};
    struct checkpoint c;
    bool known;
    struct rebuild r;
    struct former former;
    struct state *s = live(&f);
    struct state *next = begun(s, NULL);
    ck_assert_int_eq(rebuild_begin(s, &(struct rebuild){.begun_us = 1}, NULL, &err), ERR_INTERNAL);
    statefile_begin(next, 2);
    apply_outcome_letter(next, "new", "9:9:");
    OK(rebuild_former_due(next, "articles/articles-2/uuid-1", &err)); /* it was built twice */
    state_close(next);
    OK(rebuild_forget(s, "articles/articles-2/uuid-2", &err));
    OK(rebuild_former_look(s, &former, &known, &err));
    ck_assert(known && former.count == 2 && former.left_us == 0);
    ck_assert_str_eq(former.consumer, "articles/articles-2/uuid-1");
    OK(rebuild_look(s, &r, &known, &err));
    ck_assert(!known);
    OK(checkpoint_load(s, &c, &err));
    ck_assert_str_eq(c.generation, "articles-1");
    ck_assert_int_eq(letters(s), 1);
    checkpoint_release(&c);
    state_close(s);
    statefile_remove(&f);
}
END_TEST

START_TEST(what_is_gone_back_to_stops_being_a_former_one_with_the_wish)
{
    struct statefile f = statefile_make();
    struct err err = {0};
    struct former former;
    bool known;
    static const char consumer[] = "articles/articles-1/uuid-1";
    struct state *s = live(&f);
    struct state *next = begun(s, NULL);
    state_close(next);
    OK(rebuild_forget(s, consumer, &err));
    OK(rebuild_former_look(s, &former, &known, &err));
    ck_assert(known);
    OK(rebuild_begin(s, &(struct rebuild){.begun_us = 2, .former = consumer}, NULL, &err));
    OK(rebuild_former_look(s, &former, &known, &err));
    ck_assert(!known);
    state_close(s);
    statefile_remove(&f);
}
END_TEST

/* A process added the row just before its state file was removed. */
START_TEST(a_row_of_the_next_one_that_no_wish_is_for_is_no_hindrance)
{
    struct statefile f = statefile_make();
    struct err err = {0};
    struct state *s = live(&f);
    struct state *stray = statefile_open(&f, "articles (next)");
    statefile_begin(stray, 7);
    apply_outcome_letter(stray, "stray", "3:3:");
    OK(reconcile_write(stray, &(struct reconcile){.owed_us = 3}, &err));
    OK(generation_config_write(stray, "articles-7", "words", &err));
    state_close(stray);
    struct state *next = begun(s, NULL);
    ck_assert_int_eq(letters(next), 0);
    state_close(next);
    OK(rebuild_forget(s, NULL, &err));
    ck_assert_int_eq(letters(s), 1);
    state_close(s);
    statefile_remove(&f);
}
END_TEST

/* The connection of a process that uses the file still has the rebuild request. */
START_TEST(a_state_file_that_was_removed_is_not_made_again_for_the_next_one)
{
    struct statefile f = statefile_make();
    struct err err = {0};
    bool known;
    struct rebuild r;
    struct state *next;
    struct state *s = live(&f);
    state_close(begun(s, NULL));
    ck_assert_int_eq(unlink(f.path), 0);
    ck_assert_int_eq(rebuild_open(s, &next, &err), ERR_STATE);
    ck_assert_ptr_null(next);
    ck_assert_int_ne(access(f.path, F_OK), 0);
    struct state *other = statefile_open(&f, "articles");
    ck_assert_int_eq(rebuild_open(s, &next, &err), ERR_STATE);
    ck_assert_ptr_null(next);
    ck_assert_msg(strstr(err.message, "was removed or replaced") != NULL, "%s", err.message);
    OK(rebuild_look(other, &r, &known, &err));
    ck_assert(!known);
    state_close(begun(other, NULL));
    state_close(other);
    state_close(s);
    statefile_remove(&f);
}
END_TEST

SUITE_MAIN("state/rebuild", the_next_generation_takes_the_place_of_the_live_one,
           a_former_generation_is_gone_back_to_where_it_stood,
           one_that_is_given_up_leaves_the_live_one_as_it_was,
           what_is_gone_back_to_stops_being_a_former_one_with_the_wish,
           a_row_of_the_next_one_that_no_wish_is_for_is_no_hindrance,
           a_state_file_that_was_removed_is_not_made_again_for_the_next_one)
