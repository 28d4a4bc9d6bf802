/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The state file is lost during a rebuild. The unfinished generation must not hold back the change
 * log any more, while the claims of others remain.
 */
#include "generations.h"
#include "rowferry/base/text.h"
#include "stands.h"

#define ROWS 300
/* Consumers of two other pipelines: ours is a prefix of one name, the other is a prefix of ours. */
#define OTHERS                                                                                     \
    "create table others as select c.* from rowferry.consumer c, generate_series(1, 2);"           \
    "update others set name = 'articles-2' || substr(name, 9) where ctid = '(0,1)';"               \
    "update others set name = 'art' || substr(name, 9) where ctid = '(0,2)';"                      \
    "insert into rowferry.consumer select * from others"

static void lose_state(const struct world *w)
{
    char *state = scratch_path(w->dir, "state.db");
    ck_assert_int_eq(remove(state), 0);
    free(state);
}

static void sync_some(struct world *w, int times)
{
    for (int i = 0; i < times; i++) {
        struct program_result result;
        world_sync(w, 0, &result);
        program_result_release(&result);
    }
    world_expect_equal(w);
}

static int64_t consumers(const struct world *w, const char *condition)
{
    return sql_int(w->conn, "select count(*) from rowferry.consumer where %s", condition);
}

static void expect_only_live(const struct world *w)
{
    char *all = sql_text(w->conn, "select string_agg(name, ', ') from rowferry.consumer");
    char *live = generations_live(w, "shop-articles");
    char condition[300];
    snprintf(condition, sizeof(condition), "starts_with(name, 'articles/%s/')", live);
    ck_assert_msg(consumers(w, "starts_with(name, 'articles/')") == 1 &&
                      consumers(w, condition) == 1,
                  "%s; live is %s", all, live);
    free(all);
    free(live);
}

START_TEST(what_was_being_built_keeps_nothing_when_the_state_file_is_lost)
{
    static const char *const stands[] = {"batch_answered=kill@5", "rebuild_finished=kill",
                                         "rebuild_left=kill"};
    for (size_t i = 0; i < sizeof(stands) / sizeof(stands[0]); i++) {
        struct world w;
        struct program_result result;
        synced(&w, ROWS);
        world_configure(&w, SAME_PROPERTIES, SLOW_LIMITS);
        sql_exec(w.conn, OTHERS);
        stand_at(&w, stands[i], NULL);
        ck_assert_int_eq(consumers(&w, "starts_with(name, 'articles/')"), 2);
        lose_state(&w);
        sql_exec(w.conn, "delete from articles where source_id <= 10");
        sync_some(&w, 3);
        expect_only_live(&w);
        reindex(&w, 0, &result, NULL, NULL);
        program_result_release(&result);
        generations_expect(&w, 2, NULL, NULL);
        reindex(&w, 0, &result, "--rollback", NULL);
        program_result_release(&result);
        sync_some(&w, 1);
        ck_assert_int_eq(consumers(&w, "not starts_with(name, 'articles/')"), 2);
        world_stop(&w);
    }
}
END_TEST

/* The next command is the rebuild. Nothing is taken over, and the live generation becomes the
 * former one. */
START_TEST(a_rebuild_after_the_loss_lets_go_of_what_was_being_built)
{
    struct world w;
    struct program_result result;
    char of_former[300];
    synced(&w, ROWS);
    char *former = generations_live(&w, "shop-articles");
    stand_at(&w, "rebuild_finished=kill", NULL);
    lose_state(&w);
    reindex(&w, 0, &result, NULL, NULL);
    program_result_release(&result);
    sync_some(&w, 4);
    snprintf(of_former, sizeof(of_former), "starts_with(name, 'articles/%s/')", former);
    ck_assert_int_eq(consumers(&w, of_former), 1);
    ck_assert_int_eq(consumers(&w, "starts_with(name, 'articles/')"), 2); /* and the live one */
    generations_expect(&w, 2, NULL, NULL);
    free(former);
    world_stop(&w);
}
END_TEST

static void expect_way_back(struct world *w, const char *former)
{
    struct program_result result;
    char line[300];
    snprintf(line, sizeof(line), "  former        %s, live until ", former);
    expect_status(w, line);
    reindex(w, 0, &result, "--rollback", NULL);
    program_result_release(&result);
    expect_alias(w, former);
    world_expect_equal(w);
}

