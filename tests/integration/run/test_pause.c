/* SPDX-License-Identifier: Apache-2.0 */
/* A paused pipeline is not written by any command, and continues from its position. */
#include "runs.h"

static void says(const char *config, int exit_code, const char *words, const char *command,
                 const char *operand)
{
    struct program_result result;
    rowferry_run(&result, config, command, operand, NULL);
    ck_assert_msg(result.exit_code == exit_code, "%s ended with %d: %s%s", command,
                  result.exit_code, result.out, result.err);
    ck_assert_msg(strstr(result.out, words) != NULL || strstr(result.err, words) != NULL,
                  "no \"%s\" in: %s%s", words, result.out, result.err);
    program_result_release(&result);
}

static void paused_world(struct world *w, struct program *p)
{
    world_start(w, 300, NULL);
    world_install(w);
    start_run(w, p);
    says(w->config, 0, "articles: paused since", "pause", NULL);
    sql_exec(w->conn, "update articles set title = 'changed' where source_id <= 50;"
                      "delete from articles where source_id = 60");
}

static void expect_unchanged(const struct world *w)
{
    ck_assert(has_title(w->service.url, "shop-articles", 7, "title 7"));
    ck_assert(has_title(w->service.url, "shop-articles", 60, "title 60"));
}

static void resume(struct world *w)
{
    says(w->config, 0, "articles: resumed", "resume", NULL);
    await_title(w, 50, "changed");
    world_await_settled(w);
    world_expect_equal(w);
}

START_TEST(what_changes_in_a_pause_arrives_after_it)
{
    struct world w;
    struct program p;
    paused_world(&w, &p);
    program_await(&p, "event=paused pipeline=articles", WAIT_MS);
    expect_status(&w, "articles", "state         paused since");
    says(w.config, 0, "was paused already since", "pause", "articles");
    says(w.config, 1, "is paused since", "resync", "7");
    says(w.config, 1, "is paused since", "reindex", NULL);
    says(w.config, 5, "is held by", "sync", NULL);
    expect_unchanged(&w);
    resume(&w);
    says(w.config, 0, "was not paused", "resume", "articles");
    set_title(&w, 3, "after");
    await_title(&w, 3, "after");
    end_run(&p);
    world_stop(&w);
}
END_TEST

START_TEST(a_pause_outlives_the_process_and_holds_for_all)
{
    struct world w;
    struct program p;
    struct program_result result;
    paused_world(&w, &p);
    stop_run(&p, SIGKILL, 128 + SIGKILL, &result);
    program_result_release(&result);
    says(w.config, 1, "is paused since", "sync", NULL);
    says(w.config, 1, "is paused since", "resync", "7");
    says(w.config, 1, "is paused since", "reindex", NULL);
    expect_unchanged(&w);
    rowferry_start(&p, w.config, "run", NULL);
    program_await(&p, "event=paused pipeline=articles", WAIT_MS);
    program_signal(&p, SIGHUP);
    program_await(&p, "event=configuration_read", WAIT_MS);
    expect_unchanged(&w);
    resume(&w);
    end_run(&p);
    says(w.config, 0, "articles: paused since", "pause", NULL);
    says(w.config, 0, "was paused already", "pause", NULL);
    says(w.config, 0, "resumed, was paused since", "resume", NULL);
    says(w.config, 0, "was not paused", "resume", NULL);
    says(w.config, 0, "articles", "sync", NULL);
    world_stop(&w);
}
END_TEST

START_TEST(a_paused_run_ends_at_once_and_well)
{
    struct world w;
    struct program p;
    paused_world(&w, &p);
    end_run(&p);
    expect_unchanged(&w);
    says(w.config, 0, "articles: resumed", "resume", NULL);
    says(w.config, 0, "articles", "sync", NULL);
    world_expect_equal(&w);
    world_stop(&w);
}
END_TEST

