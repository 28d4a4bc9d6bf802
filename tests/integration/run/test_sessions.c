/* SPDX-License-Identifier: Apache-2.0 */
/* How many sessions of the source a run of many pipelines needs, and what happens if one of them
 * ends that all pipelines share. */
#include "lines.h"
#include "rowferry/base/buf.h"
#include "runs.h"

#define PIPELINES 30
#define SESSIONS_MOST 35
#define COMPARISONS 3 /* of each pipeline, before the largest number is taken */

static void configure_thirty(struct world *w)
{
    struct buf text;
    buf_init(&text, 65536);
    buf_printf(&text,
               "{\"accept_admin\": true, \"source\": {\"uri\": \"%s\"}, \"service\": {\"url\": "
               "\"%s\", \"auth\": {\"api_key\": {\"file\": \"%s/key\"}}}, \"state\": {\"path\": "
               "\"%s/state.db\"}, \"pipelines\": [",
               w->uri, w->service.url, w->dir, w->dir);
    for (int i = 0; i < PIPELINES; i++) {
        buf_printf(&text,
                   "%s{\"name\": \"part%d\", \"from\": {\"table\": \"public.part%d\"}, \"to\": "
                   "{\"index\": \"shop-part%d\", \"mappings\": {\"properties\": {\"title\": "
                   "{\"type\": \"text\"}}}}, \"verify\": {\"every\": \"1s\"}}",
                   i > 0 ? ", " : "", i, i, i);
        sql_exec(w->conn,
                 "create table part%d (id bigint primary key, title text);"
                 "insert into part%d select i, 'row ' || i from generate_series(1, 20) i",
                 i, i);
    }
    buf_push_text(&text, "]}");
    free(w->config);
    w->config = scratch_write(w->dir, "thirty.json", buf_text(&text));
    buf_release(&text);
}

static void await_title_in_all(const struct world *w, const char *title)
{
    for (int i = 0; i < PIPELINES; i++) {
        char index[32];
        snprintf(index, sizeof(index), "shop-part%d", i);
        await_title_in(w, index, 7, title, WAIT_MS);
    }
}

static int64_t session_count(const struct world *w)
{
    return sql_int(w->conn,
                   "select count(*) from pg_stat_activity where datname = current_database() and "
                   "application_name like 'rowferry %%'");
}

static void await_no_session(const struct world *w)
{
    struct deadline deadline = deadline_after(WAIT_MS);
    while (session_count(w) > 0) {
        ck_assert_msg(deadline_wait(&deadline), "a session of the program did not end");
    }
}

static int64_t comparison_count(const struct program *p)
{
    int64_t count = 0;
    char *log = program_said(p);
    for (const char *at = log; (at = strstr(at, "event=verify_ended")) != NULL; at++) {
        count++;
    }
    free(log);
    return count;
}

/* Returns the largest number of sessions until all pipelines have compared several times. */
static int64_t most_sessions(const struct world *w, struct program *p)
{
    int64_t most = 0;
    struct deadline deadline = deadline_after(WAIT_MS);
    while (comparison_count(p) < (int64_t)PIPELINES * COMPARISONS) {
        int64_t now = session_count(w);
        most = now > most ? now : most;
        ck_assert_msg(deadline_wait(&deadline), "the pipelines did not compare");
    }
    return most;
}

/* The session has a lease of its own for each pipeline. */
static void expect_leases(const struct world *w, int count)
{
    struct deadline deadline = deadline_after(WAIT_MS);
    while (sql_int(w->conn,
                   "select count(distinct l.objid) from pg_locks l join pg_stat_activity a "
                   "on a.pid = l.pid where l.locktype = 'advisory' and "
                   "a.datname = current_database() and a.application_name = "
                   "'rowferry run'") != count) {
        ck_assert_msg(deadline_wait(&deadline), "there are not %d leases", count);
    }
}

START_TEST(thirty_pipelines_need_at_most_35_sessions)
{
    struct world w;
    struct program p;
    struct program_result result;
    world_start(&w, 0, NULL);
    configure_thirty(&w);
    world_install(&w);
    rowferry_start(&p, w.config, "run", NULL);
    await_title_in_all(&w, "row 7");
    expect_leases(&w, PIPELINES);
    int64_t most = most_sessions(&w, &p);
    printf("%d pipelines: at most %lld sessions\n", PIPELINES, (long long)most);
    ck_assert_int_gt(most, PIPELINES);
    ck_assert_int_le(most, SESSIONS_MOST);

    ck_assert_int_eq(sql_int(w.conn, "select count(pg_terminate_backend(pid)) from "
                                     "pg_stat_activity where datname = current_database() and "
                                     "application_name = 'rowferry run'"),
                     1);
    expect_leases(&w, PIPELINES);
    for (int i = 0; i < PIPELINES; i++) {
        sql_exec(w.conn, "update part%d set title = 'after the loss' where id = 7", i);
    }
    await_title_in_all(&w, "after the loss");
    program_signal(&p, SIGTERM);
    program_finish(&p, WAIT_MS, &result);
    ck_assert_int_eq(result.exit_code, 0); /* the log is too long for a message */
    ck_assert_ptr_null(strstr(result.err, "event=lost"));
    ck_assert_ptr_null(strstr(result.err, "event=stopped"));
    program_result_release(&result);
    await_no_session(&w);
    world_stop(&w);
}
END_TEST

START_TEST(a_quiet_run_has_no_session_until_a_command_asks_it)
{
    struct world w;
    struct program p;
    struct program_result result;
    world_start(&w, 20, NULL);
    char source[1024];
    snprintf(source, sizeof(source), "\"uri\": \"%s\", \"quiet\": \"1h\"", w.uri);
    w.source = source;
    world_configure(&w, WORLD_PROPERTIES, "");
    world_install(&w);
    start_run(&w, &p);
    await_no_session(&w);
    set_title(&w, 7, "in the quiet time");
    rowferry_run(&result, w.config, "status", NULL);
    ck_assert_int_eq(result.exit_code, 0);
    expect_text(result.out, "1 entry in the change log");
    program_result_release(&result);
    await_no_session(&w); /* that of `status` has ended, too */
    ck_assert(!has_title(w.service.url, "shop-articles", 7, "in the quiet time"));
    rowferry_expect(0, w.config, "resync", "1", NULL);
    await_title(&w, 7, "in the quiet time");
    stop_run(&p, SIGTERM, 0, &result);
    program_result_release(&result);
    world_stop(&w);
}
END_TEST

START_TEST(check_names_a_limit_that_is_too_low_for_run)
{
    static const struct planted faults[] = {
        {.line = "sessions",
         .status = "FAIL",
         .words = "\"run\" needs 2; the role admits 1",
         .as_reader = true,
         .plant = "alter role READER connection limit 1",
         .remedy = "alter role ",
         .mend = MEND_SQL_ONE},
        {.line = "sessions",
         .status = "WARN",
         .words = "\"run\" needs 2; the database admits 2, and others have 1 of them",
         .as_reader = true,
         .plant = "do $$ begin execute format('alter database %I connection limit 2', "
                  "current_database()); end $$",
         .remedy = "alter database ",
         .mend = MEND_SQL_ONE},
    };
    planted_try_all(faults, 2);
}
END_TEST

SUITE_MAIN("run/sessions", thirty_pipelines_need_at_most_35_sessions,
           a_quiet_run_has_no_session_until_a_command_asks_it,
           check_names_a_limit_that_is_too_low_for_run)