/* Nothing can be taken over, so sync builds another index, or reindex does. */
START_TEST(the_way_back_is_shown_after_a_loss_too)
{
    static const char *const commands[] = {"sync", "reindex"};
    for (size_t i = 0; i < 2; i++) {
        struct world w;
        struct program_result result;
        synced(&w, ROWS);
        char *former = generations_live(&w, "shop-articles");
        lose_state(&w);
        sql_exec(w.conn,
                 "delete from rowferry.consumer; delete from articles where source_id <= 9");
        rowferry_run(&result, w.config, commands[i], NULL);
        ck_assert_msg(result.exit_code == 0, "%s%s", result.out, result.err);
        program_result_release(&result);
        generations_expect(&w, 2, NULL, NULL);
        expect_way_back(&w, former);
        free(former);
        world_stop(&w);
    }
}
END_TEST

/* The live generation is continued, and the former one is identified by its own definition. */
START_TEST(the_way_back_is_shown_where_the_live_index_is_taken_over)
{
    struct world w;
    struct program_result result;
    synced(&w, ROWS);
    char *former = generations_live(&w, "shop-articles");
    reindex(&w, 0, &result, NULL, NULL);
    program_result_release(&result);
    lose_state(&w);
    sync_some(&w, 1);
    expect_way_back(&w, former);
    free(former);
    world_stop(&w);
}
END_TEST

static void copy_state(const struct world *w, const char *from, const char *to)
{
    char command[512];
    snprintf(command, sizeof(command), "cp '%s/%s' '%s/%s'", w->dir, from, w->dir, to);
    ck_assert_int_eq(system(command), 0);
}

/* The older file has recorded the definition of an index that is gone, as that of the former
 * one. */
START_TEST(a_rollback_with_an_older_state_file_works_by_the_definition_of_the_file)
{
    struct world w;
    struct program_result result;
    synced(&w, ROWS);
    world_configure(&w, OTHER_PROPERTIES, BRIEF);
    reindex(&w, 0, &result, NULL, NULL);
    program_result_release(&result);
    copy_state(&w, "state.db", "older.db");
    reindex(&w, 0, &result, NULL, NULL);
    program_result_release(&result);
    copy_state(&w, "older.db", "state.db");
    sql_exec(w.conn, "update articles set title = 'after' where source_id = 7");
    reindex(&w, 0, &result, "--rollback", NULL);
    program_result_release(&result);
    expect_live(&w, "-3");
    world_sync(&w, 0, &result);
    program_result_release(&result);
    world_expect_equal(&w);
    world_stop(&w);
}
END_TEST

/* An initial load that is lost half-way, and one that cannot take over the live index. */
START_TEST(a_first_load_that_is_lost_keeps_nothing_either)
{
    struct world w;
    struct program_result result;
    world_start(&w, ROWS, NULL);
    world_configure(&w, SAME_PROPERTIES, SLOW_LIMITS);
    world_install(&w);
    const char *argv[] = {getenv("ROWFERRY_PROGRAM"), "-c", w.config, "sync", NULL};
    struct program program;
    program_start(&program, argv,
                  (const char *const[]){"ROWFERRY_FAILPOINT=batch_answered=kill@5", NULL});
    program_finish(&program, WAIT_MS, &result);
    ck_assert_int_eq(result.exit_code, 128 + SIGKILL);
    program_result_release(&result);
    lose_state(&w);
    sync_some(&w, 3);
    expect_only_live(&w);
    lose_state(&w);
    world_configure(&w, OTHER_PROPERTIES, BRIEF);
    sync_some(&w, 3);
    expect_only_live(&w);
    world_stop(&w);
}
END_TEST

/* Another process holds it, so it is in use. */
START_TEST(what_somebody_works_as_is_not_taken_away)
{
    struct world w;
    synced(&w, ROWS);
    stand_at(&w, "rebuild_finished=kill", NULL);
    char *next = generations_next(&w, "shop-articles");
    char condition[300];
    snprintf(condition, sizeof(condition), "starts_with(name, 'articles/%s/')", next);
    PGconn *other = sql_open(w.uri);
    char *name = sql_text(w.conn, "select name from rowferry.consumer order by since desc limit 1");
    uint64_t half = text_hash(name, strlen(name));
    sql_exec(other, "select pg_advisory_lock(1380927302, %d)", (int)(int32_t)(uint32_t)half);
    lose_state(&w);
    sync_some(&w, 2);
    ck_assert_int_eq(consumers(&w, condition), 1);
    PQfinish(other);
    sync_some(&w, 2);
    expect_only_live(&w);
    free(next);
    free(name);
    world_stop(&w);
}
END_TEST

SUITE_MAIN("reindex/lost_state", what_was_being_built_keeps_nothing_when_the_state_file_is_lost,
           a_rebuild_after_the_loss_lets_go_of_what_was_being_built,
           the_way_back_is_shown_after_a_loss_too,
           the_way_back_is_shown_where_the_live_index_is_taken_over,
           a_rollback_with_an_older_state_file_works_by_the_definition_of_the_file,
           a_first_load_that_is_lost_keeps_nothing_either, what_somebody_works_as_is_not_taken_away)
