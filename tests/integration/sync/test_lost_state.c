/* SPDX-License-Identifier: Apache-2.0 */
/* The state file is lost or old: the source has its checkpoint backup, unless that would be wrong.
 * Uses its own server, because pruning of the log depends on every transaction of the server. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cluster.h"
#include "sql.h"
#include "suite.h"
#include "world.h"

static void synced_world(struct world *w, long rows)
{
    struct program_result result;
    world_start(w, rows, NULL);
    world_install(w);
    world_sync(w, 0, &result);
    program_result_release(&result);
}

static void lose_state(const struct world *w)
{
    char *state = scratch_path(w->dir, "state.db");
    ck_assert_int_eq(remove(state), 0);
    free(state);
}

/* Expects that a sync reports `event` and sends this number of operations. */
static void sync_says(struct world *w, int exit_code, const char *event, int64_t operations)
{
    struct program_result result;
    world_sync(w, exit_code, &result);
    ck_assert_msg(strstr(result.err, event) != NULL, "%s", result.err);
    ck_assert_int_eq(program_json_int(&result, "operations"), operations);
    program_result_release(&result);
}

static void expect_one_consumer(const struct world *w)
{
    ck_assert_int_eq(sql_int(w->conn, "select count(*) from rowferry.consumer"), 1);
}

START_TEST(only_changes_travel_after_the_state_file_was_lost)
{
    struct world w;
    synced_world(&w, 500);
    for (int i = 0; i < 2; i++) {
        lose_state(&w);
        sql_exec(w.conn, "update articles set title = title || '!' where source_id <= 100");
        sync_says(&w, 0, "mirror_taken_over", 100);
        world_expect_equal(&w);
    }
    expect_one_consumer(&w);
    world_stop(&w);
}
END_TEST

START_TEST(open_dead_letters_outlive_the_state_file)
{
    struct world w;
    struct program_result result;
    world_start(&w, 50, NULL);
    world_configure(&w, "\"title\":{\"type\":\"long\"}", "");
    sql_exec(w.conn, "update articles set title = source_id");
    sql_exec(w.conn, "update articles set title = 'no number' where source_id in (7, 8)");
    world_install(&w);
    world_sync(&w, 3, &result);
    program_result_release(&result);
    sql_exec(w.conn, "update articles set title = '8' where source_id = 8");
    lose_state(&w);
    rowferry_run(&result, w.config, "deadletter", "list", NULL);
    ck_assert_msg(strstr(result.out, "has no position yet") != NULL, "%s", result.out);
    program_result_release(&result);
    sync_says(&w, 3, "mirror_taken_over", 1);
    rowferry_run(&result, w.config, "deadletter", "show", "7", NULL);
    ck_assert_msg(result.exit_code == 0 && strstr(result.out, "mapper_parsing_exception") != NULL,
                  "%s%s", result.out, result.err);
    program_result_release(&result);
    rowferry_run(&result, w.config, "deadletter", "show", "8", NULL);
    ck_assert_int_ne(result.exit_code, 0);
    program_result_release(&result);
    sql_exec(w.conn, "update articles set title = '7' where source_id = 7");
    sync_says(&w, 0, "sync_ended", 1); /* 3 without the dead letter */
    world_stop(&w);
}
END_TEST

START_TEST(another_mapping_builds_a_new_generation)
{
    struct world w;
    synced_world(&w, 500);
    lose_state(&w);
    world_configure(&w, "\"title\":{\"type\":\"keyword\"}", "");
    sql_exec(w.conn, "delete from articles where source_id <= 100");
    sync_says(&w, 0, "it was built with another mapping or ingest pipeline", 400);
    sync_says(&w, 0, "sync_ended", 0);
    /* the replaced generation no longer keeps entries of the change log */
    expect_one_consumer(&w);
    world_stop(&w);
}
END_TEST

