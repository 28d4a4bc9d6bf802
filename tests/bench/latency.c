/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Latency of changes and cost of waiting. Measures single-row updates at a steady rate, from commit
 * until the document exists, with polling and with NOTIFY, compared to a bare INSERT and bulk
 * request. Also measures the CPU of an idle run, and a sync with nothing to do.
 *
 * $BENCH_ROUNDS (5) of $BENCH_LATENCY_S (12) each; $BENCH_IDLE_S (60) idle. Each figure is a line
 * of JSON on standard output; run.sh takes the medians.
 */
#include <libpq-fe.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "crash.h"
#include "http.h"
#include "sql.h"
#include "wait.h"

#define ROWS 10000
#define RATE 100
#define MOST 100000
#define SYNCS 20
#define BARE 500
#define WARM RATE /* the first second: an idle run polls again within limits.poll_max */
#define ARRIVES_MS 30000

struct updates {
    const struct world *w;
    const char *prefix;
    int64_t count;
    int64_t committed_us[MOST];
    atomic_long done;
};

static struct updates updates;
static double taken_ms[MOST];

static int64_t now_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

static void until_us(int64_t at_us)
{
    const struct timespec at = {at_us / 1000000, at_us % 1000000 * 1000};
    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL);
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a;
    double y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Prints one line of results. */
static void tell(const char *subject, size_t count)
{
    qsort(taken_ms, count, sizeof(taken_ms[0]), by_size);
    printf("{\"subject\":\"%s\",\"p50_ms\":%.2f,\"p99_ms\":%.2f,\"most_ms\":%.2f,\"count\":"
           "%zu}\n",
           subject, taken_ms[count / 2], taken_ms[count * 99 / 100], taken_ms[count - 1], count);
    fflush(stdout);
}

/* --- updates --------------------------------------------------------------------------------- */

static void *write_steadily(void *context)
{
    struct updates *u = context;
    PGconn *conn = sql_open(u->w->uri);
    int64_t begin_us = now_us();
    for (int64_t i = 0; i < u->count; i++) {
        until_us(begin_us + i * (1000000 / RATE));
        sql_exec(conn, "update articles set title = '%s %lld' where source_id = %lld", u->prefix,
                 (long long)i, (long long)(i % ROWS + 1));
        u->committed_us[i] = now_us();
        atomic_store(&u->done, (long)i + 1);
    }
    PQfinish(conn);
    return NULL;
}

static bool has_title(const struct world *w, int64_t id, const char *title)
{
    char path[128];
    struct reply reply;
    snprintf(path, sizeof(path), "/shop-articles/_doc/%lld", (long long)id);
    reply_get(&reply, "GET", w->service.url, path, NULL, "ApiKey " WORLD_API_KEY);
    bool has = reply.status == 200 && strstr(reply.body, title) != NULL;
    reply_release(&reply);
    return has;
}

static void measure_updates(const struct world *w, const char *subject, int64_t round)
{
    pthread_t writer;
    struct updates *u = &updates;
    char prefix[64];
    snprintf(prefix, sizeof(prefix), "%s %lld", subject, (long long)round);
    u->w = w;
    u->prefix = prefix;
    u->count = WARM + crash_setting("BENCH_LATENCY_S", 12) * RATE;
    ck_assert_int_le(u->count, MOST);
    atomic_store(&u->done, 0);
    ck_assert_int_eq(pthread_create(&writer, NULL, write_steadily, u), 0);
    for (int64_t i = 0; i < u->count; i++) {
        char title[128];
        struct deadline deadline = deadline_after(ARRIVES_MS);
        snprintf(title, sizeof(title), "\"%s %lld\"", prefix, (long long)i);
        while (atomic_load(&u->done) <= i || !has_title(w, i % ROWS + 1, title)) {
            ck_assert(deadline_wait(&deadline));
        }
        if (i >= WARM) {
            taken_ms[i - WARM] = (double)(now_us() - u->committed_us[i]) / 1000;
        }
    }
    pthread_join(writer, NULL);
    tell(subject, (size_t)u->count - WARM);
}

/* Measures what the machine needs for one change without a program in between. */
static void measure_bare(const struct world *w, int64_t round)
{
    for (size_t i = 0; i < BARE; i++) {
        char body[256];
        struct reply reply;
        long long id = 1000000 * (round + 1) + (long long)i;
        int64_t begin_us = now_us();
        sql_exec(w->conn, "insert into bare (source_id, title) values (%lld, 'bare')", id);
        snprintf(body, sizeof(body),
                 "{\"index\":{\"_index\":\"bare\",\"_id\":\"%lld\"}}\n{\"title\":\"bare\"}\n", id);
        reply_get(&reply, "POST", w->service.url, "/_bulk", body, "ApiKey " WORLD_API_KEY);
        ck_assert_int_eq(reply.status, 200);
        ck_assert_ptr_nonnull(strstr(reply.body, "\"errors\":false"));
        reply_release(&reply);
        taken_ms[i] = (double)(now_us() - begin_us) / 1000;
        until_us(begin_us + 1000000 / RATE);
    }
    tell("bare", BARE);
}

