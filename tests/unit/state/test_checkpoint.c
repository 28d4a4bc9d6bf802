/* SPDX-License-Identifier: Apache-2.0 */
/* The checkpoint's transaction: all or nothing, never past an unsettled operation. */
#include "rowferry/state/checkpoint.h"

#include <signal.h>

#include "rowferry/base/clock.h"
#include "rowferry/base/failpoint.h"
#include "statefile.h"

static void assert_position(struct state *s, const char *position)
{
    struct checkpoint c;
    struct err err = {0};
    OK(checkpoint_load(s, &c, &err));
    if (position == NULL) {
        ck_assert_ptr_null(c.position);
    } else {
        ck_assert_str_eq(c.position, position);
    }
    checkpoint_release(&c);
}

START_TEST(a_generation_goes_from_begun_to_live)
{
    struct statefile f = statefile_make();
    struct err err = {0};
    struct state *s = statefile_open(&f, "articles");
    statefile_begin(s, 1);
    OK(checkpoint_set_uuid(s, "uuid-1", &err));
    OK(statefile_position(s, "5:5:", 10, &err));
    OK(checkpoint_settle(s, &(struct settlement){.settled = 4, .wall_us = 20}, &err));
    OK(checkpoint_go_live(s, 30, &err));
    state_close(s);
    s = statefile_open(&f, "articles");
    struct checkpoint c;
    OK(checkpoint_load(s, &c, &err));
    ck_assert_int_eq(c.phase, GENERATION_LIVE);
    ck_assert_str_eq(c.generation, "articles-1");
    ck_assert_str_eq(c.index_uuid, "uuid-1");
    ck_assert_str_eq(c.mapping_fingerprint, "articles-1");
    ck_assert_str_eq(c.table_fingerprint, "articles-1");
    ck_assert_str_eq(c.source_identity, "articles-1");
    ck_assert_str_eq(c.position, "5:5:");
    ck_assert_int_eq(c.generation_number, 1);
    ck_assert_int_eq(c.documents, 5);
    ck_assert_int_eq(c.settled_at_us, 30);
    checkpoint_release(&c);
    state_close(s);
    statefile_remove(&f);
}
END_TEST

START_TEST(a_discarded_letter_alone_does_not_make_the_index_look_newer)
{
    struct statefile f = statefile_make();
    struct err err = {0};
    struct state *s = statefile_open(&f, "articles");
    struct span key = span_of("k");
    struct checkpoint c;
    statefile_begin(s, 1);
    OK(statefile_position(s, "5:5:", 10, &err));
    OK(checkpoint_settle(
        s, &(struct settlement){.cleared = &key, .cleared_count = 1, .wall_us = 20}, &err));
    OK(checkpoint_load(s, &c, &err));
    ck_assert_int_eq(c.settled_at_us, 10);
    checkpoint_release(&c);
    OK(checkpoint_settle(s, &(struct settlement){.settled = 1, .wall_us = 30}, &err));
    OK(checkpoint_load(s, &c, &err));
    ck_assert_int_eq(c.settled_at_us, 30);
    checkpoint_release(&c);
    state_close(s);
    statefile_remove(&f);
}
END_TEST

START_TEST(a_new_generation_starts_without_position_and_uuid_and_never_reuses_a_number)
{
    struct statefile f = statefile_make();
    struct err err = {0};
    struct state *s = statefile_open(&f, "articles");
    ck_assert_int_eq(checkpoint_set_uuid(s, "early", &err), ERR_STATE);
    statefile_begin(s, 1);
    OK(checkpoint_set_uuid(s, "uuid-1", &err));
    OK(statefile_position(s, "5:5:", 10, &err));
    statefile_begin(s, 2);
    struct checkpoint c;
    OK(checkpoint_load(s, &c, &err));
    ck_assert_int_eq(c.phase, GENERATION_BUILDING);
    ck_assert_ptr_null(c.position);
    ck_assert_ptr_null(c.index_uuid);
    ck_assert_int_eq(c.documents, 0);
    ck_assert_int_eq(checkpoint_begin_generation(s, &c, &err), ERR_INTERNAL);
    checkpoint_release(&c);
    state_close(s);
    statefile_remove(&f);
}
END_TEST