START_TEST(a_mirror_that_is_behind_repeats_and_loses_nothing)
{
    struct world w;
    synced_world(&w, 100);
    /* keeps the log, like an old transaction */
    PGconn *pin = sql_open(w.uri);
    sql_exec(pin, "begin; update articles set title = 'pin' where source_id = 90");
    sql_exec(w.conn, "update articles set title = 'one' where source_id = 1");
    sync_says(&w, 0, "sync_ended", 1);
    sql_exec(w.conn, "create table was as select * from rowferry.consumer");
    sql_exec(w.conn, "update articles set title = 'two' where source_id = 2");
    sync_says(&w, 0, "sync_ended", 1);
    sql_exec(w.conn, "update rowferry.consumer c set position = was.position, keep = was.keep, "
                     "clock = was.clock from was where was.name = c.name");
    lose_state(&w);
    sync_says(&w, 0, "mirror_taken_over", 1); /* again */
    sql_exec(pin, "commit");
    sync_says(&w, 0, "sync_ended", 1);
    world_expect_equal(&w);
    PQfinish(pin);
    world_stop(&w);
}
END_TEST

static void copy_file(const char *from, const char *to)
{
    char command[1100];
    snprintf(command, sizeof(command), "cp '%s' '%s'", from, to);
    ck_assert_int_eq(system(command), 0);
}

START_TEST(a_state_file_restored_from_a_copy_loses_no_change)
{
    struct world w;
    synced_world(&w, 500);
    char *state = scratch_path(w.dir, "state.db");
    char *copy = scratch_path(w.dir, "copy.db");
    /* keeps the log, so the copy's position is not behind the pruned part */
    PGconn *pin = sql_open(w.uri);
    sql_exec(pin, "begin; update articles set title = 'pin' where source_id = 400");
    sql_exec(w.conn, "insert into articles (source_id, title) values (1000, 'before the copy')");
    sync_says(&w, 0, "sync_ended", 1);
    copy_file(state, copy);
    sql_exec(w.conn, "update articles set title = 'after the copy' where source_id <= 100");
    sync_says(&w, 0, "sync_ended", 100);
    copy_file(copy, state);
    sql_exec(w.conn, "update articles set title = 'restored' where source_id <= 50");
    sql_exec(w.conn, "delete from articles where source_id between 51 and 60");
    sync_says(&w, 0, "sync_ended", 100);
    world_expect_equal(&w);
    sql_exec(pin, "commit");
    sync_says(&w, 0, "sync_ended", 1);
    world_expect_equal(&w);
    PQfinish(pin);
    free(state);
    free(copy);
    world_stop(&w);
}
END_TEST

START_TEST(a_truncated_table_is_no_less_guarded_without_the_state_file)
{
    struct world w;
    synced_world(&w, 50);
    sql_exec(w.conn, "truncate articles");
    sql_exec(w.conn, "insert into articles (source_id, title) values (1, 'first'), (2, 'second')");
    for (int i = 0; i < 2; i++) {
        sync_says(&w, 1, "was truncated, which would delete 48 of 50", 0);
        lose_state(&w);
    }
    sync_says(&w, 1, "was truncated", 0);
    world_stop(&w);
}
END_TEST

START_TEST(a_rewritten_table_is_built_anew_without_the_state_file)
{
    struct world w;
    synced_world(&w, 50);
    sql_exec(w.conn, "alter table articles alter column title type text using title || '!'");
    lose_state(&w);
    sync_says(&w, 0, "mirror_not_used", 50);
    world_expect_equal(&w);
    world_stop(&w);
}
END_TEST

START_TEST(triggers_made_anew_are_no_ground_to_go_on)
{
    struct world w;
    synced_world(&w, 50);
    sql_exec(w.conn, "alter table articles disable trigger all");
    sql_exec(w.conn, "update articles set title = 'unseen' where source_id = 3");
    world_install(&w);
    lose_state(&w);
    sync_says(&w, 0, "mirror_not_used", 50);
    world_expect_equal(&w);
    world_stop(&w);
}
END_TEST