/* --- idle ------------------------------------------------------------------------------------ */

static double cpu_ms(long pid)
{
    char command[128];
    char line[64] = "";
    snprintf(command, sizeof(command),
             "cat /proc/%ld/task/*/schedstat | awk '{s+=$1} END{print s}'", pid);
    FILE *pipe = popen(command, "r");
    ck_assert_ptr_nonnull(pipe);
    ck_assert_ptr_nonnull(fgets(line, sizeof(line), pipe));
    pclose(pipe);
    return strtod(line, NULL) / 1e6;
}

/* Sums over all sessions of the run. */
static double backends_cpu_ms(const struct world *w)
{
    double sum_ms = 0;
    PGresult *pids = PQexec(w->conn, "select pid from pg_stat_activity where application_name like "
                                     "'rowferry run%' order by pid");
    ck_assert_int_gt(PQntuples(pids), 0);
    for (int i = 0; i < PQntuples(pids); i++) {
        sum_ms += cpu_ms(strtol(PQgetvalue(pids, i, 0), NULL, 10));
    }
    PQclear(pids);
    return sum_ms;
}

static void measure_rest(const struct world *w, const struct program *agent, const char *subject)
{
    int64_t seconds = crash_setting("BENCH_IDLE_S", 60);
    struct deadline warm = deadline_after(5000);
    while (deadline_wait(&warm)) {
    }
    double agent_ms = cpu_ms(agent->pid);
    double backend_ms = backends_cpu_ms(w);
    until_us(now_us() + seconds * 1000000);
    double an_hour = 3600.0 / (double)seconds / 1000;
    printf("{\"subject\":\"rest, %s\",\"seconds\":%lld,\"agent_cpu_s_per_hour\":%.2f,"
           "\"backend_cpu_s_per_hour\":%.2f}\n",
           subject, (long long)seconds, (cpu_ms(agent->pid) - agent_ms) * an_hour,
           (backends_cpu_ms(w) - backend_ms) * an_hour);
    fflush(stdout);
}

static void measure_syncs(struct world *w)
{
    for (size_t i = 0; i < SYNCS; i++) {
        struct program_result result;
        int64_t begin_us = now_us();
        world_sync(w, 0, &result);
        taken_ms[i] = (double)(now_us() - begin_us) / 1000;
        program_result_release(&result);
    }
    tell("sync with nothing to do", SYNCS);
    for (size_t i = 0; i < SYNCS; i++) {
        struct program_result result;
        int64_t begin_us = now_us();
        rowferry_run(&result, w->config, "version", NULL);
        taken_ms[i] = (double)(now_us() - begin_us) / 1000;
        program_result_release(&result);
    }
    tell("starting the program alone", SYNCS);
}

static void follow(const struct world *w, const char *subject, int64_t round, bool rests)
{
    struct program agent;
    struct program_result result;
    rowferry_start(&agent, w->config, "run", NULL);
    program_await(&agent, "event=following", 60000);
    measure_updates(w, subject, round);
    if (rests) {
        measure_rest(w, &agent, subject);
    }
    program_signal(&agent, SIGTERM);
    program_finish(&agent, 20000, &result);
    ck_assert_int_eq(result.exit_code, 0);
    program_result_release(&result);
}

START_TEST(latency)
{
    struct world w;
    struct program_result result;
    int64_t rounds = crash_setting("BENCH_ROUNDS", 5);
    world_start(&w, ROWS, NULL);
    sql_exec(w.conn, "create table bare (like articles including all)");
    world_install(&w);
    world_sync(&w, 0, &result);
    program_result_release(&result);
    measure_syncs(&w);
    for (int64_t round = 0; round < rounds; round++) {
        bool rests = round + 1 == rounds;
        measure_bare(&w, round);
        follow(&w, "polled", round, rests);
        rowferry_expect(0, w.config, "source", "install", "--notify", NULL);
        follow(&w, "notified", round, rests);
        rowferry_expect(0, w.config, "source", "install", "--no-notify", NULL);
    }
    world_stop(&w);
}
END_TEST

CRASH_MAIN("bench/latency", latency)
