/* SPDX-License-Identifier: Apache-2.0 */
/* Another process takes over when the holder dies, is disconnected or hangs; nothing is lost. */
#include "rowferry/base/text.h"
#include "runs.h"

#define TAKEOVER_MS 100000 /* ten times the expected time */

static void start_standby(const char *config, struct program *p)
{
    rowferry_start(p, config, "run", "--wait", NULL);
    program_await(p, "event=standing_by", WAIT_MS);
}

static void kill_it(struct program *p)
{
    struct program_result result;
    program_signal(p, SIGKILL);
    program_finish(p, WAIT_MS, &result);
    program_result_release(&result);
}

static void await_takeover(struct program *p, const char *what)
{
    int64_t began_ms = deadline_now_ms();
    program_await(p, "event=took_over", TAKEOVER_MS);
    program_await(p, "event=following", TAKEOVER_MS);
    printf("takeover %s: %lld ms\n", what, (long long)(deadline_now_ms() - began_ms));
}

static void await_equal(struct world *w, int64_t id)
{
    static int number;
    char title[64];
    snprintf(title, sizeof(title), "mark %d", ++number);
    set_title(w, id, title);
    await_title(w, id, title);
    world_await_equal(w, WAIT_MS);
}

/* A holder, and another host with its own configuration and state file. */
struct pair {
    struct world w;
    char *other;
    struct program holder;
    struct program standby;
};

static void pair_open(struct pair *p, long rows)
{
    world_start(&p->w, rows, NULL);
    world_install(&p->w);
    p->other = world_config_of_another(&p->w);
}

/* Starts the holder, which follows, and the standby. */
static void pair_start(struct pair *p)
{
    start_run(&p->w, &p->holder);
    start_standby(p->other, &p->standby);
}

static void pair_close(struct pair *p)
{
    free(p->other);
    world_stop(&p->w);
}

START_TEST(a_standby_on_another_host_takes_over_from_a_killed_holder)
{
    struct pair p;
    pair_open(&p, 500);
    pair_start(&p);
    sql_exec(p.w.conn, "update articles set title = title || '!' where source_id <= 100");
    await_title(&p.w, 7, "title 7!");
    sql_exec(p.w.conn, "update articles set title = title || '?' where source_id > 400;"
                       "delete from articles where source_id between 40 and 60");
    kill_it(&p.holder);
    await_takeover(&p.standby, "on another host");
    await_equal(&p.w, 1);
    end_run(&p.standby);
    pair_close(&p);
}
END_TEST

START_TEST(a_standby_with_the_same_state_file_takes_over)
{
    struct world w;
    struct program holder;
    struct program standby;
    world_start(&w, 200, NULL);
    world_install(&w);
    start_run(&w, &holder);
    start_standby(w.config, &standby);
    set_title(&w, 3, "before");
    await_title(&w, 3, "before");
    kill_it(&holder);
    await_takeover(&standby, "on the same host");
    await_equal(&w, 2);
    end_run(&standby);
    world_stop(&w);
}
END_TEST

static int64_t version_of(const struct world *w, int64_t id)
{
    char path[64];
    struct reply reply;
    snprintf(path, sizeof(path), "/shop-articles/_doc/%lld", (long long)id);
    reply_get(&reply, "GET", w->service.url, path, NULL, "ApiKey " WORLD_API_KEY);
    const char *version = strstr(reply.body, "\"_version\":");
    ck_assert_msg(version != NULL, "%s", reply.body);
    int64_t number = strtoll(strchr(version, ':') + 1, NULL, 10);
    reply_release(&reply);
    return number;
}

/* The checkpoint backup has the holder's clock, which is five hours ahead of all others. */
START_TEST(versions_begin_above_those_of_a_holder_whose_clock_is_hours_ahead)
{
    struct pair p;
    pair_open(&p, 100);
    start_run(&p.w, &p.holder);
    await_equal(&p.w, 1);
    int64_t ahead = version_of(&p.w, 1) + INT64_C(5) * 3600 * 1000000;
    start_standby(p.other, &p.standby);
    sql_exec(p.w.conn, "update rowferry.consumer set clock = %lld", (long long)ahead);
    kill_it(&p.holder);
    await_takeover(&p.standby, "from a clock ahead");
    await_equal(&p.w, 2);
    ck_assert(version_of(&p.w, 2) > ahead);
    end_run(&p.standby);
    pair_close(&p);
}
END_TEST

