/* SPDX-License-Identifier: Apache-2.0 */
/* A pipeline with a table and a service in memory: the resulting index. */
#include <stdio.h>
#include <string.h>

#include "fake.h"
#include "rowferry/state/checkpoint.h"
#include "suite.h"

static void sync_ok(struct fake *f, struct pipeline_result *result)
{
    struct err err = {0};
    ck_assert_msg(fake_sync(f, result, &err) == 0, "%s", err.message);
}

START_TEST(first_sync_builds_and_swaps)
{
    struct fake f;
    struct pipeline_result result;
    fake_init(&f, 40);
    sync_ok(&f, &result);
    ck_assert(fake_equal(&f));
    ck_assert(f.finished);
    ck_assert(result.first_load);
    ck_assert_int_eq(result.counters.upserts, 40);
    fake_release(&f);
}
END_TEST

START_TEST(second_sync_sends_nothing)
{
    struct fake f;
    struct pipeline_result result;
    fake_init(&f, 40);
    sync_ok(&f, NULL);
    sync_ok(&f, &result);
    ck_assert_int_eq(f.operations, 0);
    ck_assert(!result.first_load);
    fake_release(&f);
}
END_TEST

START_TEST(later_sync_sends_only_changes)
{
    struct fake f;
    struct pipeline_result result;
    fake_init(&f, 40);
    sync_ok(&f, NULL);
    fake_write(&f, 3, 333);
    fake_write(&f, 50, 500);
    fake_write(&f, 7, -1);
    fake_write(&f, 3, 334);
    sync_ok(&f, &result);
    ck_assert(fake_equal(&f));
    ck_assert_int_eq(result.counters.upserts, 2);
    ck_assert_int_eq(result.counters.deletes, 1);
    fake_release(&f);
}
END_TEST

static int64_t durable_ceiling(const struct fake *f)
{
    struct err err;
    struct state *state;
    struct checkpoint checkpoint;
    ck_assert_int_eq(state_open(&state, f->path, "things", &err), 0);
    ck_assert_int_eq(checkpoint_load(state, &checkpoint, &err), 0);
    int64_t ceiling = checkpoint.clock_ceiling;
    checkpoint_release(&checkpoint);
    state_close(state);
    return ceiling;
}

/* Each sync would start one reserve later than the one before, and the check for an older copy
 * would fail. */
START_TEST(many_syncs_leave_the_versions_at_the_time_it_is)
{
    struct fake f;
    fake_init(&f, 40);
    int64_t sent = 0;
    for (int i = 0; i < 20; i++) {
        fake_write(&f, 3, 300 + i);
        sync_ok(&f, NULL);
        ck_assert_int_gt(f.highest_sent, sent);
        sent = f.highest_sent;
        ck_assert_int_ge(durable_ceiling(&f), sent);
        ck_assert_int_le(sent, f.now_us + 1000);
    }
    ck_assert(fake_equal(&f));
    fake_release(&f);
}
END_TEST

static void change_during_copy(struct fake *f, size_t page)
{
    if (page == 2) {
        fake_write(f, 1, 111);  /* already loaded */
        fake_write(f, 2, -1);   /* already loaded */
        fake_write(f, 39, -1);  /* not loaded yet */
        fake_write(f, 60, 600); /* new */
    }
}

START_TEST(changes_during_the_first_load_arrive)
{
    struct fake f;
    fake_init(&f, 40);
    f.between_pages = change_during_copy;
    sync_ok(&f, NULL);
    ck_assert(fake_equal(&f));
    fake_release(&f);
}
END_TEST

START_TEST(a_lost_source_is_opened_again)
{
    for (size_t at = 1; at < 60; at++) {
        struct fake f;
        fake_init(&f, 40);
        f.between_pages = change_during_copy;
        f.break_change = at;
        f.fail_connects = 2;
        sync_ok(&f, NULL);
        ck_assert_msg(fake_equal(&f), "broken at change %zu", at);
        fake_release(&f);
    }
}
END_TEST

START_TEST(unanswered_requests_are_sent_again)
{
    struct fake f;
    struct pipeline_result result;
    fake_init(&f, 40);
    f.fail_requests = 7;
    sync_ok(&f, &result);
    ck_assert(fake_equal(&f));
    ck_assert_int_gt(result.counters.retried, 0);
    fake_release(&f);
}
END_TEST