START_TEST(an_older_copy_is_copied_again_and_may_be_lost_then)
{
    struct world w;
    synced_world(&w, 50);
    char *state = scratch_path(w.dir, "state.db");
    char *copy = scratch_path(w.dir, "copy.db");
    rename(state, copy);
    sql_exec(w.conn, "update articles set title = 'two' where source_id <= 2");
    sync_says(&w, 0, "mirror_taken_over", 2);
    rename(copy, state);
    sql_exec(w.conn, "update articles set title = 'three' where source_id <= 3");
    world_sync_says(&w, 0, "was pruned");
    world_expect_equal(&w);
    lose_state(&w);
    sync_says(&w, 0, "mirror_taken_over", 0);
    world_expect_equal(&w);
    free(state);
    free(copy);
    world_stop(&w);
}
END_TEST

/* Kills a sync when the state file is newer than the backup in the source. */
static void killed_before_the_mirror(const struct world *w)
{
    struct program program;
    struct program_result result;
    const char *argv[] = {getenv("ROWFERRY_PROGRAM"), "-c", w->config, "sync", NULL};
    const char *env[] = {"ROWFERRY_FAILPOINT=checkpoint_after_commit=kill", NULL};
    program_start(&program, argv, env);
    program_finish(&program, WAIT_MS, &result);
    ck_assert_msg(result.exit_code == 128 + SIGKILL, "%s", result.err);
    program_result_release(&result);
    world_await_free(w);
}

START_TEST(killed_between_checkpoint_and_mirror_nothing_is_lost_with_the_state_file)
{
    struct world w;
    synced_world(&w, 100);
    for (int i = 0; i < 3; i++) {
        sql_exec(w.conn,
                 "update articles set title = title || '!' where source_id <= 20;"
                 "delete from articles where source_id = %d",
                 40 + i);
        killed_before_the_mirror(&w);
        lose_state(&w);
        sql_exec(w.conn, "update articles set title = 'later' where source_id = 30");
        sync_says(&w, 0, "mirror_taken_over", 22);
        world_expect_equal(&w);
    }
    world_stop(&w);
}
END_TEST

START_TEST(a_dead_letter_that_was_not_mirrored_is_found_again)
{
    struct world w;
    struct program_result result;
    world_start(&w, 50, NULL);
    world_configure(&w, "\"title\":{\"type\":\"long\"}", "");
    sql_exec(w.conn, "update articles set title = source_id");
    world_install(&w);
    sync_says(&w, 0, "generation_live", 50);
    sql_exec(w.conn, "update articles set title = 'no number' where source_id = 7");
    killed_before_the_mirror(&w);
    lose_state(&w);
    sync_says(&w, 3, "mirror_taken_over", 0);
    rowferry_run(&result, w.config, "deadletter", "show", "7", NULL);
    ck_assert_msg(result.exit_code == 0, "%s", result.err);
    program_result_release(&result);
    world_stop(&w);
}
END_TEST

static void another_syncs(const char *config, int exit_code, const char *says)
{
    struct program_result result;
    rowferry_run(&result, config, "sync", NULL);
    ck_assert_msg(result.exit_code == exit_code, "ended with %d: %s", result.exit_code, result.err);
    ck_assert_msg(strstr(result.err, says) != NULL, "%s", result.err);
    program_result_release(&result);
}

START_TEST(who_still_works_with_the_index_is_not_disturbed)
{
    struct world w;
    struct program holder;
    struct program_result result;
    synced_world(&w, 300);
    char *other = world_config_of_another(&w);
    sql_exec(w.conn, "update articles set title = title || '!'");
    world_hold(&w, "_bulk");
    rowferry_start(&holder, w.config, "sync", NULL);
    world_await_held(&w);
    program_signal(&holder, SIGSTOP);
    another_syncs(other, 5, "is held by");
    program_signal(&holder, SIGCONT);
    world_unfault(&w);
    rowferry_run(&result, other, "status", NULL);
    ck_assert_msg(strstr(result.out, "not built yet") != NULL, "%s", result.out);
    program_result_release(&result);
    program_finish(&holder, WAIT_MS, &result);
    ck_assert_int_eq(result.exit_code, 0);
    program_result_release(&result);
    world_expect_equal(&w);
    another_syncs(other, 0, "mirror_taken_over");
    world_expect_equal(&w);
    free(other);
    world_stop(&w);
}
END_TEST