START_TEST(without_wait_a_held_pipeline_is_left)
{
    struct pair p;
    struct program_result result;
    pair_open(&p, 20);
    start_run(&p.w, &p.holder);
    rowferry_run(&result, p.other, "run", NULL);
    ck_assert_msg(result.exit_code == 5, "%d: %s", result.exit_code, result.err);
    expect_text(result.err, "is held by the session");
    program_result_release(&result);
    rowferry_run(&result, p.w.config, "run", NULL);
    ck_assert_msg(result.exit_code == 5, "%d: %s", result.exit_code, result.err);
    expect_text(result.err, "is held by process");
    program_result_release(&result);
    await_equal(&p.w, 1);
    end_run(&p.holder);
    pair_close(&p);
}
END_TEST

/* The server ends this session after a while, like that of a client killed within a statement. */
static PGconn *session_of_a_killed_sync(const struct world *w)
{
    PGconn *session = sql_open(w->uri);
    char *name = sql_text(w->conn, "select name from rowferry.consumer");
    sql_exec(session,
             "set application_name = 'rowferry sync articles'; set idle_session_timeout = '700ms'; "
             "select pg_advisory_lock(1380927302, %d)",
             (int)(int32_t)(uint32_t)text_hash(name, strlen(name)));
    free(name);
    return session;
}

START_TEST(a_run_waits_for_the_session_of_a_sync_that_was_killed_just_now)
{
    struct world w;
    struct program p;
    world_start(&w, 20, NULL);
    world_install(&w);
    rowferry_expect(0, w.config, "sync", NULL);
    PGconn *killed = session_of_a_killed_sync(&w);
    start_run(&w, &p);
    await_equal(&w, 1);
    end_run(&p);
    PQfinish(killed);
    world_stop(&w);
}
END_TEST

/* Stops the holder: its server notices the silence and ends its sessions. */
static void hang_until_taken_over(struct program *holder, struct program *standby)
{
    program_signal(holder, SIGSTOP);
    await_takeover(standby, "from one that hangs");
}

START_TEST(a_holder_that_hung_finds_that_it_has_lost_the_pipeline_and_ends)
{
    struct pair p;
    struct program asker;
    struct program_result result;
    pair_open(&p, 300);
    start_run(&p.w, &p.holder);
    await_equal(&p.w, 1);
    start_standby(p.other, &p.standby);
    sql_exec(p.w.conn, "update articles set title = 'in flight' where source_id > 100");
    hang_until_taken_over(&p.holder, &p.standby);
    await_equal(&p.w, 2);
    sql_exec(p.w.conn, "update articles set title = 'by the standby' where source_id > 50");
    rowferry_start(&asker, p.w.config, "resync", "1", NULL);
    program_await(&asker, "event=request_filed", WAIT_MS);
    program_signal(&p.holder, SIGCONT);
    program_finish(&p.holder, WAIT_MS, &result);
    ck_assert_msg(result.exit_code == 5, "%d: %s", result.exit_code, result.err);
    expect_text(result.err, "event=lost pipeline=articles");
    program_result_release(&result);
    program_finish(&asker, WAIT_MS, &result); /* nobody here may carry its request out */
    ck_assert_msg(result.exit_code == 5, "%d: %s%s", result.exit_code, result.out, result.err);
    program_result_release(&result);
    await_equal(&p.w, 3);
    end_run(&p.standby);
    pair_close(&p);
}
END_TEST

START_TEST(with_wait_it_stands_by_again_and_takes_the_pipeline_back_with_what_the_other_did)
{
    struct pair p;
    pair_open(&p, 300);
    rowferry_start(&p.holder, p.w.config, "run", "--wait", NULL);
    program_await(&p.holder, "event=following", WAIT_MS);
    await_equal(&p.w, 1);
    start_standby(p.other, &p.standby);
    hang_until_taken_over(&p.holder, &p.standby);
    sql_exec(p.w.conn, "update articles set title = 'by the other' where source_id > 50;"
                       "delete from articles where source_id between 60 and 70");
    await_equal(&p.w, 2);
    program_signal(&p.holder, SIGCONT);
    program_await(&p.holder, "event=lost", WAIT_MS);
    program_await(&p.holder, "event=standing_by", WAIT_MS);
    rowferry_expect(0, p.other, "reindex", NULL);
    await_equal(&p.w, 4);
    kill_it(&p.standby);
    program_await(&p.holder, "event=took_over", TAKEOVER_MS);
    program_await(&p.holder, "event=mirror_taken_over", TAKEOVER_MS);
    await_equal(&p.w, 5);
    end_run(&p.holder);
    pair_close(&p);
}
END_TEST

