/* SPDX-License-Identifier: Apache-2.0 */
/* Kills programs at counted moments. */
#include "crash.h"

#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "compare.h"
#include "http.h"
#include "rowferry/base/text.h"
#include "sql.h"
#include "suite.h"
#include "wait.h"

#define BATCH 100
#define DELAY_MS 30
#define HOLD_MS 50000 /* less than request_timeout */
#define MORE 10       /* number of requests that a waiting test may be late by */
#define MOMENTS 50    /* attempts until one has operations in flight */
#define SLOW_LIMITS                                                                                \
    "\"batch_operations\": 100, \"in_flight\": 4, \"window_bytes\": \"256KiB\", "                  \
    "\"retry_budget\": \"60s\""

int64_t crash_setting(const char *name, int64_t otherwise)
{
    const char *text = getenv(name);
    return text != NULL ? strtoll(text, NULL, 10) : otherwise;
}

int64_t crash_dice(int64_t n)
{
    static uint64_t state;
    if (state == 0) {
        int64_t seed = crash_setting("ROWFERRY_SEED", (int64_t)time(NULL) * 1000 + getpid() % 1000);
        printf("ROWFERRY_SEED=%lld\n", (long long)seed);
        fflush(stdout);
        state = (uint64_t)seed * UINT64_C(0x9E3779B97F4A7C15) + 1;
    }
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (int64_t)((state >> 33) % (uint64_t)n);
}

void crash_kill_program(struct program *p)
{
    struct program_result result;
    program_signal(p, SIGKILL);
    program_finish(p, WAIT_MS, &result);
    ck_assert_msg(result.exit_code == 128 + SIGKILL, "it had ended by itself with %d: %s",
                  result.exit_code, result.err);
    program_result_release(&result);
}

int crash_said(const struct program *program, const char *part)
{
    int count = 0;
    char *said = program_said(program);
    for (const char *at = said; (at = strstr(at, part)) != NULL; at += strlen(part)) {
        count++;
    }
    free(said);
    return count;
}

void crash_await_said(const struct program *program, const char *part, int count)
{
    struct deadline deadline = deadline_after(WAIT_MS);
    while (crash_said(program, part) < count) {
        ck_assert_msg(program_running(program) && deadline_wait(&deadline),
                      "\"%s\" not %d times: %.2000s", part, count, program_said(program));
    }
}

int64_t crash_await_equal(const struct world *w, const struct program *program)
{
    int64_t began_ms = deadline_now_ms();
    struct deadline deadline = deadline_after(WAIT_MS);
    char *query = compare_table("articles", "source_id");
    for (struct comparison c = {.differences = 1}; c.differences > 0;) {
        compare(&c, w->conn, query, w->service.url, "shop-articles", "ApiKey " WORLD_API_KEY);
        if (c.differences > 0 && (!program_running(program) || !deadline_wait(&deadline))) {
            printf("%s\n", program_said(program));
            fflush(stdout);
            ck_abort_msg("%lld differences stay: %.2000s", (long long)c.differences, c.first);
        }
        free(c.first);
    }
    free(query);
    return deadline_now_ms() - began_ms;
}

void crash_tell_hits(const char *fault, int64_t hits, const char *more, ...)
{
    char text[256];
    va_list arguments;
    va_start(arguments, more);
    vsnprintf(text, sizeof(text), more, arguments);
    va_end(arguments);
    printf("fault %s: %lld %s\n", fault, (long long)hits, text);
    fflush(stdout);
    ck_assert_msg(hits > 0, "no hit: %s", fault);
}

static int64_t member(struct json_object *stats, const char *name)
{
    return json_object_get_int64(json_object_object_get(stats, name));
}

struct taken {
    int64_t operations; /* operations that the service accepted */
    int64_t held;       /* bulk requests received whose answer has not begun */
    bool holds;         /* after crash_slow_until: all further requests are held */
};

static void look(const struct world *w, struct taken *t)
{
    struct json_object *stats =
        reply_json(200, "GET", w->service.url, "/_devsearch/stats", NULL, "ApiKey " WORLD_API_KEY);
    t->operations = member(stats, "bulk_operations");
    t->held = member(stats, "faults_fired") - member(stats, "bulk_requests");
    t->holds = member(stats, "faults_pending") == 1 && member(stats, "faults_waiting") > 0;
    json_object_put(stats);
}

int64_t crash_taken(const struct world *w)
{
    struct taken t;
    look(w, &t);
    return t.operations;
}

void crash_configure(struct world *w)
{
    world_configure(w, CRASH_PROPERTIES, SLOW_LIMITS);
}

void crash_world(struct world *w, long rows)
{
    world_start(w, rows, NULL);
    /* three rows per block, so that a page of the initial load is a small part of the table */
    sql_exec(w->conn, "alter table articles set (fillfactor = 10);"
                      "update articles set extra = jsonb_build_object('pad', repeat('-', 150))");
    sql_exec(w->conn, "vacuum full articles");
    crash_configure(w);
    world_install(w);
    crash_slow(w);
}

