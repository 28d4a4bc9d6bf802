/* SPDX-License-Identifier: Apache-2.0 */
/* What `status` says of a pipeline that no longer works, whether a process holds it or not. */
#include "listens.h"

/* Expects this state, cause and next step, and never "equal now". */
static void expect_trouble(const struct world *w, const char *state, const char *cause,
                           const char *next)
{
    char json[64];
    struct program_result result;
    snprintf(json, sizeof(json), "\"state\":\"%s\"", state);
    rowferry_run(&result, w->config, "status", "--json", NULL);
    expect_text(result.out, json);
    expect_text(result.out, "\"cause\":\"");
    expect_text(result.out, cause);
    program_result_release(&result);
    rowferry_run(&result, w->config, "status", "articles", NULL);
    ck_assert_msg(strstr(result.out, ", now") == NULL, "%s", result.out);
    ck_assert_msg(strstr(result.out, " 0 entries") == NULL, "%s", result.out);
    const char *at = strstr(result.out, "  next ");
    ck_assert_msg(at != NULL && strstr(at, next) != NULL, "%s", result.out);
    program_result_release(&result);
}

static void expect_equal_now(const struct world *w)
{
    expect_status(w, "articles", "Z, now");
}

/* Expects these texts in one line of `check`, and this exit code. */
static void expect_check(const struct world *w, int code, const char *what, const char *text)
{
    struct program_result result;
    rowferry_run(&result, w->config, "check", NULL);
    ck_assert_msg(result.exit_code == code, "%s%s", result.out, result.err);
    const char *at = strstr(result.out, what);
    const char *end = at != NULL ? strchr(at, '\n') : NULL;
    const char *found = at != NULL ? strstr(at, text) : NULL;
    ck_assert_msg(found != NULL && found < end, "%s", result.out);
    program_result_release(&result);
}

START_TEST(without_a_process_status_says_that_changes_are_missed)
{
    struct world w;
    world_start(&w, 10, NULL);
    world_install(&w);
    rowferry_expect(0, w.config, "sync", NULL);
    expect_equal_now(&w);
    sql_exec(w.conn, "alter table articles disable trigger user; update articles set title = 'x'");
    expect_trouble(&w, "capture_broken", "is disabled", "rowferry source install articles");
    world_install(&w); /* changes are captured again, but those of before are lost */
    expect_trouble(&w, "capture_broken", "changes may have been missed", "rowferry sync articles");
    expect_check(&w, 0, "WARN  articles: change log", "changes may have been missed");
    rowferry_expect(0, w.config, "sync", NULL);
    expect_equal_now(&w);
    world_expect_equal(&w);
    sql_exec(w.conn, "drop trigger rowferry_1_insert on articles");
    expect_trouble(&w, "capture_broken", "is missing", "rowferry source install articles");
    sql_exec(w.conn, "alter table articles rename to was");
    expect_trouble(&w, "capture_broken", "does not exist", "rowferry check articles");
    sql_exec(w.conn, "create table articles (like was including all)");
    expect_trouble(&w, "capture_broken", "no triggers are installed",
                   "rowferry source install articles");
    world_install(&w);
    expect_trouble(&w, "capture_broken", "re-created", "rowferry reindex articles");
    expect_check(&w, 4, "FAIL  articles: change log", "re-created");
    world_install(&w);
    rowferry_expect(0, w.config, "reindex", "--allow-deletes", NULL);
    expect_equal_now(&w);
    sql_exec(w.conn, "delete from rowferry.consumer");
    expect_trouble(&w, "capture_broken", "does not know the consumer", "rowferry sync articles");
    expect_check(&w, 0, "WARN  articles: change log", "does not know the consumer");
    rowferry_expect(0, w.config, "sync", NULL);
    expect_equal_now(&w);
    world_stop(&w);
}
END_TEST

/* It ends with 0, because nothing went wrong. */
START_TEST(a_sync_that_was_interrupted_made_nothing_equal)
{
    struct world w;
    struct program program;
    struct program_result result, before, after;
    world_start(&w, 10, NULL);
    world_install(&w);
    rowferry_expect(0, w.config, "sync", NULL);
    sql_exec(w.conn, "update articles set title = 'x'");
    rowferry_run(&before, w.config, "status", "--json", NULL);
    world_hold_all(&w, "_bulk");
    rowferry_start(&program, w.config, "sync", NULL);
    world_await_held(&w);
    world_fault(&w, "{\"path\":\"_bulk\",\"status\":503}");
    program_signal(&program, SIGTERM);
    program_finish(&program, WAIT_MS, &result);
    ck_assert_int_eq(result.exit_code, 0);
    rowferry_run(&after, w.config, "status", "--json", NULL);
    expect_text(after.out, "\"state\":\"behind\"");
    const char *equal = strstr(before.out, "\"equal_as_of\":");
    ck_assert_ptr_nonnull(equal);
    char since[64];
    snprintf(since, sizeof(since), "%.*s", (int)strcspn(equal, ","), equal);
    expect_text(after.out, since);
    program_result_release(&result);
    program_result_release(&before);
    program_result_release(&after);
    world_stop(&w);
}
END_TEST