START_TEST(a_first_load_pauses_and_goes_on)
{
    struct world w;
    struct program p;
    world_start(&w, 3000, NULL);
    world_configure(&w, RUNS_PROPERTIES, "\"batch_operations\": 100, \"in_flight\": 1");
    world_install(&w);
    world_fault(&w, "{\"path\":\"_bulk\",\"delay_ms\":300,\"count\":1000}");
    rowferry_start(&p, w.config, "run", NULL);
    program_await(&p, "event=sync_started", WAIT_MS);
    says(w.config, 0, "articles: paused since", "pause", NULL);
    sql_exec(w.conn, "update articles set title = 'changed' where source_id <= 50");
    says(w.config, 0, "articles: resumed", "resume", NULL);
    await_title_in(&w, "shop-articles", 50, "changed", WAIT_MS);
    program_await(&p, "event=following", WAIT_MS);
    world_await_settled(&w);
    world_expect_equal(&w);
    end_run(&p);
    world_stop(&w);
}
END_TEST

START_TEST(what_the_guard_stopped_can_be_paused_and_is_counted_again_after_it)
{
    struct world w;
    struct program p;
    world_start(&w, 1000, NULL);
    world_install(&w);
    start_run(&w, &p);
    sql_exec(w.conn, "create table kept as select * from articles;"
                     "delete from articles where source_id > 400");
    program_await(&p, "event=guard pipeline=articles", WAIT_MS);
    says(w.config, 0, "articles: paused since", "pause", NULL);
    says(w.config, 1, "is paused since", "sync", "--allow-deletes");
    ck_assert(has_title(w.service.url, "shop-articles", 999, "title 999"));
    sql_exec(w.conn, "insert into articles select * from kept on conflict do nothing");
    says(w.config, 0, "articles: resumed", "resume", NULL);
    set_title(&w, 900, "after");
    await_title(&w, 900, "after");
    world_await_settled(&w);
    world_expect_equal(&w);
    end_run(&p);
    world_stop(&w);
}
END_TEST

START_TEST(a_rebuild_waits_for_the_end_of_a_pause)
{
    struct world w;
    struct program p;
    struct program asker;
    struct program_result result;
    world_start(&w, 3000, NULL);
    world_configure(&w, RUNS_PROPERTIES, "\"batch_operations\": 100, \"in_flight\": 1");
    world_install(&w);
    start_run(&w, &p);
    world_fault(&w, "{\"path\":\"_bulk\",\"delay_ms\":2000}");
    rowferry_start(&asker, w.config, "reindex", NULL);
    program_await(&p, "event=generation_created pipeline=articles index=shop-articles-", WAIT_MS);
    program_await(&p, "event=rebuild_wanted", WAIT_MS);
    await_status(&w, "articles", "rebuild");
    says(w.config, 0, "articles: paused since", "pause", NULL);
    program_finish(&asker, WAIT_MS, &result);
    ck_assert_msg(result.exit_code == 1, "%d: %s", result.exit_code, result.err);
    expect_text(result.err, "is paused since");
    program_result_release(&result);
    sql_exec(w.conn, "update articles set title = 'changed' where source_id <= 50");
    world_unfault(&w);
    says(w.config, 0, "articles: resumed", "resume", NULL);
    program_await(&p, "event=rebuilt", WAIT_MS);
    await_title_in(&w, "shop-articles", 50, "changed", WAIT_MS);
    world_await_settled(&w);
    world_expect_equal(&w);
    end_run(&p);
    world_stop(&w);
}
END_TEST

SUITE_MAIN("run/pause", what_changes_in_a_pause_arrives_after_it,
           a_pause_outlives_the_process_and_holds_for_all, a_paused_run_ends_at_once_and_well,
           a_first_load_pauses_and_goes_on,
           what_the_guard_stopped_can_be_paused_and_is_counted_again_after_it,
           a_rebuild_waits_for_the_end_of_a_pause)
