/* SPDX-License-Identifier: Apache-2.0 */
/* Changes stopped by the guard, with another process as holder, continue when a person permits
 * them. */
#include "runs.h"

static void allow(const struct world *w, const char *what, int exit_code,
                  struct program_result *result)
{
    rowferry_run(result, w->config, "sync", "--json", what, NULL);
    ck_assert_msg(result->exit_code == exit_code, "%d: %s%s", result->exit_code, result->out,
                  result->err);
}

static void expect_refused(const struct world *w, const char *what, const char *words,
                           const char *hint)
{
    struct program_result result;
    allow(w, what, 5, &result);
    expect_text(result.err, words);
    expect_text(result.err, "is held by process");
    expect_text(result.err, hint);
    program_result_release(&result);
}

START_TEST(what_the_guard_refused_goes_on_once_it_is_permitted)
{
    struct world w;
    struct program p;
    struct program_result result;
    world_start(&w, 1000, NULL);
    world_install(&w);
    start_run(&w, &p);
    sql_exec(w.conn, "delete from articles where source_id > 400");
    program_await(&p, "event=guard pipeline=articles", WAIT_MS);
    expect_status(&w, "articles", "working       guard");
    expect_status(&w, "articles", "stopped by the guard");
    rowferry_run(&result, w.config, "resync", "1", NULL);
    ck_assert_int_eq(result.exit_code, 1);
    expect_text(result.err, "the guard stopped the pipeline");
    expect_text(result.err,
                "rowferry sync --allow-deletes articles"); /* the hint names the remedy */
    program_result_release(&result);
    ck_assert(has_title(w.service.url, "shop-articles", 999, "title 999"));
    allow(&w, "--allow-deletes", 0, &result);
    ck_assert_int_eq(program_json_int(&result, "deletes"), 600);
    program_result_release(&result);
    world_expect_equal(&w);
    set_title(&w, 5, "after");
    await_title(&w, 5, "after");
    world_expect_equal(&w);
    end_run(&p);
    world_stop(&w);
}
END_TEST

/* Starts a run and makes the guard stop it; the table `kept` has the same rows. */
static void stopped_run(struct world *w, struct program *p, const char *sql)
{
    world_start(w, 1000, NULL);
    world_install(w);
    sql_exec(w->conn, "create table kept as select * from articles");
    start_run(w, p);
    await_status(w, "articles", "state         equal");
    sql_exec(w->conn, "%s", sql);
    program_await(p, "event=guard pipeline=articles", WAIT_MS);
}

static void put_back(const struct world *w)
{
    sql_exec(w->conn, "insert into articles select * from kept on conflict do nothing");
}

START_TEST(a_stop_ends_when_the_rows_are_put_back_and_a_plain_sync_asks)
{
    static const char *const losses[] = {"delete from articles where source_id > 400",
                                         "truncate articles"};
    for (size_t i = 0; i < 2; i++) {
        struct world w;
        struct program p;
        struct program_result result;
        stopped_run(&w, &p, losses[i]);
        expect_status(&w, "articles",
                      "restore the rows and run rowferry sync articles, or rowferry sync");
        allow(&w, NULL, 1, &result); /* counted again, and still too many */
        expect_text(result.err, "the guard stopped the pipeline");
        program_result_release(&result);
        await_status(&w, "articles",
                     "working       guard"); /* the command is answered before this */
        put_back(&w);
        allow(&w, NULL, 0, &result);
        ck_assert_int_eq(program_json_int(&result, "deletes"), 0);
        program_result_release(&result);
        set_title(&w, 900, "after");
        await_title(&w, 900, "after");
        world_expect_equal(&w);
        end_run(&p);
        world_stop(&w);
    }
}
END_TEST

START_TEST(a_stop_says_as_of_when_the_index_was_equal_last)
{
    struct world w;
    struct program p;
    struct program_result result;
    world_start(&w, 1000, NULL);
    world_install(&w);
    start_run(&w, &p);
    await_status(&w, "articles", "state         equal");
    sql_exec(w.conn, "create table at as select to_char(clock_timestamp() at time zone 'utc', "
                     "'YYYY-MM-DD\"T\"HH24:MI:SS') as t");
    set_title(&w, 900,
              "before"); /* the poll that reads it may have started before the time above */
    await_title(&w, 900, "before");
    set_title(&w, 901, "before");
    await_title(&w, 901, "before");
    sql_exec(w.conn, "delete from articles where source_id <= 400");
    program_await(&p, "event=guard pipeline=articles", WAIT_MS);
    char *since = sql_text(w.conn, "select t from at");
    rowferry_run(&result, w.config, "status", "--json", NULL);
    const char *equal = strstr(result.out, "\"equal_as_of\":\"");
    ck_assert_msg(equal != NULL, "%s", result.out);
    ck_assert_msg(strncmp(strchr(equal, ':') + 2, since, strlen(since)) >= 0, "%s: %s", since,
                  equal);
    program_result_release(&result);
    free(since);
    stop_guarded_run(&p, &result);
    program_result_release(&result);
    world_stop(&w);
}
END_TEST

START_TEST(a_stop_ends_by_itself_when_the_rows_are_put_back)
{
    struct world w;
    struct program p;
    stopped_run(&w, &p, "delete from articles where source_id > 400");
    put_back(&w);
    set_title(&w, 900, "after");
    await_title_in(&w, "shop-articles", 900, "after", 2 * WAIT_MS);
    program_await(&p, "event=goes_on pipeline=articles", WAIT_MS);
    world_await_settled(&w);
    world_expect_equal(&w);
    end_run(&p);
    world_stop(&w);
}
END_TEST

