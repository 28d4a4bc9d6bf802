/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two hosts take turns: $ROWFERRY_STANDBY_KILLS holders (5) are killed at random moments under
 * writes, $ROWFERRY_STANDBY_STOPS (1) are stopped, lose the pipeline, and come back. The index is
 * equal each time.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include "crash.h"
#include "http.h"
#include "sql.h"
#include "wait.h"

#define TAKEOVER_MS 100000 /* ten times the expected time */
#define ROWS 1000
#define WRITES_MS 1500 /* maximum, before and after */

struct turns {
    struct world w;
    const char *config[2]; /* each with a state file of its own */
    struct program program[2];
    int holder; /* index of the holder */
    int64_t next_id;
    int64_t longest_ms;
    int64_t hits;
};

static void start(struct turns *t, int host)
{
    rowferry_start(&t->program[host], t->config[host], "run", "--wait", NULL);
}

static void end(struct turns *t, int host, int number)
{
    struct program_result result;
    program_signal(&t->program[host], number);
    program_finish(&t->program[host], WAIT_MS, &result);
    program_result_release(&result);
}

static void write_once(struct turns *t)
{
    int64_t id = 1 + crash_dice(ROWS);
    switch (crash_dice(4)) {
    case 0:
        sql_exec(t->w.conn, "delete from articles where source_id = %lld", (long long)id);
        break;
    case 1:
        sql_exec(t->w.conn, "insert into articles (source_id, title) values (%lld, 'new')",
                 (long long)t->next_id++);
        break;
    default:
        sql_exec(t->w.conn,
                 "update articles set title = 'at ' || clock_timestamp() where source_id between "
                 "%lld and %lld",
                 (long long)id, (long long)(id + crash_dice(50)));
    }
}

static void write_for(struct turns *t, int64_t ms)
{
    struct deadline deadline = deadline_after(ms);
    do {
        write_once(t);
    } while (deadline_wait(&deadline));
}

static bool has_document(const struct turns *t, int64_t id)
{
    char path[64];
    struct reply reply;
    snprintf(path, sizeof(path), "/shop-articles/_doc/%lld", (long long)id);
    reply_get(&reply, "GET", t->w.service.url, path, NULL, "ApiKey " WORLD_API_KEY);
    bool has = reply.status == 200;
    reply_release(&reply);
    return has;
}

/* Waits for a last change to arrive, which implies that all earlier ones did. */
static void expect_equal(struct turns *t)
{
    struct deadline deadline = deadline_after(WAIT_MS);
    int64_t id = t->next_id++;
    sql_exec(t->w.conn, "insert into articles (source_id, title) values (%lld, 'last')",
             (long long)id);
    while (!has_document(t, id)) {
        ck_assert_msg(deadline_wait(&deadline), "document %lld never came", (long long)id);
    }
    world_await_equal(&t->w, WAIT_MS);
}

static void await_takeover(struct turns *t, const char *what, int64_t began_ms)
{
    struct program *next = &t->program[1 - t->holder];
    program_await(next, "event=took_over", TAKEOVER_MS);
    int64_t took_ms = deadline_now_ms() - began_ms;
    t->longest_ms = took_ms > t->longest_ms ? took_ms : t->longest_ms;
    printf("%s: taken over within %lld ms\n", what, (long long)took_ms);
    fflush(stdout);
    t->hits++;
    program_await(next, "event=following", WAIT_MS);
}

/* The other host stands by from the beginning. */
static void begin(struct turns *t)
{
    *t = (struct turns){.next_id = 1000000};
    world_start(&t->w, ROWS, NULL);
    t->w.members = "\"delete_guard\": {\"share\": 0.9}"; /* a stopped holder causes many */
    world_configure(&t->w, CRASH_PROPERTIES, "");
    world_install(&t->w);
    t->config[0] = t->w.config;
    t->config[1] = world_config_of_another(&t->w);
    start(t, 0);
    program_await(&t->program[0], "event=following", WAIT_MS);
    start(t, 1);
    program_await(&t->program[1], "event=standing_by", WAIT_MS);
}

static void finish(struct turns *t, const char *fault)
{
    crash_tell_hits(fault, t->hits, "times, taken over after %lld ms at most",
                    (long long)t->longest_ms);
    end(t, t->holder, SIGTERM);
    end(t, 1 - t->holder, SIGTERM);
    free((void *)(uintptr_t)t->config[1]);
    world_stop(&t->w);
}

static void change_turns(struct turns *t)
{
    int host = t->holder;
    t->holder = 1 - host;
    start(t, host);
    program_await(&t->program[host], "event=standing_by", WAIT_MS);
}

START_TEST(killed_holders_are_followed_and_nothing_is_lost)
{
    struct turns t;
    begin(&t);
    for (int64_t i = crash_setting("ROWFERRY_STANDBY_KILLS", 5); i > 0; i--) {
        write_for(&t, crash_dice(WRITES_MS));
        int64_t began_ms = deadline_now_ms();
        end(&t, t.holder, SIGKILL);
        write_once(&t);
        await_takeover(&t, "killed", began_ms);
        write_for(&t, crash_dice(WRITES_MS));
        expect_equal(&t);
        change_turns(&t);
    }
    finish(&t, "holder killed");
}
END_TEST

START_TEST(stopped_holders_come_back_and_disturb_nothing)
{
    struct turns t;
    begin(&t);
    for (int64_t i = crash_setting("ROWFERRY_STANDBY_STOPS", 1); i > 0; i--) {
        write_for(&t, crash_dice(WRITES_MS));
        int64_t began_ms = deadline_now_ms();
        program_signal(&t.program[t.holder], SIGSTOP);
        write_for(&t, crash_dice(WRITES_MS));
        await_takeover(&t, "stopped", began_ms);
        write_for(&t, crash_dice(WRITES_MS));
        program_signal(&t.program[t.holder], SIGCONT);
        write_for(&t, crash_dice(WRITES_MS));
        program_await(&t.program[t.holder], "event=lost", WAIT_MS);
        expect_equal(&t);
        end(&t, t.holder, SIGTERM);
        change_turns(&t);
    }
    finish(&t, "holder stopped");
}
END_TEST

CRASH_MAIN("crash/standby", killed_holders_are_followed_and_nothing_is_lost,
           stopped_holders_come_back_and_disturb_nothing)