static bool stands_by(const char *config)
{
    struct program_result status;
    rowferry_run(&status, config, "status", NULL);
    bool stands = strstr(status.out, "state         standing by") != NULL;
    program_result_release(&status);
    return stands;
}

START_TEST(of_two_that_start_at_the_same_time_one_builds_and_the_other_takes_over)
{
    struct world w;
    struct program one;
    struct program other;
    world_start(&w, 3000, NULL);
    world_install(&w);
    char *config = world_config_of_another(&w);
    rowferry_start(&one, w.config, "run", "--wait", NULL);
    rowferry_start(&other, config, "run", "--wait", NULL);
    await_title(&w, 1, "title 1");
    struct deadline deadline = deadline_after(WAIT_MS);
    bool first = stands_by(config);
    while (!first && !stands_by(w.config)) {
        ck_assert(deadline_wait(&deadline));
        first = stands_by(config);
    }
    kill_it(first ? &one : &other);
    await_takeover(first ? &other : &one, "of two that started together");
    await_equal(&w, 5);
    ck_assert_int_eq(sql_int(w.conn, "select count(*) from rowferry.consumer"), 1);
    end_run(first ? &other : &one);
    free(config);
    world_stop(&w);
}
END_TEST

START_TEST(a_first_load_that_was_killed_is_made_by_the_standby)
{
    struct pair p;
    pair_open(&p, 3000);
    world_fault(&p.w, "{\"path\":\"_bulk\",\"delay_ms\":2000,\"count\":100}");
    rowferry_start(&p.holder, p.w.config, "run", NULL);
    program_await(&p.holder, "event=sync_started", WAIT_MS);
    start_standby(p.other, &p.standby);
    kill_it(&p.holder);
    world_fault(&p.w, "{\"path\":\"_bulk\",\"delay_ms\":0,\"count\":100}");
    await_takeover(&p.standby, "in the first load");
    await_equal(&p.w, 5);
    end_run(&p.standby);
    pair_close(&p);
}
END_TEST

START_TEST(with_a_cursor_a_state_file_of_its_own_is_refused)
{
    struct world w;
    struct program holder;
    struct program_result result;
    world_start(&w, 50, NULL);
    world_from(&w, "\"capture\": {\"mode\": \"cursor\", \"column\": \"updated_at\", \"overlap\": "
                   "\"5s\"}");
    sql_exec(w.conn, "update articles set updated_at = now();"
                     "alter table articles alter updated_at set not null;"
                     "create index on articles (updated_at, source_id)");
    char *other = world_config_of_another(&w);
    start_run(&w, &holder);
    rowferry_run(&result, other, "run", "--wait", NULL);
    ck_assert_msg(result.exit_code == 5, "%d: %s", result.exit_code, result.err);
    expect_text(result.err, "cannot stand by with a state file of its own");
    program_result_release(&result);
    end_run(&holder);
    free(other);
    world_stop(&w);
}
END_TEST

START_TEST(who_holds_and_who_stands_by_is_shown)
{
    struct pair p;
    struct program_result result;
    pair_open(&p, 50);
    pair_start(&p);
    rowferry_run(&result, p.other, "status", NULL);
    expect_text(result.out, "state         standing by");
    expect_text(result.out, "rowferry run");
    program_result_release(&result);
    await_status(&p.w, "articles", "standby       session");
    end_run(&p.standby);
    end_run(&p.holder);
    pair_close(&p);
}
END_TEST

SUITE_MAIN("run/standby", a_standby_on_another_host_takes_over_from_a_killed_holder,
           a_standby_with_the_same_state_file_takes_over,
           versions_begin_above_those_of_a_holder_whose_clock_is_hours_ahead,
           without_wait_a_held_pipeline_is_left,
           a_run_waits_for_the_session_of_a_sync_that_was_killed_just_now,
           a_holder_that_hung_finds_that_it_has_lost_the_pipeline_and_ends,
           with_wait_it_stands_by_again_and_takes_the_pipeline_back_with_what_the_other_did,
           of_two_that_start_at_the_same_time_one_builds_and_the_other_takes_over,
           a_first_load_that_was_killed_is_made_by_the_standby,
           with_a_cursor_a_state_file_of_its_own_is_refused, who_holds_and_who_stands_by_is_shown)