START_TEST(the_clock_ceiling_only_grows)
{
    struct statefile f = statefile_make();
    struct err err = {0};
    struct state *s = statefile_open(&f, "articles");
    OK(checkpoint_raise_ceiling(s, 1700000000000000, &err));
    OK(checkpoint_raise_ceiling(s, 5, &err));
    statefile_begin(s, 1);
    struct checkpoint c;
    OK(checkpoint_load(s, &c, &err));
    ck_assert_int_eq(c.clock_ceiling, 1700000000000000);
    checkpoint_release(&c);
    state_close(s);
    statefile_remove(&f);
}
END_TEST

START_TEST(a_settlement_that_fails_changes_nothing)
{
    struct statefile f = statefile_make();
    struct err err = {0};
    struct state *s = statefile_open(&f, "articles");
    statefile_begin(s, 1);
    OK(statefile_position(s, "before", 1, &err));
    ck_assert(failpoint_load("checkpoint_before_commit=error"));
    struct new_letter letter = statefile_letter("a", 1);
    struct settlement settlement = statefile_settles(&letter, "after");
    ck_assert_int_eq(checkpoint_settle(s, &settlement, &err), ERR_TRANSIENT);
    ck_assert(failpoint_load(NULL));
    assert_position(s, "before");
    ck_assert_int_eq(statefile_letters(s), 0);
    OK(checkpoint_settle(s, &settlement, &err));
    assert_position(s, "after");
    ck_assert_int_eq(statefile_letters(s), 1);
    state_close(s);
    statefile_remove(&f);
}
END_TEST

/* A child commits and is killed at the failpoint; checks what the next process finds. */
static void killed_at(const char *setting, const char *position, int64_t letters)
{
    struct statefile f = statefile_make();
    pid_t child = fork();
    ck_assert_int_ge(child, 0);
    if (child == 0) {
        struct err err = {0};
        struct state *s = statefile_open(&f, "articles");
        statefile_begin(s, 1);
        if (failpoint_load(setting)) {
            struct new_letter letter = statefile_letter("a", 1);
            struct settlement settlement = statefile_settles(&letter, "after");
            int ignored = checkpoint_settle(s, &settlement, &err);
            (void)ignored;
        }
        _exit(1);
    }
    int status;
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    struct err err = {0};
    struct state *looked;
    OK(state_open_read_only(&looked, f.path, "articles", &err));
    assert_position(looked, position);
    state_close(looked);
    struct state *s = statefile_open(&f, "articles");
    assert_position(s, position);
    ck_assert_int_eq(statefile_letters(s), letters);
    state_close(s);
    statefile_remove(&f);
}

START_TEST(a_kill_before_the_commit_leaves_position_and_letters_as_they_were)
{
    killed_at("checkpoint_before_commit=kill", NULL, 0);
}
END_TEST

START_TEST(a_kill_after_the_commit_keeps_both)
{
    killed_at("checkpoint_after_commit=kill", "after", 1);
}
END_TEST

START_TEST(a_full_disk_is_temporary_and_changes_nothing)
{
    struct statefile f = statefile_make();
    struct err err = {0};
    struct state *s = statefile_open(&f, "articles");
    statefile_begin(s, 1);
    ck_assert_int_eq(sqlite3_exec(s->db, "pragma max_page_count = 1", NULL, NULL, NULL), SQLITE_OK);
    static char reason[100000];
    memset(reason, 'r', sizeof(reason));
    struct new_letter letter = statefile_letter("a", 1);
    letter.reason = span_make(reason, sizeof(reason));
    struct settlement settlement = statefile_settles(&letter, "after");
    ck_assert_int_eq(checkpoint_settle(s, &settlement, &err), ERR_TRANSIENT);
    ck_assert_ptr_nonnull(strstr(err.message, "no space left"));
    ck_assert_int_eq(err.sqlite_code & 0xff, SQLITE_FULL);
    assert_position(s, NULL);
    state_close(s);
    statefile_remove(&f);
}
END_TEST