static enum outcome every_third_later(void *context, const char *key, long attempt)
{
    (void)context;
    return attempt < 2 && (key[1] - '0') % 3 == 0 ? OUTCOME_RETRY : OUTCOME_DONE;
}

START_TEST(only_the_refused_items_are_sent_again)
{
    struct fake f;
    struct pipeline_result result;
    fake_init(&f, 40);
    f.judge = every_third_later;
    sync_ok(&f, &result);
    ck_assert(fake_equal(&f));
    ck_assert_int_eq(f.operations, 40 + result.counters.retried);
    fake_release(&f);
}
END_TEST

START_TEST(a_request_that_is_too_large_is_sent_in_halves)
{
    struct fake f;
    struct pipeline_result result;
    fake_init(&f, 40);
    f.most_operations = 1;
    sync_ok(&f, &result);
    ck_assert(fake_equal(&f));
    ck_assert_int_eq(f.operations, 40);
    fake_release(&f);
}
END_TEST

static enum outcome never_k5(void *context, const char *key, long attempt)
{
    (void)context;
    (void)attempt;
    return strcmp(key, "k5") == 0 ? OUTCOME_REJECTED : OUTCOME_DONE;
}

START_TEST(one_rejected_document_does_not_stop_the_others_and_clears)
{
    struct fake f;
    struct pipeline_result result;
    fake_init(&f, 40);
    f.judge = never_k5;
    sync_ok(&f, &result);
    ck_assert_int_eq(result.dead_letters, 1);
    ck_assert_int_eq(result.counters.upserts, 39);
    ck_assert(!f.documents[5].present);
    f.judge = NULL;
    fake_write(&f, 5, 55);
    sync_ok(&f, &result);
    ck_assert_int_eq(result.dead_letters, 0);
    ck_assert_int_eq(result.counters.cleared, 1);
    ck_assert(fake_equal(&f));
    fake_release(&f);
}
END_TEST

START_TEST(a_higher_version_is_stepped_over)
{
    struct fake f;
    struct pipeline_result result;
    fake_init(&f, 40);
    sync_ok(&f, NULL);
    f.documents[4].version = f.now_us + INT64_C(3600000000); /* another client, an hour ahead */
    f.documents[4].n = 9999;
    fake_write(&f, 4, 44);
    sync_ok(&f, &result);
    ck_assert(fake_equal(&f));
    ck_assert_int_eq(result.counters.conflicts, 1);
    fake_release(&f);
}
END_TEST

START_TEST(a_key_that_changes_again_while_another_writer_conflicts_with_it_does_not_hang_the_sync)
{
    struct fake f;
    fake_init(&f, 40);
    sync_ok(&f, NULL);
    f.documents[4].version = f.now_us + INT64_C(3600000000);
    fake_write(&f, 4, 44);
    for (size_t i = 10; i < 10 + f.page_rows; i++) {
        fake_write(&f, i, 7);
    }
    fake_write(&f, 4, 45); /* on the next page, read while the first is unsettled */
    sync_ok(&f, NULL);
    ck_assert(fake_equal(&f));
    fake_release(&f);
}
END_TEST

START_TEST(a_clock_that_jumps_back_still_wins)
{
    struct fake f;
    fake_init(&f, 40);
    sync_ok(&f, NULL);
    f.wall_jump_us = -INT64_C(7200000000);
    fake_write(&f, 4, 44);
    sync_ok(&f, NULL);
    ck_assert(fake_equal(&f));
    fake_release(&f);
}
END_TEST

static enum outcome stop_all(void *context, const char *key, long attempt)
{
    (void)context;
    (void)key;
    (void)attempt;
    return OUTCOME_FATAL;
}

START_TEST(a_withdrawn_right_ends_the_sync_and_nothing_is_lost)
{
    struct fake f;
    struct err err;
    fake_init(&f, 40);
    sync_ok(&f, NULL);
    fake_write(&f, 4, 44);
    f.judge = stop_all;
    ck_assert_int_eq(fake_sync(&f, NULL, &err), ERR_REJECTED);
    f.judge = NULL;
    sync_ok(&f, NULL);
    ck_assert(fake_equal(&f));
    fake_release(&f);
}
END_TEST

