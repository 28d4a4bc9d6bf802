/* SPDX-License-Identifier: Apache-2.0 */
/* pg_repack rewrites the table, by its own trigger and a swap, during syncs. */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "http.h"
#include "sql.h"
#include "suite.h"
#include "wait.h"
#include "world.h"

#define ROWS 3000
#define SWAP_ROUNDS 20 /* maximum; the guard permits a hundred deletes */

static char repack_program[64];

struct repack {
    PGconn *old; /* an older transaction: pg_repack waits for its end before the swap */
    struct program program;
    int64_t stored; /* file node of the table */
};

static int64_t stored(const struct world *w)
{
    return sql_int(w->conn,
                   "select relfilenode from pg_class where oid = 'public.articles'::regclass");
}

/* Returns in the middle of the work: later writes reach the new table by pg_repack's log. */
static void repack_begin(struct repack *r, const struct world *w)
{
    struct deadline deadline = deadline_after(WAIT_MS);
    sql_exec(w->conn, "create extension if not exists pg_repack");
    r->stored = stored(w);
    r->old = sql_open(w->uri);
    sql_exec(r->old, "begin; select 1");
    program_start(&r->program,
                  (const char *const[]){repack_program, "-h", PQhost(w->conn), "-p",
                                        PQport(w->conn), "-U", PQuser(w->conn), "-d", PQdb(w->conn),
                                        "-t", "public.articles", NULL},
                  NULL);
    while (sql_int(w->conn, "select count(*) from pg_trigger where tgname = 'repack_trigger'") ==
           0) {
        ck_assert(program_running(&r->program) && deadline_wait(&deadline));
    }
}

static void repack_let_swap(struct repack *r)
{
    PQfinish(r->old);
}

static void repack_end(struct repack *r, const struct world *w)
{
    struct program_result result;
    program_finish(&r->program, WAIT_MS, &result);
    ck_assert_msg(result.exit_code == 0, "%d: %s%s", result.exit_code, result.out, result.err);
    program_result_release(&result);
    ck_assert_int_ne(stored(w), r->stored);
}

/* Writes six rows and deletes three. */
static void write_some(const struct world *w, int round)
{
    sql_exec(w->conn,
             "update articles set title = 'round %d' where source_id in (%d, %d);"
             "insert into articles (source_id, title) values (%d, 'new'), (%d, 'new'), (%d, 'new');"
             "delete from articles where source_id in (%d, %d);"
             "update articles set source_id = source_id + 100000 where source_id = %d",
             round, 10 * round + 1, 10 * round + 2, 50000 + 3 * round, 50001 + 3 * round,
             50002 + 3 * round, 10 * round + 3, 10 * round + 4, 10 * round + 5);
}

static int write_until_end(struct repack *r, const struct world *w, int round)
{
    for (int last = round + SWAP_ROUNDS; round < last && program_running(&r->program);) {
        write_some(w, round++);
    }
    repack_end(r, w);
    write_some(w, round++);
    return round;
}

static void sync_counts(struct world *w, int64_t upserts, int64_t deletes)
{
    struct program_result result;
    world_sync(w, 0, &result);
    ck_assert_msg(program_json_int(&result, "upserts") == upserts &&
                      program_json_int(&result, "deletes") == deletes,
                  "%s%s", result.out, result.err);
    program_result_release(&result);
}

/* Expects unchanged triggers, and that pg_repack's own is gone. */
static void expect_whole(struct world *w)
{
    struct program_result result;
    world_expect_equal(w);
    rowferry_expect(0, w->config, "verify", NULL);
    rowferry_run(&result, w->config, "check", "--all", "--accept-admin", NULL);
    ck_assert_msg(result.exit_code == 0 &&
                      strstr(result.out, "articles: change log     is installed") != NULL,
                  "%s%s", result.out, result.err);
    program_result_release(&result);
    ck_assert_int_eq(
        sql_int(w->conn, "select count(*) from pg_trigger where tgname = 'repack_trigger'"), 0);
}

START_TEST(syncs_beside_pg_repack_send_what_was_written_and_nothing_else)
{
    struct world w;
    struct repack r;
    world_start(&w, ROWS, NULL);
    world_install(&w);
    sync_counts(&w, ROWS, 0);
    repack_begin(&r, &w);
    write_some(&w, 0);
    sync_counts(&w, 6, 3);
    write_some(&w, 1);
    repack_let_swap(&r);
    int rounds = write_until_end(&r, &w, 2);
    sync_counts(&w, 6 * (int64_t)(rounds - 1), 3 * (int64_t)(rounds - 1));
    expect_whole(&w);
    sync_counts(&w, 0, 0);
    world_stop(&w);
}
END_TEST

