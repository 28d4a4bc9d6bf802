/* SPDX-License-Identifier: Apache-2.0 */
/*
 * PostgreSQL, the service, or both come back from an older copy of their files: killed, replaced by
 * the copy, restarted; between two syncs and under a run.
 *
 * The next sync notices a restored database, unless it has made as many transactions since as it
 * lost. Only a verify notices a restored index. A verify finds each difference, and --repair fixes
 * it.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cluster.h"
#include "compare.h"
#include "crash.h"
#include "sql.h"
#include "suite.h"
#include "wait.h"

#define ROWS 1000
#define LOST 100      /* transactions, more than replace them .. */
#define OVERTAKEN 300 /* .. and fewer than these */

struct restored {
    struct world w;
    struct program run;
    char *data; /* of the service */
    char *copy; /* folder of both copies */
};

/* --- copies ---------------------------------------------------------------------------------- */

static void shell(const char *script, const char *from, const char *to)
{
    struct program program;
    struct program_result result;
    program_start(&program, (const char *const[]){"/bin/sh", "-ec", script, "copy", from, to, NULL},
                  NULL);
    program_finish(&program, WAIT_MS, &result);
    ck_assert_msg(result.exit_code == 0, "%s: %s", script, result.err);
    program_result_release(&result);
}

static void copy_folder(const char *from, const char *to)
{
    shell("rm -rf \"$2\"; cp -a \"$1\" \"$2\"", from, to);
}

static void source_stop(struct restored *r, int number)
{
    PQfinish(r->w.conn);
    cluster_kill(&own_cluster, number);
}

/* Commits synchronously, because a crash must keep answered commits or the index would be ahead. */
static void source_start(struct restored *r)
{
    cluster_again(&own_cluster);
    r->w.conn = sql_open(r->w.uri);
    sql_exec(r->w.conn, "set synchronous_commit = on");
}

static void source_copy(struct restored *r, bool back)
{
    char *data = scratch_path(own_cluster.folder, "data");
    char *copy = scratch_path(r->copy, "source");
    source_stop(r, back ? SIGQUIT : SIGINT);
    copy_folder(back ? copy : data, back ? data : copy);
    source_start(r);
    free(data);
    free(copy);
}

static void service_copy(struct restored *r, bool back)
{
    struct program_result result;
    int port = r->w.service.port;
    char *key = scratch_path(r->w.dir, "key");
    char *copy = scratch_path(r->copy, "service");
    program_signal(&r->w.service.program, SIGKILL);
    program_finish(&r->w.service.program, WAIT_MS, &result);
    program_result_release(&result);
    copy_folder(back ? copy : r->data, back ? r->data : copy);
    devsearch_start_at(
        &r->w.service, port,
        (const char *const[]){"--api-key-file", key, "--data", r->data, "--faults", NULL});
    free(key);
    free(copy);
}

/* --- the world ------------------------------------------------------------------------------- */

static void sync_once(struct restored *r, int noticed)
{
    struct program_result result;
    world_sync(&r->w, 0, &result);
    ck_assert_msg((strstr(result.err, "event=copied_again") != NULL) == (noticed > 0), "%s",
                  result.err);
    program_result_release(&result);
}

static void restored_start(struct restored *r)
{
    *r = (struct restored){.data = scratch_new(), .copy = scratch_new()};
    world_start(&r->w, ROWS, (const char *const[]){"--data", r->data, NULL});
    world_configure(&r->w, CRASH_PROPERTIES, "\"retry_budget\": \"60s\"");
    world_install(&r->w);
    sync_once(r, 0);
}

static void restored_stop(struct restored *r)
{
    world_stop(&r->w);
    scratch_remove(r->data);
    scratch_remove(r->copy);
}

/* Makes transactions that are lost with the rest, or that replace them. */
static void go_on(struct restored *r, int count)
{
    for (int i = 0; i < count; i++) {
        sql_exec(r->w.conn, "update articles set title = 'gone on %d' where source_id = 500", i);
    }
}

/* Inserts, updates and deletes rows, fewer than the guard checks. */
static void change(struct restored *r, int turn)
{
    sql_exec(r->w.conn,
             "insert into articles (source_id, title) select %d + i, 'new' from "
             "generate_series(1, 20) i;"
             "update articles set title = 'changed in %d' where source_id %% 10 = %d;"
             "delete from articles where source_id between %d and %d",
             ROWS + turn * 100, turn, turn, turn * 20, turn * 20 + 9);
}

static int64_t differences(struct restored *r)
{
    struct comparison c;
    char *query = compare_table("articles", "source_id");
    compare(&c, r->w.conn, query, r->w.service.url, "shop-articles", "ApiKey " WORLD_API_KEY);
    free(query);
    free(c.first);
    return c.differences;
}

/* Expects that verify reports each difference and no other, and none after the repair. */
static void expect_repaired(struct restored *r)
{
    struct program_result result;
    int64_t there = differences(r);
    rowferry_run(&result, r->w.config, "verify", "--json", NULL);
    ck_assert_msg(result.exit_code == 4, "exit code %d: %s%s", result.exit_code, result.out,
                  result.err);
    int64_t found = program_json_int(&result, "missing") + program_json_int(&result, "extra") +
                    program_json_int(&result, "altered");
    program_result_release(&result);
    ck_assert_int_eq(found, there);
    rowferry_expect(0, r->w.config, "verify", "--repair", NULL);
    world_expect_equal(&r->w);
    rowferry_expect(0, r->w.config, "verify", NULL);
}

static void begin_run(struct restored *r)
{
    rowferry_start(&r->run, r->w.config, "run", NULL);
    program_await(&r->run, "event=following", WAIT_MS);
}