START_TEST(without_a_right_on_the_change_log_status_says_what_to_do)
{
    struct world w;
    world_start(&w, 10, NULL);
    char *role = sql_text(w.conn, "select 'reader_' || current_database()");
    char *uri = uri_as(w.uri, role);
    sql_exec(
        w.conn,
        "create role \"%1$s\" login password 'reader-of-one'; grant select on articles to \"%1$s\"",
        role);
    ck_assert_int_eq(setenv("PGPASSWORD", "reader-of-one", 1), 0);
    char member[512];
    snprintf(member, sizeof(member), "\"uri\": \"%s\"", uri);
    w.source = member;
    world_configure(&w, WORLD_PROPERTIES, "");
    rowferry_expect(0, w.config, "source", "install", "--as", w.uri, "--reader", role, NULL);
    rowferry_expect(0, w.config, "sync", NULL);
    expect_equal_now(&w);
    sql_exec(w.conn, "revoke usage on schema rowferry from \"%s\"", role);
    expect_trouble(&w, "capture_broken", "permission denied", "grant usage on schema rowferry to ");
    sql_exec(w.conn, "drop owned by \"%1$s\"; drop role \"%1$s\"", role);
    unsetenv("PGPASSWORD");
    free(role);
    free(uri);
    world_stop(&w);
}
END_TEST

START_TEST(a_stopped_run_that_is_killed_stays_known_until_a_sync_succeeds)
{
    struct world w;
    struct program p;
    struct program_result result;
    world_start(&w, 10, NULL);
    world_install(&w);
    start_run(&w, &p);
    sql_exec(w.conn, "alter table articles rename title to heading");
    program_await(&p, "event=stopped", WAIT_MS);
    expect_trouble(&w, "stalled", "has no column", "rowferry resume articles");
    stop_run(&p, SIGKILL, 128 + SIGKILL, &result);
    program_result_release(&result);
    world_await_free(&w);
    expect_trouble(&w, "failed", "has no column", "rowferry check articles");
    expect_status(&w, "articles", "run: was killed, or the machine failed: ");
    rowferry_run(&result, w.config, "check", NULL);
    expect_text(result.out, "was killed after it had stopped with exit code ");
    program_result_release(&result);
    sql_exec(w.conn, "alter table articles rename heading to title");
    rowferry_expect(0, w.config, "sync", NULL);
    expect_equal_now(&w);
    world_stop(&w);
}
END_TEST

START_TEST(a_run_that_recovered_and_is_killed_did_not_fail)
{
    struct world w;
    struct program p;
    struct program_result result;
    world_start(&w, 10, NULL);
    world_install(&w);
    start_run(&w, &p);
    sql_exec(w.conn, "alter table articles rename title to heading; update articles set price = 1");
    program_await(&p, "event=stopped", WAIT_MS);
    sql_exec(w.conn, "alter table articles rename heading to title");
    rowferry_expect(0, w.config, "resume", NULL);
    program_await(&p, "event=goes_on", WAIT_MS);
    stop_run(&p, SIGKILL, 128 + SIGKILL, &result);
    program_result_release(&result);
    world_await_free(&w);
    expect_equal_now(&w);
    world_stop(&w);
}
END_TEST

START_TEST(a_service_that_goes_away_is_named_before_a_change_waits_and_while_one_does)
{
    struct world w;
    struct listens l;
    char *data = scratch_new();
    world_start(&w, 10, (const char *const[]){"--data", data, NULL});
    char *key = scratch_path(w.dir, "key");
    world_install(&w);
    listens_start(&l, &w);
    listens_await(&l, "/readyz", 200, "");
    int port = w.service.port;
    devsearch_stop(&w.service);
    program_await(&l.program, "event=away pipeline=articles side=service", WAIT_MS);
    listens_await(&l, "/readyz", 503, "the service is unreachable");
    listens_expect(&l, "/metrics", 200, "rowferry_service_up{pipeline=\"articles\"} 0\n");
    listens_expect(&l, "/status", 200, "\"cause\":\"the service is unreachable: ");
    await_status(&w, "articles", "  state         equal: the service is unreachable: ");
    expect_status(&w, "articles", "  next          rowferry check articles\n");
    set_title(&w, 5, "meanwhile");
    await_status(&w, "articles", "  state         behind: the service is unreachable: ");
    devsearch_start_at(
        &w.service, port,
        (const char *const[]){"--api-key-file", key, "--data", data, "--faults", NULL});
    await_title(&w, 5, "meanwhile");
    program_await(&l.program, "event=back pipeline=articles side=service", WAIT_MS);
    await_status(&w, "articles", "  state         equal\n");
    listens_await(&l, "/readyz", 200, "");
    world_fault(&w, "{\"status\": 503, \"path\": \"/shop-articles\", \"count\": 1000}");
    listens_await(&l, "/status", 200, "\"cause\":\"the service accepts nothing: it answers 503");
    world_unfault(&w);
    listens_await(&l, "/readyz", 200, ""); /* without a change */
    listens_await(&l, "/status", 200, "\"cause\":null");
    end_run(&l.program);
    free(key);
    world_stop(&w);
    scratch_remove(data);
}
END_TEST

SUITE_MAIN("run/status", a_service_that_goes_away_is_named_before_a_change_waits_and_while_one_does,
           a_stopped_run_that_is_killed_stays_known_until_a_sync_succeeds,
           a_run_that_recovered_and_is_killed_did_not_fail,
           a_sync_that_was_interrupted_made_nothing_equal,
           without_a_process_status_says_that_changes_are_missed,
           without_a_right_on_the_change_log_status_says_what_to_do)