#define ABORTED 44

/* Ends the process so that its code coverage is recorded. */
static void end_aborted(int number)
{
    (void)number;
    exit(ABORTED);
}

START_TEST(a_checkpoint_past_an_unsettled_operation_aborts)
{
    struct statefile f = statefile_make();
    pid_t child = fork();
    ck_assert_int_ge(child, 0);
    if (child == 0) {
        struct err err = {0};
        struct state *s = statefile_open(&f, "articles");
        statefile_begin(s, 1);
        signal(SIGABRT, end_aborted);
        int ignored =
            checkpoint_settle(s, &(struct settlement){.position = "past", .unsettled = 1}, &err);
        (void)ignored;
        _exit(0);
    }
    int status;
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert(WIFEXITED(status) && WEXITSTATUS(status) == ABORTED);
    struct state *s = statefile_open(&f, "articles");
    assert_position(s, NULL);
    state_close(s);
    statefile_remove(&f);
}
END_TEST

/* A flipped bit in the row, on disk or in memory. */
START_TEST(a_checkpoint_with_another_sum_is_damaged)
{
    struct statefile f = statefile_make();
    struct err err = {0};
    struct checkpoint c;
    struct state *s = statefile_open(&f, "articles");
    statefile_begin(s, 1);
    ck_assert_int_eq(sqlite3_exec(s->db,
                                  "drop trigger pipeline_changed; "
                                  "update pipeline set position = 'beyond'",
                                  NULL, NULL, NULL),
                     SQLITE_OK);
    ck_assert_int_eq(checkpoint_load(s, &c, &err), ERR_STATE);
    ck_assert_ptr_nonnull(strstr(err.message, "the sum of the checkpoint is wrong"));
    state_close(s);
    statefile_remove(&f);
}
END_TEST

START_TEST(a_settlement_that_is_committed_and_not_told_is_kept)
{
    struct statefile f = statefile_make();
    struct err err = {0};
    struct state *s = statefile_open(&f, "articles");
    statefile_begin(s, 1);
    ck_assert(failpoint_load("checkpoint_after_commit=error"));
    ck_assert_int_eq(statefile_position(s, "after", 1, &err), ERR_TRANSIENT);
    ck_assert(failpoint_load("another_point=error"));
    OK(statefile_position(s, "behind", 1, &err));
    ck_assert(failpoint_load(NULL));
    assert_position(s, "behind");
    state_close(s);
    statefile_remove(&f);
}
END_TEST

START_TEST(what_a_settlement_costs)
{
    enum { ROUNDS = 200 };
    struct statefile f = statefile_make();
    struct err err = {0};
    struct state *s = statefile_open(&f, "articles");
    statefile_begin(s, 1);
    struct clock clock = clock_system();
    int64_t start = clock_monotonic_us(&clock);
    for (int i = 0; i < ROUNDS; i++) {
        char position[32];
        snprintf(position, sizeof(position), "%d:%d:", i, i);
        OK(statefile_position(s, position, i, &err));
    }
    int64_t took = clock_monotonic_us(&clock) - start;
    printf("settle: %.2f ms each\n", (double)took / 1000 / ROUNDS);
    assert_position(s, "199:199:");
    state_close(s);
    statefile_remove(&f);
}
END_TEST

SUITE_MAIN("state/checkpoint", a_generation_goes_from_begun_to_live,
           a_discarded_letter_alone_does_not_make_the_index_look_newer,
           a_new_generation_starts_without_position_and_uuid_and_never_reuses_a_number,
           the_clock_ceiling_only_grows, a_settlement_that_fails_changes_nothing,
           a_kill_before_the_commit_leaves_position_and_letters_as_they_were,
           a_kill_after_the_commit_keeps_both, a_full_disk_is_temporary_and_changes_nothing,
           a_checkpoint_past_an_unsettled_operation_aborts,
           a_checkpoint_with_another_sum_is_damaged,
           a_settlement_that_is_committed_and_not_told_is_kept, what_a_settlement_costs)