START_TEST(a_sync_that_was_refused_leaves_the_versions_at_the_time_it_is)
{
    struct fake f;
    struct err err;
    fake_init(&f, 40);
    sync_ok(&f, NULL);
    fake_write(&f, 4, 44);
    f.judge = stop_all;
    ck_assert_int_eq(fake_sync(&f, NULL, &err), ERR_REJECTED);
    ck_assert_int_ge(durable_ceiling(&f), f.highest_sent);
    ck_assert_int_le(durable_ceiling(&f), f.now_us + 1000);
    f.judge = NULL;
    sync_ok(&f, NULL);
    ck_assert(fake_equal(&f));
    fake_release(&f);
}
END_TEST

START_TEST(the_retry_budget_ends_a_sync_as_temporary)
{
    struct fake f;
    struct err err;
    fake_init(&f, 40);
    f.fail_requests = 1000000;
    ck_assert_int_eq(fake_sync(&f, NULL, &err), ERR_TRANSIENT);
    ck_assert_ptr_nonnull(strstr(err.message, "retry_budget"));
    f.fail_requests = 0;
    sync_ok(&f, NULL);
    ck_assert(fake_equal(&f));
    fake_release(&f);
}
END_TEST

/* At each call the wall clock is half a day later or earlier, or unchanged. */
static void swing(struct fake *f)
{
    f->wall_jump_us = fake_dice(f, 2) == 0 ? -INT64_C(43200000000) : INT64_C(43200000000);
}

START_TEST(a_clock_that_jumps_by_hours_neither_ends_nor_prolongs_the_retry_budget)
{
    struct fake f;
    struct err err;
    fake_init(&f, 40);
    f.step = swing;
    f.fail_requests = 8; /* some seconds of a budget of a minute */
    sync_ok(&f, NULL);
    ck_assert(fake_equal(&f));
    fake_write(&f, 4, 44);
    f.fail_requests = 1000000;
    int64_t began_us = f.now_us;
    ck_assert_int_eq(fake_sync(&f, NULL, &err), ERR_TRANSIENT);
    ck_assert_int_ge(f.now_us - began_us, 59000000);
    ck_assert_int_le(f.now_us - began_us, 75000000);
    f.fail_requests = 0;
    sync_ok(&f, NULL);
    ck_assert(fake_equal(&f));
    fake_release(&f);
}
END_TEST

START_TEST(an_alias_moved_by_somebody_else_is_named)
{
    struct fake f;
    struct err err;
    fake_init(&f, 40);
    sync_ok(&f, NULL);
    strcpy(f.alias, "other-1");
    ck_assert_int_eq(fake_sync(&f, NULL, &err), ERR_STATE);
    ck_assert_ptr_nonnull(strstr(err.message, "other-1"));
    fake_release(&f);
}
END_TEST

/* Another run with its own state file chose the same name first; then this one was killed. */
static void begin_a_generation(const struct fake *f, const char *name)
{
    struct state *state;
    struct err err;
    char generation[64];
    snprintf(generation, sizeof(generation), "%s", name);
    struct checkpoint begun = {.generation = generation,
                               .mapping_fingerprint = (char[]){"m"},
                               .table_fingerprint = (char[]){"t"},
                               .source_identity = (char[]){"s"},
                               .generation_number = 1};
    ck_assert_int_eq(state_open(&state, f->path, "things", &err), 0);
    ck_assert_int_eq(checkpoint_begin_generation(state, &begun, &err), 0);
    state_close(state);
}

START_TEST(an_index_that_another_run_created_is_not_filled)
{
    struct fake f;
    fake_init(&f, 40);
    begin_a_generation(&f, "things-20231114-1");
    snprintf(f.index, sizeof(f.index), "things-20231114-1");
    snprintf(f.creator, sizeof(f.creator), "another");
    sync_ok(&f, NULL);
    ck_assert_str_eq(f.index, "things-20231114-2");
    ck_assert(fake_equal(&f));
    fake_release(&f);
}
END_TEST

/* At the next write the service creates a new index of that name. */
static void delete_during_copy(struct fake *f, size_t page)
{
    if (page == 2) {
        memset(f->documents, 0, sizeof(f->documents));
        snprintf(f->uuid, sizeof(f->uuid), "created by a write");
    }
}

