/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory use of a sync: with an unreachable service while the table changes, with many changed
 * keys, with many rows to load, with many documents that depend on one row. Measured as VmHWM,
 * which is meaningless under a sanitizer. The sizes of a long run (tests/run.sh) reveal anything
 * that keeps 20 bytes per changed key or row, and a key alone takes more.
 */
#include "crash.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compare.h"
#include "http.h"
#include "sql.h"
#include "wait.h"

#define MOST_KIB (32 * 1024)
#define CHANGES_A_STEP 100
#define STEP_MS 100

/* Returns the peak resident memory of a running process in KiB; 0 if it has ended. */
static long peak_kib(pid_t pid)
{
    char path[64];
    char line[256];
    long kib = 0;
    snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
    FILE *file = fopen(path, "re");
    while (file != NULL && fgets(line, sizeof(line), file) != NULL) {
        if (strncmp(line, "VmHWM:", 6) == 0) {
            kib = strtol(line + 6, NULL, 10);
        }
    }
    if (file != NULL) {
        fclose(file);
    }
    return kib;
}

/* Waits for the end of the program and returns its peak memory. */
static long peak_until_end(struct program *program, int64_t deadline_ms)
{
    struct deadline deadline = deadline_after(deadline_ms);
    long most = 0;
    while (program_running(program)) {
        long now = peak_kib(program->pid);
        most = now > most ? now : most;
        ck_assert(deadline_wait(&deadline));
    }
    return most;
}

static void ends_small(struct program *program, const char *what)
{
    struct program_result result;
    long most = peak_until_end(program, 600000);
    program_finish(program, WAIT_MS, &result);
    ck_assert_msg(result.exit_code == 0, "exit code %d: %s", result.exit_code, result.err);
    program_result_release(&result);
    printf("%s: %.1f MiB\n", what, (double)most / 1024);
    ck_assert_int_gt(most, 0);
    ck_assert_msg(most <= MOST_KIB, "%s: %ld KiB", what, most);
}

/* Makes 1,000 changes a second for $ROWFERRY_OUTAGE_S, starting at the first row each second. */
static void change_meanwhile(const struct world *w)
{
    struct deadline end = deadline_after(crash_setting("ROWFERRY_OUTAGE_S", 3) * 1000);
    for (int step = 0; deadline_now_ms() < end.end_ms; step++) {
        struct deadline next = deadline_after(STEP_MS);
        int from = step * CHANGES_A_STEP % 50000;
        sql_exec(w->conn,
                 "update articles set title = 'meanwhile %d' where source_id > %d and"
                 " source_id <= %d",
                 step, from, from + CHANGES_A_STEP);
        while (deadline_wait(&next)) {
        }
    }
}

START_TEST(with_the_service_away_and_1000_changes_a_second)
{
    struct world w;
    struct program program;
    struct program_result result;
    struct reply reply;
    world_start(&w, 50000, NULL);
    world_configure(&w, CRASH_PROPERTIES, "\"retry_budget\": \"5m\"");
    world_install(&w);
    world_sync(&w, 0, &result);
    program_result_release(&result);
    sql_exec(w.conn, "update articles set title = 'before'");
    world_fault(&w, "{\"status\":503}");
    rowferry_start(&program, w.config, "sync", NULL);
    program_await(&program, "event=away", WAIT_MS);
    change_meanwhile(&w);
    ck_assert(program_running(&program));
    reply_get(&reply, "DELETE", w.service.url, "/_devsearch/faults", NULL, "ApiKey " WORLD_API_KEY);
    reply_release(&reply);
    ends_small(&program, "service away, 1,000 changes/s");
    world_expect_equal(&w);
    world_stop(&w);
}
END_TEST

START_TEST(with_very_many_changed_keys)
{
    struct world w;
    struct program program;
    struct program_result result;
    char what[64];
    long rows = (long)crash_setting("ROWFERRY_CHANGED_ROWS", 50000);
    world_start(&w, rows, NULL);
    world_install(&w);
    rowferry_start(&program, w.config, "sync", NULL);
    program_finish(&program, 600000, &result);
    ck_assert_msg(result.exit_code == 0, "%s", result.err);
    program_result_release(&result);
    sql_exec(w.conn, "update articles set title = 'changed'");
    rowferry_start(&program, w.config, "sync", NULL);
    snprintf(what, sizeof(what), "%ld changed keys", rows);
    ends_small(&program, what);
    world_expect_equal(&w);
    world_stop(&w);
}
END_TEST

static int64_t documents(const struct world *w)
{
    static const char key[] = "ApiKey " WORLD_API_KEY;
    json_object_put(reply_json(200, "POST", w->service.url, "/shop-articles/_refresh", NULL, key));
    struct json_object *count =
        reply_json(200, "GET", w->service.url, "/shop-articles/_count", NULL, key);
    int64_t n = json_object_get_int64(json_object_object_get(count, "count"));
    json_object_put(count);
    return n;
}

START_TEST(with_a_very_large_table_to_copy)
{
    struct world w;
    struct program program;
    char what[64];
    long rows = (long)crash_setting("ROWFERRY_COPIED_ROWS", 100000);
    world_start(&w, rows, NULL);
    world_install(&w);
    rowferry_start(&program, w.config, "sync", NULL);
    snprintf(what, sizeof(what), "%ld rows copied", rows);
    ends_small(&program, what);
    ck_assert_int_eq(documents(&w), rows);
    world_stop(&w);
}
END_TEST

#define ARTICLES                                                                                   \
    "select a.source_id, a.title || w.name as title, a.price, a.tags, a.extra, a.published, "      \
    "a.updated_at from public.articles a join public.author w on w.id = 1"

START_TEST(with_one_changed_author_of_very_many_articles)
{
    struct world w;
    struct program program;
    char what[64];
    long rows = (long)crash_setting("ROWFERRY_ARTICLES", 50000);
    world_start(&w, rows, NULL);
    sql_exec(w.conn, "create table author (id int primary key, name text);"
                     "insert into author values (1, ' by A')");
    world_from(&w, "\"query\": \"" ARTICLES "\", \"depends_on\": [{\"table\": \"public.author\", "
                   "\"key\": [\"id\"], \"keys\": "
                   "\"select source_id from public.articles where 1 = any($1)\"}]");
    world_install(&w);
    rowferry_start(&program, w.config, "sync", NULL);
    ends_small(&program, "a query copied");
    sql_exec(w.conn, "update author set name = ' by B'");
    rowferry_start(&program, w.config, "sync", NULL);
    snprintf(what, sizeof(what), "an author of %ld articles", rows);
    ends_small(&program, what);
    char *wanted = compare_table("(" ARTICLES ")", "source_id");
    expect_equal(rows, w.conn, wanted, w.service.url, "shop-articles", "ApiKey " WORLD_API_KEY);
    free(wanted);
    world_stop(&w);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {with_the_service_away_and_1000_changes_a_second,
                                  with_very_many_changed_keys, with_a_very_large_table_to_copy,
                                  with_one_changed_author_of_very_many_articles};
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    (void)tests;
    printf("skip: a sanitizer takes memory of its own; build with --preset debug or release\n");
    return 77;
#else
    return crash_suite("crash/memory", tests, sizeof(tests) / sizeof(tests[0]));
#endif
}