static void await_title(const struct world *w, int round)
{
    char path[64];
    char title[64];
    struct deadline deadline = deadline_after(WAIT_MS);
    snprintf(path, sizeof(path), "/shop-articles/_doc/%d", 10 * round + 1);
    snprintf(title, sizeof(title), "\"title\":\"round %d\"", round);
    for (bool there = false; !there;) {
        struct reply reply;
        reply_get(&reply, "GET", w->service.url, path, NULL, "ApiKey " WORLD_API_KEY);
        there = strstr(reply.body, title) != NULL;
        reply_release(&reply);
        ck_assert(there || deadline_wait(&deadline));
    }
}

START_TEST(a_run_follows_the_table_through_pg_repack)
{
    struct world w;
    struct repack r;
    struct program run;
    struct program_result result;
    world_start(&w, ROWS, NULL);
    world_install(&w);
    rowferry_start(&run, w.config, "run", NULL);
    program_await(&run, "event=following", WAIT_MS);
    repack_begin(&r, &w);
    write_some(&w, 0);
    await_title(&w, 0);
    repack_let_swap(&r);
    int rounds = write_until_end(&r, &w, 1);
    await_title(&w, rounds - 1);
    world_await_settled(&w);
    expect_whole(&w);
    program_signal(&run, SIGTERM);
    program_finish(&run, WAIT_MS, &result);
    ck_assert_msg(result.exit_code == 0, "%d: %s", result.exit_code, result.err);
    ck_assert_msg(strstr(result.err, "event=copied_again") == NULL, "%s", result.err);
    program_result_release(&result);
    world_stop(&w);
}
END_TEST

/* The swap waits until the current page releases the table. After that the rows are elsewhere. */
START_TEST(a_first_load_goes_on_in_the_table_that_pg_repack_stored_anew)
{
    struct world w;
    struct repack r;
    struct program sync;
    struct program_result result;
    world_start(&w, 2 * ROWS, NULL);
    world_configure(&w, WORLD_PROPERTIES, SMALL_WINDOW);
    world_install(&w);
    world_hold_all(&w, "_bulk");
    rowferry_start(&sync, w.config, "sync", "--json", NULL);
    world_await_held(&w);
    repack_begin(&r, &w);
    write_some(&w, 0);
    repack_let_swap(&r);
    (void)write_until_end(&r, &w, 1);
    world_unfault(&w);
    program_finish(&sync, WAIT_MS, &result);
    ck_assert_msg(result.exit_code == 0, "%d: %s", result.exit_code, result.err);
    ck_assert_msg(strstr(result.err, "event=page_given_up") != NULL, "%s", result.err);
    program_result_release(&result);
    world_sync(&w, 0, &result);
    program_result_release(&result);
    expect_whole(&w);
    world_stop(&w);
}
END_TEST

/* Returns true if pg_repack for the server's version is installed, in Debian's folder. */
static bool there_is_pg_repack(const char *uri)
{
    char control[80];
    PGconn *conn = PQconnectdb(uri);
    int version = PQserverVersion(conn) / 10000;
    snprintf(repack_program, sizeof(repack_program), "/usr/lib/postgresql/%d/bin/pg_repack",
             version);
    snprintf(control, sizeof(control), "/usr/share/postgresql/%d/extension/pg_repack.control",
             version);
    PQfinish(conn);
    return access(repack_program, X_OK) == 0 && access(control, R_OK) == 0;
}

int main(void)
{
    const TTest *const tests[] = {
        syncs_beside_pg_repack_send_what_was_written_and_nothing_else,
        a_run_follows_the_table_through_pg_repack,
        a_first_load_goes_on_in_the_table_that_pg_repack_stored_anew,
    };
    const char *uri = getenv("ROWFERRY_TEST_PG");
    if (uri != NULL && !there_is_pg_repack(uri)) {
        puts("skip: there is no pg_repack (apt-get install postgresql-15-repack)");
        return 77;
    }
    return suite_run("sync/repack", tests, sizeof(tests) / sizeof(tests[0]));
}