static void end_run(struct restored *r)
{
    struct program_result result;
    program_signal(&r->run, SIGTERM);
    program_finish(&r->run, WAIT_MS, &result);
    ck_assert_msg(result.exit_code == 0, "exit code %d: %s", result.exit_code, result.err);
    program_result_release(&result);
}

/* --- a database ------------------------------------------------------------------------------ */

START_TEST(a_database_put_back_between_two_syncs_is_noticed)
{
    struct restored r;
    restored_start(&r);
    source_copy(&r, false);
    change(&r, 1);
    go_on(&r, LOST);
    sync_once(&r, 0);
    source_copy(&r, true);
    int64_t was = differences(&r);
    change(&r, 2); /* some transaction numbers are used again */
    sync_once(&r, 1);
    world_expect_equal(&r.w);
    rowferry_expect(0, r.w.config, "verify", NULL);
    change(&r, 3);
    sync_once(&r, 0);
    world_expect_equal(&r.w);
    crash_tell_hits("source put back between syncs", was, "differences, none after a sync");
    restored_stop(&r);
}
END_TEST

START_TEST(a_database_put_back_under_a_run_is_noticed)
{
    struct restored r;
    restored_start(&r);
    source_copy(&r, false);
    begin_run(&r);
    change(&r, 1);
    go_on(&r, LOST);
    crash_await_equal(&r.w, &r.run);
    int64_t began_ms = deadline_now_ms();
    source_copy(&r, true);
    program_await(&r.run, "event=copied_again", WAIT_MS);
    change(&r, 2);
    crash_await_equal(&r.w, &r.run);
    crash_tell_hits("source put back under a run", crash_said(&r.run, "event=copied_again"),
                    "copied again, equal %lld ms later", (long long)(deadline_now_ms() - began_ms));
    end_run(&r);
    restored_stop(&r);
}
END_TEST

/* A documented limit: nothing in the database shows that it was restored. */
START_TEST(a_database_put_back_that_has_gone_on_for_as_long_is_found_by_a_verify)
{
    struct restored r;
    restored_start(&r);
    source_copy(&r, false);
    change(&r, 1);
    sync_once(&r, 0);
    source_copy(&r, true);
    go_on(&r, OVERTAKEN);
    sync_once(&r, 0);
    int64_t was = differences(&r);
    expect_repaired(&r);
    change(&r, 2);
    sync_once(&r, 0);
    world_expect_equal(&r.w);
    crash_tell_hits("source put back and gone on", was, "differences, none after verify --repair");
    restored_stop(&r);
}
END_TEST

/* --- an index -------------------------------------------------------------------------------- */

START_TEST(an_index_put_back_between_two_syncs_is_found_by_a_verify)
{
    struct restored r;
    restored_start(&r);
    service_copy(&r, false);
    change(&r, 1);
    sync_once(&r, 0);
    service_copy(&r, true);
    change(&r, 2);
    sync_once(&r, 0);
    int64_t was = differences(&r);
    expect_repaired(&r);
    crash_tell_hits("service put back between syncs", was,
                    "differences, none after verify --repair");
    restored_stop(&r);
}
END_TEST

START_TEST(an_index_put_back_under_a_run_is_found_by_a_verify)
{
    struct restored r;
    restored_start(&r);
    service_copy(&r, false);
    begin_run(&r);
    change(&r, 1);
    crash_await_equal(&r.w, &r.run);
    service_copy(&r, true);
    int64_t was = differences(&r);
    change(&r, 2);
    world_await_settled(&r.w);
    expect_repaired(&r);
    change(&r, 3);
    crash_await_equal(&r.w, &r.run);
    crash_tell_hits("service put back under a run", was, "differences, none after verify --repair");
    end_run(&r);
    restored_stop(&r);
}
END_TEST

/* --- both ------------------------------------------------------------------------------------ */

/* Each is restored to a different moment: the index has documents that the table never will. */
START_TEST(both_put_back_are_equal_after_a_sync)
{
    struct restored r;
    restored_start(&r);
    source_copy(&r, false);
    change(&r, 1);
    go_on(&r, LOST);
    sync_once(&r, 0);
    service_copy(&r, false);
    change(&r, 2);
    sync_once(&r, 0);
    source_copy(&r, true);
    service_copy(&r, true);
    int64_t was = differences(&r);
    change(&r, 3);
    sync_once(&r, 1);
    world_expect_equal(&r.w);
    rowferry_expect(0, r.w.config, "verify", NULL);
    crash_tell_hits("both put back between syncs", was, "differences, none after a sync");
    restored_stop(&r);
}
END_TEST

START_TEST(both_put_back_under_a_run_are_equal_again)
{
    struct restored r;
    restored_start(&r);
    service_copy(&r, false);
    source_copy(&r, false);
    begin_run(&r);
    change(&r, 1);
    go_on(&r, LOST);
    crash_await_equal(&r.w, &r.run);
    service_copy(&r, true);
    source_copy(&r, true);
    program_await(&r.run, "event=copied_again", WAIT_MS);
    change(&r, 2);
    crash_await_equal(&r.w, &r.run);
    crash_tell_hits("both put back under a run", crash_said(&r.run, "event=copied_again"),
                    "copied again");
    end_run(&r);
    restored_stop(&r);
}
END_TEST

CLUSTER_MAIN("crash/restored", a_database_put_back_between_two_syncs_is_noticed,
             a_database_put_back_under_a_run_is_noticed,
             a_database_put_back_that_has_gone_on_for_as_long_is_found_by_a_verify,
             an_index_put_back_between_two_syncs_is_found_by_a_verify,
             an_index_put_back_under_a_run_is_found_by_a_verify,
             both_put_back_are_equal_after_a_sync, both_put_back_under_a_run_are_equal_again)
