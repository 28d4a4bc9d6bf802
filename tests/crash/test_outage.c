/* SPDX-License-Identifier: Apache-2.0 */
/* A service that refuses, disconnects or hangs in the middle of an initial load: the sync waits
 * and succeeds. */
#include "crash.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sql.h"
#include "wait.h"

#define ROWS 30000
#define LIMITS "\"batch_operations\": 100, \"in_flight\": 4, \"window_bytes\": \"256KiB\""

static int lines_with(const char *text, const char *event)
{
    int count = 0;
    for (const char *at = text; (at = strstr(at, event)) != NULL; at += strlen(event)) {
        count++;
    }
    return count;
}

/* Applies the fault for $ROWFERRY_OUTAGE_S from the middle of a load on, once the sync has noticed
 * it. */
static void ridden_out(const char *name, const char *fault, const char *limits)
{
    struct world w;
    struct program program;
    struct program_result result;
    int64_t outage_ms = crash_setting("ROWFERRY_OUTAGE_S", 3) * 1000;
    crash_world(&w, ROWS);
    world_configure(&w, CRASH_PROPERTIES, limits);
    crash_slow_until(&w, ROWS / 3);
    rowferry_start(&program, w.config, "sync", "--json", NULL);
    crash_await_taken(&w, 0, ROWS / 3, &program);
    program_signal(&program, SIGSTOP); /* otherwise it may end in between */
    world_unfault(&w);
    world_fault(&w, fault);
    program_signal(&program, SIGCONT);
    program_await(&program, "event=away", WAIT_MS);
    struct deadline outage = deadline_after(outage_ms);
    sql_exec(w.conn, "update articles set title = 'meanwhile' where source_id %% 100 = 0");
    while (deadline_wait(&outage)) {
    }
    ck_assert_msg(program_running(&program), "it ended during the outage");
    world_unfault(&w);
    program_finish(&program, WAIT_MS, &result);
    ck_assert_msg(result.exit_code == 0, "exit code %d: %s", result.exit_code, result.err);
    world_expect_equal(&w);
    ck_assert_msg(lines_with(result.err, "event=away") == 1 &&
                      lines_with(result.err, "event=back") == 1,
                  "not one line each: %s", result.err);
    crash_tell_hits(name, lines_with(result.err, "event=away"),
                    "times away for %lld ms, %lld retried of %d rows", (long long)outage_ms,
                    (long long)program_json_int(&result, "retried"), ROWS);
    program_result_release(&result);
    world_stop(&w);
}

START_TEST(a_service_that_answers_503_is_ridden_out)
{
    ridden_out("service answers 503", "{\"status\":503,\"path\":\"/\"}", LIMITS);
}
END_TEST

START_TEST(a_service_that_closes_every_connection_is_ridden_out)
{
    ridden_out("service closes", "{\"close\":\"before\",\"path\":\"/\"}", LIMITS);
}
END_TEST

START_TEST(a_service_that_takes_and_closes_every_connection_is_ridden_out)
{
    ridden_out("service takes and closes", "{\"close\":\"after\",\"path\":\"/\"}", LIMITS);
}
END_TEST

START_TEST(a_service_that_hangs_is_ridden_out)
{
    ridden_out("service hangs", "{\"delay_ms\":50000,\"path\":\"/\"}",
               LIMITS ", \"request_timeout\": \"10s\"");
}
END_TEST

CRASH_MAIN("crash/outage", a_service_that_answers_503_is_ridden_out,
           a_service_that_closes_every_connection_is_ridden_out,
           a_service_that_takes_and_closes_every_connection_is_ridden_out,
           a_service_that_hangs_is_ridden_out)