static void swap_files(const char *a, const char *b)
{
    char between[512];
    snprintf(between, sizeof(between), "%s.between", a);
    ck_assert_int_eq(rename(a, between), 0);
    ck_assert_int_eq(rename(b, a), 0);
    ck_assert_int_eq(rename(between, b), 0);
}

/* Uses two state files of one pipeline in turn and expects equality. Returns the number of
 * re-snapshots. */
static int used_in_turns(struct world *w, int rounds)
{
    int again = 0;
    char *state = scratch_path(w->dir, "state.db");
    char *copy = scratch_path(w->dir, "copy.db");
    copy_file(state, copy);
    for (int i = 0; i < rounds; i++) {
        struct program_result result;
        sql_exec(w->conn,
                 "update articles set title = 'round %d' where source_id %% 7 = %d;"
                 "delete from articles where source_id = %d;"
                 "insert into articles (source_id, title) values (%d, 'new')",
                 i, i % 7, 20 + i, 20 + i - (i % 3 == 0 ? -500 : 1));
        rowferry_run(&result, w->config, "sync", "--json", NULL);
        ck_assert_msg(result.exit_code == 0, "%s", result.err);
        again += strstr(result.err, "event=copied_again") != NULL;
        world_expect_equal(w);
        program_result_release(&result);
        if (i % 3 != 1) {
            swap_files(state, copy);
        }
    }
    free(state);
    free(copy);
    return again;
}

START_TEST(two_copies_of_a_state_file_used_in_turns_are_equal_while_nothing_is_pruned)
{
    struct world w;
    synced_world(&w, 100);
    PGconn *pin = sql_open(w.uri);
    sql_exec(pin, "begin; select pg_current_xact_id()");
    sql_exec(w.conn, "update articles set title = 'pinned' where source_id = 1");
    sync_says(&w, 0, "sync_ended", 1);
    ck_assert_int_eq(used_in_turns(&w, 10), 0);
    PQfinish(pin);
    world_stop(&w);
}
END_TEST

START_TEST(two_copies_of_a_state_file_used_in_turns_are_equal_and_copied_again)
{
    struct world w;
    synced_world(&w, 100);
    ck_assert_int_gt(used_in_turns(&w, 10), 0);
    lose_state(&w);
    world_sync_says(&w, 0, "mirror_taken_over");
    world_expect_equal(&w);
    world_stop(&w);
}
END_TEST

CLUSTER_MAIN("integration/lost_state", only_changes_travel_after_the_state_file_was_lost,
             open_dead_letters_outlive_the_state_file, another_mapping_builds_a_new_generation,
             a_mirror_that_is_behind_repeats_and_loses_nothing,
             a_state_file_restored_from_a_copy_loses_no_change,
             a_truncated_table_is_no_less_guarded_without_the_state_file,
             a_rewritten_table_is_built_anew_without_the_state_file,
             triggers_made_anew_are_no_ground_to_go_on,
             an_older_copy_is_copied_again_and_may_be_lost_then,
             killed_between_checkpoint_and_mirror_nothing_is_lost_with_the_state_file,
             a_dead_letter_that_was_not_mirrored_is_found_again,
             who_still_works_with_the_index_is_not_disturbed,
             two_copies_of_a_state_file_used_in_turns_are_equal_while_nothing_is_pruned,
             two_copies_of_a_state_file_used_in_turns_are_equal_and_copied_again)
