/* SPDX-License-Identifier: Apache-2.0 */
/* The state file is lost: in some cases the live index is continued, in others a new one is
 * built. */
#include <stdio.h>
#include <string.h>

#include "fake.h"
#include "rowferry/state/checkpoint.h"
#include "rowferry/state/deadletter.h"
#include "suite.h"

#define ROWS 40

static void sync_ok(struct fake *f, struct pipeline_result *result)
{
    struct err err = {0};
    ck_assert_msg(fake_sync(f, result, &err) == 0, "%s", err.message);
}

/* Synced twice, so that the checkpoint backup is later than the initial load. Then the state file
 * is lost. */
static void lost(struct fake *f)
{
    fake_init(f, ROWS);
    sync_ok(f, NULL);
    fake_write(f, 1, 11);
    sync_ok(f, NULL);
    ck_assert(fake_equal(f));
    fake_lose_state(f);
}

static struct state *state_of(const struct fake *f, struct checkpoint *c)
{
    struct state *state;
    struct err err = {0};
    ck_assert_int_eq(state_open(&state, f->path, "things", &err), 0);
    ck_assert_int_eq(checkpoint_load(state, c, &err), 0);
    return state;
}

static void expect_nothing_noted(const struct fake *f)
{
    struct err err = {0};
    struct checkpoint c;
    int64_t letters = -1;
    struct state *state = state_of(f, &c);
    ck_assert_int_eq(c.phase, GENERATION_NONE);
    ck_assert_ptr_null(c.position);
    ck_assert_int_eq(deadletter_count(state, &letters, &err), 0);
    ck_assert_int_eq(letters, 0);
    checkpoint_release(&c);
    state_close(state);
}

/* Versions grow only within the life of a state file. */
static void forget_versions(struct fake *f)
{
    f->highest_sent = 0;
    memset(f->sent, 0, sizeof(f->sent));
}

/* Expects that only later changes are sent, to the same index. */
static void expect_taken_over(struct fake *f)
{
    struct pipeline_result result;
    char before[256];
    snprintf(before, sizeof(before), "%s", f->alias);
    fake_write(f, 2, 22);
    sync_ok(f, &result);
    ck_assert(fake_equal(f));
    ck_assert_str_eq(f->alias, before);
    ck_assert_int_eq(f->operations, 1);
    ck_assert(!result.first_load);
}

/* Expects that every row is sent, to another index. */
static void expect_built_anew(struct fake *f)
{
    struct pipeline_result result;
    char before[256];
    forget_versions(f);
    snprintf(before, sizeof(before), "%s", f->alias);
    fake_write(f, 2, 22);
    sync_ok(f, &result);
    ck_assert(fake_equal(f));
    ck_assert_str_ne(f->alias, before);
    ck_assert_int_eq(f->operations, ROWS);
    ck_assert(result.first_load);
}

START_TEST(the_live_index_is_gone_on_with)
{
    struct fake f;
    lost(&f);
    expect_taken_over(&f);
    fake_lose_state(&f);
    expect_taken_over(&f);
    fake_release(&f);
}
END_TEST

START_TEST(what_is_taken_over_is_what_the_source_keeps)
{
    struct fake f;
    struct err err = {0};
    struct checkpoint c;
    lost(&f);
    int64_t clock = f.mirror_clock;
    f.fail_requests = 1000000; /* stop at this point */
    fake_write(&f, 2, 22);
    ck_assert_int_eq(fake_sync(&f, NULL, &err), ERR_TRANSIENT);
    struct state *state = state_of(&f, &c);
    ck_assert_int_eq(c.phase, GENERATION_LIVE);
    ck_assert_str_eq(c.generation, f.alias);
    ck_assert_str_eq(c.index_uuid, f.uuid);
    ck_assert_str_eq(c.position, "log 1 as 1");
    ck_assert_int_eq(c.generation_number, 1);
    ck_assert_int_gt(c.clock_ceiling, clock);
    checkpoint_release(&c);
    state_close(state);
    fake_release(&f);
}
END_TEST

START_TEST(who_is_held_off_writes_nothing)
{
    struct fake f;
    struct err err = {0};
    lost(&f);
    f.held = true;
    fake_write(&f, 2, 22);
    ck_assert_int_eq(fake_sync(&f, NULL, &err), ERR_HELD);
    ck_assert_int_eq(f.operations, 0);
    expect_nothing_noted(&f);
    f.held = false;
    expect_taken_over(&f);
    fake_release(&f);
}
END_TEST

START_TEST(where_the_source_keeps_nothing_another_index_is_built)
{
    struct fake f;
    lost(&f);
    f.mirror_log = -1;
    expect_built_anew(&f);
    fake_release(&f);
}
END_TEST

static void expect_differing_is_built_anew(void (*change)(struct fake *f))
{
    struct fake f;
    lost(&f);
    change(&f);
    expect_built_anew(&f);
    fake_release(&f);
}