START_TEST(an_index_deleted_during_the_first_load_is_not_shown_to_anybody)
{
    struct fake f;
    struct err err;
    fake_init(&f, 40);
    f.between_pages = delete_during_copy;
    ck_assert_int_eq(fake_sync(&f, NULL, &err), ERR_STATE);
    ck_assert_str_eq(f.alias, "");
    f.between_pages = NULL;
    sync_ok(&f, NULL);
    ck_assert(fake_equal(&f));
    ck_assert_str_eq(f.alias, "things-20231114-2");
    fake_release(&f);
}
END_TEST

START_TEST(an_index_deleted_during_a_later_sync_is_named_at_its_end)
{
    struct fake f;
    struct err err;
    fake_init(&f, 40);
    sync_ok(&f, NULL);
    for (size_t i = 0; i < 40; i++) {
        fake_write(&f, i, 7);
    }
    f.between_pages = delete_during_copy;
    ck_assert_int_eq(fake_sync(&f, NULL, &err), ERR_STATE);
    fake_release(&f);
}
END_TEST

/* It used to be filled to the end, and the new alias pointed at an index with the old name. */
START_TEST(a_half_built_index_is_given_up_where_the_alias_was_renamed)
{
    struct fake f;
    struct err err;
    struct pipeline_result result;
    fake_init(&f, 40);
    f.fail_requests = 1000000;
    ck_assert_int_eq(fake_sync(&f, NULL, &err), ERR_TRANSIENT);
    ck_assert_msg(strncmp(f.index, "things-", 7) == 0, "%s", f.index);
    f.fail_requests = 0;
    f.to_index = "things-of-mine";
    sync_ok(&f, &result);
    ck_assert_msg(strncmp(f.alias, "things-of-mine-", 15) == 0, "%s", f.alias);
    ck_assert_str_eq(result.generation, f.alias);
    ck_assert(fake_equal(&f));
    fake_release(&f);
}
END_TEST

/* With two pipelines of the same name and alias, the second used to take the alias from the
 * first. */
START_TEST(an_alias_of_another_database_is_not_taken)
{
    struct fake f;
    struct err err;
    fake_init(&f, 40);
    sync_ok(&f, NULL);
    char first[256];
    snprintf(first, sizeof(first), "%s", f.alias);
    fake_lose_state(&f);
    f.source = "2/fake";
    ck_assert_int_eq(fake_sync(&f, NULL, &err), ERR_REJECTED);
    ck_assert_ptr_nonnull(strstr(err.message, "which was built from another database"));
    ck_assert_str_eq(f.alias, first);
    f.alias[0] = '\0'; /* as the hint recommends */
    sync_ok(&f, NULL);
    ck_assert(fake_equal(&f));
    fake_release(&f);
}
END_TEST

SUITE_MAIN("engine/pipeline", a_half_built_index_is_given_up_where_the_alias_was_renamed,
           an_alias_of_another_database_is_not_taken, first_sync_builds_and_swaps,
           second_sync_sends_nothing, a_sync_that_was_refused_leaves_the_versions_at_the_time_it_is,
           many_syncs_leave_the_versions_at_the_time_it_is, later_sync_sends_only_changes,
           changes_during_the_first_load_arrive, a_lost_source_is_opened_again,
           unanswered_requests_are_sent_again, only_the_refused_items_are_sent_again,
           a_request_that_is_too_large_is_sent_in_halves,
           one_rejected_document_does_not_stop_the_others_and_clears,
           a_higher_version_is_stepped_over,
           a_key_that_changes_again_while_another_writer_conflicts_with_it_does_not_hang_the_sync,
           a_clock_that_jumps_back_still_wins, a_withdrawn_right_ends_the_sync_and_nothing_is_lost,
           the_retry_budget_ends_a_sync_as_temporary,
           a_clock_that_jumps_by_hours_neither_ends_nor_prolongs_the_retry_budget,
           an_alias_moved_by_somebody_else_is_named,
           an_index_that_another_run_created_is_not_filled,
           an_index_deleted_during_the_first_load_is_not_shown_to_anybody,
           an_index_deleted_during_a_later_sync_is_named_at_its_end)