START_TEST(where_nothing_is_stopped_it_says_so)
{
    struct world w;
    struct program p;
    world_start(&w, 100, NULL);
    world_install(&w);
    start_run(&w, &p);
    expect_refused(&w, "--allow-deletes", "nothing is stopped by the guard",
                   "or says why it cannot: rowferry status articles\n");
    expect_refused(&w, "--allow-rejections", "nothing is stopped by the guard",
                   "or says why it cannot: rowferry status articles\n");
    set_title(&w, 5, "unmoved");
    await_title(&w, 5, "unmoved");
    end_run(&p);
    world_stop(&w);
}
END_TEST

START_TEST(rejections_that_are_permitted_become_dead_letters_and_it_follows)
{
    struct world w;
    struct program p;
    struct program_result result;
    world_start(&w, 600, NULL);
    world_configure(&w, "\"title\":{\"type\":\"long\"}", "");
    sql_exec(w.conn, "update articles set title = source_id");
    world_install(&w);
    start_run(&w, &p);
    sql_exec(w.conn, "update articles set title = 'words' where source_id <= 300");
    program_await(&p, "event=guard pipeline=articles", WAIT_MS);
    expect_refused(&w, "--allow-deletes", "for rejections, not for deletes",
                   "hint: run: rowferry sync --allow-rejections articles\n");
    allow(&w, "--allow-rejections", 3, &result);
    ck_assert_int_eq(program_json_int(&result, "rejected"), 300);
    ck_assert_int_eq(program_json_int(&result, "dead_letters"), 300);
    program_result_release(&result);
    sql_exec(w.conn, "update articles set title = '77' where source_id = 500");
    await_title(&w, 500, "77");
    end_run(&p);
    world_stop(&w);
}
END_TEST

START_TEST(more_deletes_than_were_permitted_stop_it_again_and_the_asker_hears_it)
{
    struct world w;
    struct program p;
    struct program_result result;
    world_start(&w, 2000, NULL);
    world_install(&w);
    start_run(&w, &p);
    sql_exec(w.conn, "delete from articles where source_id > 1500");
    program_await(&p, "event=guard pipeline=articles", WAIT_MS);
    sql_exec(w.conn, "delete from articles where source_id > 700");
    allow(&w, "--allow-deletes", 1, &result);
    expect_text(result.err, "would delete 1300 of 2000 documents");
    expect_text(result.err, "rowferry sync --allow-deletes articles");
    program_result_release(&result);
    ck_assert(has_title(w.service.url, "shop-articles", 1999, "title 1999"));
    allow(&w, "--allow-deletes", 0, &result);
    ck_assert_int_eq(program_json_int(&result, "deletes"), 1300);
    program_result_release(&result);
    world_expect_equal(&w);
    end_run(&p);
    world_stop(&w);
}
END_TEST

/* The holder is a sync. It either takes the permission, or ends and the command does the work. */
START_TEST(a_sync_that_is_about_to_stop_leaves_no_permission_unanswered)
{
    struct world w;
    struct program p;
    struct program_result result;
    world_start(&w, 1000, NULL);
    world_install(&w);
    world_sync(&w, 0, &result);
    program_result_release(&result);
    sql_exec(w.conn, "delete from articles where source_id > 400");
    world_sync(&w, 1, &result);
    program_result_release(&result);
    world_fault(&w, "{\"path\":\"_count\",\"delay_ms\":1500,\"count\":1}");
    rowferry_start(&p, w.config, "sync", NULL);
    program_await(&p, "event=sync_started", WAIT_MS);
    allow(&w, "--allow-deletes", 0, &result);
    ck_assert_int_eq(program_json_int(&result, "deletes"), 600);
    program_result_release(&result);
    program_finish(&p, WAIT_MS, &result);
    ck_assert_msg(result.exit_code == 0 || result.exit_code == 1, "%d: %s", result.exit_code,
                  result.err);
    program_result_release(&result);
    world_expect_equal(&w);
    world_stop(&w);
}
END_TEST

START_TEST(what_is_withdrawn_permits_nothing_later)
{
    struct world w;
    struct program p;
    struct program q;
    struct program_result result;
    world_start(&w, 1000, NULL);
    world_install(&w);
    world_sync(&w, 0, &result);
    program_result_release(&result);
    sql_exec(w.conn, "delete from articles where source_id > 400");
    world_sync(&w, 1, &result);
    program_result_release(&result);
    world_hold(&w, "/");
    rowferry_start(&p, w.config, "sync", NULL);
    world_await_held(&w);
    await_status(&w, "articles", "(\"sync\" since");
    rowferry_start(&q, w.config, "sync", "--allow-deletes", NULL);
    program_await(&q, "event=request_filed", WAIT_MS);
    stop_run(&q, SIGINT, 0, &result);
    program_result_release(&result);
    world_unfault(&w);
    program_finish(&p, WAIT_MS, &result);
    ck_assert_int_eq(result.exit_code, 1);
    program_result_release(&result);
    world_sync(&w, 1, &result);
    program_result_release(&result);
    ck_assert(has_title(w.service.url, "shop-articles", 999, "title 999"));
    world_stop(&w);
}
END_TEST

SUITE_MAIN("integration/permission", what_the_guard_refused_goes_on_once_it_is_permitted,
           a_stop_ends_when_the_rows_are_put_back_and_a_plain_sync_asks,
           a_stop_says_as_of_when_the_index_was_equal_last,
           a_stop_ends_by_itself_when_the_rows_are_put_back, where_nothing_is_stopped_it_says_so,
           rejections_that_are_permitted_become_dead_letters_and_it_follows,
           more_deletes_than_were_permitted_stop_it_again_and_the_asker_hears_it,
           a_sync_that_is_about_to_stop_leaves_no_permission_unanswered,
           what_is_withdrawn_permits_nothing_later)