static void change_mapping(struct fake *f)
{
    strcpy(f->meta.fingerprint, "fedcba9876543210");
}

static void change_table(struct fake *f)
{
    strcpy(f->meta.table, "fedcba9876543210");
}

/* Removes the table's definition, as an older version would not have stored it. */
static void forget_table(struct fake *f)
{
    f->meta.table[0] = '\0';
}

/* Simulates a restore of the index, whose content the checkpoint backup does not describe. */
static void change_uuid(struct fake *f)
{
    strcpy(f->uuid, "restored");
}

START_TEST(what_was_built_from_something_else_is_built_anew)
{
    expect_differing_is_built_anew(change_mapping);
    expect_differing_is_built_anew(change_table);
    expect_differing_is_built_anew(forget_table);
    expect_differing_is_built_anew(change_uuid);
}
END_TEST

START_TEST(an_index_of_another_database_is_left_alone)
{
    struct fake f;
    struct err err = {0};
    lost(&f);
    f.source = "2/fake";
    char before[256];
    snprintf(before, sizeof(before), "%s", f.alias);
    ck_assert_int_eq(fake_sync(&f, NULL, &err), ERR_REJECTED);
    ck_assert_ptr_nonnull(strstr(err.message, "another database"));
    ck_assert_str_eq(f.alias, before);
    ck_assert_int_eq(f.operations, 0);
    expect_nothing_noted(&f);
    fake_release(&f);
}
END_TEST

START_TEST(an_alias_that_is_gone_is_no_ground_to_go_on)
{
    struct fake f;
    lost(&f);
    f.alias[0] = '\0';
    expect_built_anew(&f);
    fake_release(&f);
}
END_TEST

START_TEST(an_alias_of_several_indices_is_refused)
{
    struct fake f;
    struct err err = {0};
    lost(&f);
    f.alias_several = true;
    ck_assert_int_eq(fake_sync(&f, NULL, &err), ERR_REJECTED);
    ck_assert_ptr_nonnull(strstr(err.message, "several"));
    ck_assert_int_eq(f.operations, 0);
    expect_nothing_noted(&f);
    f.alias_several = false;
    expect_taken_over(&f);
    fake_release(&f);
}
END_TEST

static void nothing_arrives(struct fake *f, size_t page)
{
    if (page == 2) {
        f->fail_requests = 1000000;
    }
}

START_TEST(a_first_load_that_was_under_way_begins_again)
{
    struct fake f;
    struct err err = {0};
    fake_init(&f, ROWS);
    f.between_pages = nothing_arrives;
    ck_assert_int_eq(fake_sync(&f, NULL, &err), ERR_TRANSIENT);
    f.between_pages = NULL;
    f.fail_requests = 0;
    fake_lose_state(&f);
    expect_built_anew(&f);
    fake_release(&f);
}
END_TEST

static void switch_host(struct fake *f, char *path)
{
    char other[sizeof(f->path)];
    memcpy(other, f->path, sizeof(other));
    memcpy(f->path, path, sizeof(f->path));
    memcpy(path, other, sizeof(f->path));
    forget_versions(f);
}

/* Names are used again once their index is removed. */
START_TEST(who_comes_back_to_a_first_load_does_not_remove_what_bears_its_name_now)
{
    struct fake f;
    struct err err = {0};
    char path[sizeof(f.path)];
    fake_init(&f, ROWS);
    f.several = true;
    snprintf(path, sizeof(path), "%s/other.db", f.folder);
    f.between_pages = nothing_arrives;
    ck_assert_int_eq(fake_sync(&f, NULL, &err), ERR_TRANSIENT);
    char name[sizeof(f.index)];
    memcpy(name, f.index, sizeof(name));
    f.between_pages = NULL;
    f.fail_requests = 0;
    switch_host(&f, path);
    sync_ok(&f, NULL);
    ck_assert_str_ne(f.alias, name);
    ck_assert(fake_look_at(&f, name));
    f.index[0] = '\0'; /* it is removed */
    fake_lose_state(&f);
    f.mirror_log = -1; /* another one is built */
    sync_ok(&f, NULL);
    ck_assert_str_eq(f.alias, name);
    fake_write(&f, 1, 11);
    sync_ok(&f, NULL);
    switch_host(&f, path);
    f.rivals = RIVALS_POSSIBLE;
    sync_ok(&f, NULL);
    ck_assert_str_eq(f.alias, name);
    ck_assert(fake_look_at(&f, name));
    ck_assert(fake_equal(&f));
    fake_lose_state(&f);
    switch_host(&f, path);
    fake_release(&f);
}
END_TEST

