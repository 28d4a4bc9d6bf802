/* SPDX-License-Identifier: Apache-2.0 */
/* on_schema_change: a rebuild is started by the configuration if the definition has changed. */
#include "rebuilds.h"

/* Writes the world's configuration with that option. */
static void rebuilds_by_itself(struct world *w, const char *properties)
{
    char command[512];
    world_configure(w, properties, BRIEF);
    snprintf(command, sizeof(command),
             "sed -i '0,/{/s//{ \"on_schema_change\": \"rebuild\",/' '%s'", w->config);
    ck_assert_int_eq(system(command), 0);
}

START_TEST(a_sync_that_meets_a_changed_type_builds_another_index)
{
    struct world w;
    struct program_result result;
    synced(&w, 500);
    rebuilds_by_itself(&w, OTHER_PROPERTIES);
    sql_exec(w.conn, "update articles set title = 'after' where source_id = 20;"
                     "delete from articles where source_id = 21");
    rowferry_run(&result, w.config, "sync", NULL);
    ck_assert_msg(result.exit_code == 0, "%d: %s%s", result.exit_code, result.out, result.err);
    expect_text(result.err, "event=schema_changed pipeline=articles");
    expect_text(result.out, "articles: rebuilt as shop-articles-");
    program_result_release(&result);
    expect_live(&w, "-2");
    world_expect_equal(&w);
    rowferry_run(&result, w.config, "sync", NULL);
    expect_text(result.out, "articles: nothing to do");
    program_result_release(&result);
    world_stop(&w);
}
END_TEST

START_TEST(a_run_that_meets_a_changed_column_builds_another_index_and_follows_it)
{
    struct world w;
    struct program p;
    struct program_result result;
    synced(&w, 500);
    rebuilds_by_itself(&w, SAME_PROPERTIES);
    rowferry_start(&p, w.config, "run", NULL);
    program_await(&p, "event=following", WAIT_MS);
    sql_exec(w.conn, "alter table articles alter column title type varchar(90)");
    program_await(&p, "event=rebuilt pipeline=articles", WAIT_MS);
    sql_exec(w.conn, "update articles set title = 'after' where source_id = 20");
    await_title(&w, 20, "after");
    expect_live(&w, "-2");
    world_expect_equal(&w);
    program_signal(&p, SIGTERM);
    finish(&p, 0, &result);
    program_result_release(&result);
    world_stop(&w);
}
END_TEST

/* A mapping that does not fit the rows: refused once, and the live index stays in use. */
START_TEST(a_rebuild_that_is_refused_is_not_begun_again_and_again)
{
    struct world w;
    struct program_result result;
    synced(&w, 500);
    rebuilds_by_itself(&w, "\"title\":{\"type\":\"keyword\"},\"price\":{\"type\":\"nothing\"},"
                           "\"published\":{\"type\":\"boolean\"}");
    rowferry_run(&result, w.config, "sync", NULL);
    ck_assert_msg(result.exit_code == 1 || result.exit_code == 2, "%d: %s%s", result.exit_code,
                  result.out, result.err);
    program_result_release(&result);
    expect_live(&w, "-1");
    world_configure(&w, SAME_PROPERTIES, BRIEF);
    rowferry_run(&result, w.config, "reindex", "--abort", NULL);
    program_result_release(&result);
    world_sync(&w, 0, &result);
    program_result_release(&result);
    expect_live(&w, "-1");
    world_expect_equal(&w);
    world_stop(&w);
}
END_TEST

SUITE_MAIN("reindex/schema", a_sync_that_meets_a_changed_type_builds_another_index,
           a_run_that_meets_a_changed_column_builds_another_index_and_follows_it,
           a_rebuild_that_is_refused_is_not_begun_again_and_again)