/* count: number of requests, -1: all. */
static void delay(const struct world *w, int64_t ms, int64_t count)
{
    char fault[64];
    snprintf(fault, sizeof(fault), "{\"delay_ms\":%lld,\"count\":%lld}", (long long)ms,
             (long long)count);
    world_fault(w, fault);
}

void crash_slow(const struct world *w)
{
    world_unfault(w);
    delay(w, DELAY_MS, -1);
}

void crash_slow_until(const struct world *w, int64_t operations)
{
    world_unfault(w);
    delay(w, DELAY_MS, operations / BATCH + MORE);
    delay(w, HOLD_MS, -1);
}

void crash_await_taken(const struct world *w, int64_t before, int64_t operations,
                       const struct program *program)
{
    struct deadline deadline = deadline_after(WAIT_MS);
    struct taken t;
    for (look(w, &t); t.operations - before < operations && !t.holds; look(w, &t)) {
        ck_assert_msg(program_running(program) && deadline_wait(&deadline),
                      "%lld operations taken, and no more come", (long long)t.operations - before);
    }
}

static void pause_ms(int64_t ms)
{
    struct deadline deadline = deadline_after(ms);
    while (deadline_wait(&deadline)) {
    }
}

/* Waits until the service has carried out the requests of killed processes. */
static void await_none_held(const struct world *w)
{
    struct deadline deadline = deadline_after(WAIT_MS);
    struct taken t;
    for (look(w, &t); t.held > 0; look(w, &t)) {
        ck_assert(deadline_wait(&deadline));
    }
}

/* Stops the program while the service holds a request of it. Returns false if that never
 * happens. */
static bool stop_with_operations(const struct world *w, const struct program *program)
{
    struct taken t;
    for (int i = 0;; i++) {
        program_signal(program, SIGSTOP);
        look(w, &t);
        if (t.held > 0 || i == MOMENTS - 1) {
            return t.held > 0;
        }
        program_signal(program, SIGCONT);
        pause_ms(crash_dice(3));
    }
}

void crash_kill(const struct world *w, int64_t operations, struct kills *kills)
{
    struct program program;
    struct program_result result;
    int64_t before = crash_taken(w);
    crash_slow_until(w, operations);
    rowferry_start(&program, w->config, "sync", NULL);
    crash_await_taken(w, before, operations, &program);
    pause_ms(crash_dice(DELAY_MS));
    kills->unsettled += stop_with_operations(w, &program);
    program_signal(&program, SIGKILL);
    program_finish(&program, WAIT_MS, &result);
    ck_assert_msg(result.exit_code == 128 + SIGKILL, "it ended before: %s", result.err);
    program_result_release(&result);
    kills->count++;
    crash_slow(w);
    await_none_held(w);
}

void crash_command_at(const struct world *w, const char *failpoint, const char *command,
                      const char *word)
{
    struct program program;
    struct program_result result;
    char setting[128];
    const char *argv[] = {getenv("ROWFERRY_PROGRAM"), "-c", w->config, command, word, NULL};
    const char *env[] = {setting, NULL};
    snprintf(setting, sizeof(setting), "ROWFERRY_FAILPOINT=%s", failpoint);
    program_start(&program, argv, env);
    program_finish(&program, WAIT_MS, &result);
    ck_assert_msg(result.exit_code == 128 + SIGKILL, "%s did not kill it (%d): %s", failpoint,
                  result.exit_code, result.err);
    program_result_release(&result);
}

void crash_at(const struct world *w, const char *failpoint)
{
    crash_command_at(w, failpoint, "sync", NULL);
}

void crash_expect_unsettled(const struct kills *kills)
{
    printf("%lld kills, %lld with unsettled operations\n", (long long)kills->count,
           (long long)kills->unsettled);
    crash_tell_hits("agent killed", kills->unsettled, "times with unsettled operations");
    ck_assert_msg(kills->unsettled * 10 >= kills->count * 8,
                  "only %lld of %lld kills hit with unsettled operations",
                  (long long)kills->unsettled, (long long)kills->count);
}

static int run(const char *name, const TTest *const *tests, size_t count, enum fork_status forks)
{
    Suite *suite = suite_create(name);
    for (size_t i = 0; i < count; i++) {
        TCase *tcase = tcase_create(tests[i]->name);
        tcase_set_timeout(tcase, 0);
        tcase_add_test(tcase, tests[i]);
        suite_add_tcase(suite, tcase);
    }
    SRunner *runner = srunner_create(suite);
    srunner_set_fork_status(runner, forks);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

int crash_suite(const char *name, const TTest *const *tests, size_t count)
{
    return run(name, tests, count, CK_FORK_GETENV);
}

int crash_long_suite(const char *name, const TTest *const *tests, size_t count)
{
    return run(name, tests, count, CK_NOFORK);
}