/* Also if the clock is behind the versions sent in the meantime. */
START_TEST(a_mirror_that_is_behind_loses_nothing)
{
    for (int i = 0; i < 2; i++) {
        struct fake f;
        lost(&f);
        sync_ok(&f, NULL);
        f.mirror_lost = true;
        for (int j = 0; j < 3; j++) {
            fake_write(&f, 5, 500 + j);
            fake_write(&f, 6, j == 2 ? -1 : 600 + j);
            sync_ok(&f, NULL);
        }
        f.mirror_lost = false;
        f.wall_jump_us = i == 1 ? -INT64_C(3600000000) : 0;
        fake_lose_state(&f);
        forget_versions(&f);
        fake_write(&f, 5, 5);
        fake_write(&f, 7, -1);
        sync_ok(&f, NULL);
        ck_assert(fake_equal(&f));
        fake_release(&f);
    }
}
END_TEST

static enum outcome never_k5(void *context, const char *key, long attempt)
{
    (void)context;
    (void)attempt;
    return strcmp(key, "k5") == 0 ? OUTCOME_REJECTED : OUTCOME_DONE;
}

static int64_t letters_of(const struct fake *f)
{
    struct err err = {0};
    struct checkpoint c;
    int64_t letters = -1;
    struct state *state = state_of(f, &c);
    ck_assert_int_eq(deadletter_count(state, &letters, &err), 0);
    checkpoint_release(&c);
    state_close(state);
    return letters;
}

START_TEST(dead_letters_come_along_and_clear)
{
    struct fake f;
    fake_init(&f, ROWS);
    f.judge = never_k5;
    sync_ok(&f, NULL);
    fake_lose_state(&f);
    sync_ok(&f, NULL);
    ck_assert_int_eq(f.operations, 0);
    ck_assert_int_eq(letters_of(&f), 1);
    f.judge = NULL;
    fake_write(&f, 5, 55);
    sync_ok(&f, NULL);
    ck_assert_int_eq(letters_of(&f), 0);
    fake_lose_state(&f);
    sync_ok(&f, NULL);
    ck_assert_int_eq(letters_of(&f), 0);
    ck_assert(fake_equal(&f));
    fake_release(&f);
}
END_TEST

START_TEST(dead_letters_come_along_where_the_position_did_not_move)
{
    struct fake f;
    struct err err = {0};
    struct checkpoint c;
    fake_init(&f, ROWS);
    sync_ok(&f, NULL);
    struct state *state = state_of(&f, &c);
    struct new_letter letter = {.key = span_make("k3", 2),
                                .reason = span_make("no", 2),
                                .http_status = 400,
                                .version = INT64_MAX};
    struct settlement settlement = {.letters = &letter, .letter_count = 1, .wall_us = f.now_us};
    ck_assert_int_eq(checkpoint_settle(state, &settlement, &err), 0);
    checkpoint_release(&c);
    state_close(state);
    sync_ok(&f, NULL);
    fake_lose_state(&f);
    sync_ok(&f, NULL);
    ck_assert_int_eq(letters_of(&f), 1);
    fake_release(&f);
}
END_TEST

static void nothing_arrives_after_the_walk(struct fake *f, size_t page)
{
    f->fail_requests = page == 1 ? 1000000 : 0;
}

/* The rows were deleted without log entries, and the source requires one scan. Only the dead letter
 * remains of a refused delete. */
START_TEST(the_letters_of_a_walk_come_along)
{
    struct fake f;
    struct err err = {0};
    fake_init(&f, ROWS);
    sync_ok(&f, NULL);
    f.judge = never_k5;
    fake_leave(&f, 5, 7);
    fake_write(&f, 9, 99);
    f.between_pages = nothing_arrives_after_the_walk;
    ck_assert_int_eq(fake_sync(&f, NULL, &err), ERR_TRANSIENT);
    ck_assert_uint_eq(f.left_met, f.left);
    ck_assert(f.documents[5].present && !f.documents[6].present);
    f.between_pages = NULL;
    f.fail_requests = 0;
    fake_lose_state(&f);
    forget_versions(&f);
    sync_ok(&f, NULL);
    ck_assert_int_eq(f.documents[9].n, 99);
    ck_assert_int_eq(letters_of(&f), 1);
    fake_release(&f);
}
END_TEST

SUITE_MAIN("engine/takeover", the_live_index_is_gone_on_with,
           what_is_taken_over_is_what_the_source_keeps, who_is_held_off_writes_nothing,
           where_the_source_keeps_nothing_another_index_is_built,
           what_was_built_from_something_else_is_built_anew,
           an_index_of_another_database_is_left_alone, an_alias_that_is_gone_is_no_ground_to_go_on,
           an_alias_of_several_indices_is_refused, a_first_load_that_was_under_way_begins_again,
           who_comes_back_to_a_first_load_does_not_remove_what_bears_its_name_now,
           a_mirror_that_is_behind_loses_nothing, dead_letters_come_along_and_clear,
           dead_letters_come_along_where_the_position_did_not_move,
           the_letters_of_a_walk_come_along)
