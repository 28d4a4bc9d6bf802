/* SPDX-License-Identifier: Apache-2.0 */
/* run reports what delays it: an old transaction, a service that accepts nothing. */
#include <json-c/json.h>
#include <stdarg.h>

#include "cluster.h"
#include "listens.h"

#define STALLS_MS 120000 /* half a minute without progress, on a busy machine */

/* Returns the output of `status --json`; the caller releases it. */
static struct json_object *status_of(const struct world *w)
{
    struct program_result result;
    rowferry_run(&result, w->config, "status", "--json", "articles", NULL);
    ck_assert_msg(result.exit_code == 0, "%s", result.err);
    struct json_object *json = json_tokener_parse(result.out);
    ck_assert_msg(json != NULL, "%s", result.out);
    program_result_release(&result);
    return json;
}

static int64_t watermark_pid(struct json_object *status)
{
    struct json_object *watermark = json_object_object_get(status, "watermark");
    return watermark != NULL ? json_object_get_int64(json_object_object_get(watermark, "pid")) : 0;
}

/* Waits until the status names this session, or none if pid is 0. */
static struct json_object *await_watermark(const struct world *w, int64_t pid)
{
    struct deadline deadline = deadline_after(WAIT_MS);
    struct json_object *status = status_of(w);
    while (watermark_pid(status) != pid) {
        ck_assert_msg(deadline_wait(&deadline), "%s", json_object_to_json_string(status));
        json_object_put(status);
        status = status_of(w);
    }
    return status;
}

/* Waits until the status reports a stall, or none; the log is written earlier. The caller releases
 * the result. */
static struct json_object *await_stall(const struct world *w, bool stalled)
{
    struct deadline deadline = deadline_after(WAIT_MS);
    struct json_object *status = status_of(w);
    while ((json_object_object_get(status, "stall") != NULL) != stalled) {
        ck_assert_msg(deadline_wait(&deadline), "%s", json_object_to_json_string(status));
        json_object_put(status);
        status = status_of(w);
    }
    return status;
}

static int occurrences(const char *text, const char *part)
{
    int count = 0;
    for (const char *at = strstr(text, part); at != NULL; at = strstr(at + 1, part)) {
        count++;
    }
    return count;
}

/* Returns the value of the sample whose line begins like this. */
__attribute__((format(printf, 2, 3))) static double metric(const struct listens *l,
                                                           const char *format, ...)
{
    char sample[160];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(sample, sizeof(sample), format, arguments);
    va_end(arguments);
    char *text = listens_get(l, "/metrics", 200);
    const char *at = strstr(text, sample);
    ck_assert_msg(at != NULL, "no %s in %s", sample, text);
    double value = strtod(at + strlen(sample), NULL);
    free(text);
    return value;
}

START_TEST(a_session_left_idle_in_transaction_is_named_with_pid_and_age)
{
    struct world w;
    struct listens l;
    char line[96];
    world_start(&w, 100, NULL);
    world_install(&w);
    PGconn *idle = sql_open(w.uri);
    int64_t pid = sql_int(idle, "select pg_backend_pid()");
    sql_exec(idle, "set application_name = 'forgotten'; begin; select count(*) from articles");
    listens_start(&l, &w);
    struct json_object *status = await_watermark(&w, pid);
    struct json_object *watermark = json_object_object_get(status, "watermark");
    ck_assert(json_object_get_double(json_object_object_get(watermark, "age_seconds")) >= 1);
    const char *who = json_object_get_string(json_object_object_get(watermark, "who"));
    expect_text(who, "\"forgotten\"");
    expect_text(who, "idle in transaction");
    json_object_put(status);
    snprintf(line, sizeof(line), "watermark     process %lld (\"forgotten\" of ", (long long)pid);
    expect_status(&w, "articles", line);
    snprintf(line, sizeof(line), "\"watermark\":{\"pid\":%lld,", (long long)pid);
    listens_await(&l, "/status", 200, line);
    ck_assert(metric(&l, "rowferry_watermark_age_seconds{pipeline=\"articles\",pid=\"%lld\"} ",
                     (long long)pid) >= 1);
    set_title(&w, 5, "not held up"); /* reading does not wait for it */
    await_title(&w, 5, "not held up");
    sql_exec(idle, "rollback");
    struct deadline deadline = deadline_after(WAIT_MS);
    for (bool named = true; named;) {
        status = status_of(&w);
        named = watermark_pid(status) == pid;
        json_object_put(status);
        ck_assert(!named || deadline_wait(&deadline));
    }
    PQfinish(idle);
    end_run(&l.program);
    world_stop(&w);
}
END_TEST

START_TEST(a_service_that_takes_nothing_is_one_stall_with_its_cause_and_ends_when_it_does)
{
    struct world w;
    struct listens l;
    struct program_result result;
    world_start(&w, 100, NULL);
    world_install(&w);
    listens_start(&l, &w);
    world_fault(&w, "{\"status\":429}");
    set_title(&w, 5, "late");
    program_await(&l.program, "event=stalled pipeline=articles cause=service_refuses", STALLS_MS);
    struct json_object *status = await_stall(&w, true);
    ck_assert_str_eq(json_object_get_string(json_object_object_get(status, "state")), "stalled");
    struct json_object *stall = json_object_object_get(status, "stall");
    ck_assert_str_eq(json_object_get_string(json_object_object_get(stall, "cause")),
                     "service_refuses");
    expect_text(json_object_get_string(json_object_object_get(stall, "why")), "it answers 429");
    ck_assert_ptr_nonnull(json_object_object_get(stall, "since"));
    ck_assert_int_ge(json_object_get_int64(json_object_object_get(status, "lag_rows")), 1);
    json_object_put(status);
    expect_status(&w, "articles", "state         stalled since ");
    listens_await(&l, "/readyz", 503, "service_refuses");
    listens_await(&l, "/metrics", 200,
                  "rowferry_stalled{pipeline=\"articles\",cause=\"service_refuses\"} 1\n");
    world_unfault(&w);
    await_title(&w, 5, "late");
    program_await(&l.program, "event=goes_on pipeline=articles", WAIT_MS);
    listens_await(&l, "/readyz", 200, "");
    json_object_put(await_stall(&w, false));
    stop_run(&l.program, SIGTERM, 0, &result);
    ck_assert_int_eq(occurrences(result.err, "event=stalled"), 1);
    ck_assert_int_eq(occurrences(result.err, "event=goes_on"), 1);
    program_result_release(&result);
    world_stop(&w);
}
END_TEST

START_TEST(each_operation_is_measured_from_commit_to_acknowledged_and_at_rest_nothing_lags)
{
    struct world w;
    struct listens l;
    world_start(&w, 100, NULL);
    world_install(&w);
    listens_start(&l, &w);
    listens_await(&l, "/metrics", 200, "\nrowferry_lag_rows{pipeline=\"articles\"} 0\n");
    ck_assert(metric(&l, "rowferry_latency_seconds_count{pipeline=\"articles\"} ") == 0);
    for (int id = 1; id <= 50; id++) {
        set_title(&w, id, "measured");
    }
    listens_await(&l, "/metrics", 200,
                  "\nrowferry_latency_seconds_count{pipeline=\"articles\"} 50\n");
    double sum_s = metric(&l, "rowferry_latency_seconds_sum{pipeline=\"articles\"} ");
    ck_assert_msg(sum_s > 0 && sum_s < 50 * 20, "%f", sum_s);
    ck_assert(metric(&l, "rowferry_lag_seconds{pipeline=\"articles\"} ") < 20);
    listens_await(&l, "/metrics", 200, "\nrowferry_lag_rows{pipeline=\"articles\"} 0\n");
    end_run(&l.program);
    world_stop(&w);
}
END_TEST

START_TEST(a_guard_that_refuses_is_a_stall_at_once)
{
    struct world w;
    struct program p;
    struct program_result result;
    world_start(&w, 1000, NULL);
    world_install(&w);
    start_run(&w, &p);
    sql_exec(w.conn, "delete from articles where source_id > 300");
    program_await(&p, "event=guard pipeline=articles", WAIT_MS);
    struct json_object *status = await_stall(&w, true);
    struct json_object *stall = json_object_object_get(status, "stall");
    ck_assert_str_eq(json_object_get_string(json_object_object_get(stall, "cause")), "guard");
    json_object_put(status);
    stop_guarded_run(&p, &result);
    ck_assert_int_eq(occurrences(result.err, "event=stalled"), 0); /* one event is logged once */
    program_result_release(&result);
    world_stop(&w);
}
END_TEST

START_TEST(a_pause_ends_a_stall)
{
    struct world w;
    struct listens l;
    struct program_result result;
    world_start(&w, 1000, NULL);
    world_install(&w);
    listens_start(&l, &w);
    sql_exec(w.conn, "delete from articles where source_id > 300");
    listens_await(&l, "/metrics", 200, "rowferry_stalled{pipeline=\"articles\",cause=\"guard\"} 1");
    rowferry_run(&result, w.config, "pause", "articles", NULL);
    ck_assert_msg(result.exit_code == 0, "%s%s", result.out, result.err);
    program_result_release(&result);
    listens_await(&l, "/metrics", 200, "rowferry_stalled{pipeline=\"articles\"} 0");
    listens_await(&l, "/readyz", 200, "");
    program_signal(&l.program, SIGTERM);
    program_finish(&l.program, WAIT_MS, &result);
    program_result_release(&result);
    world_stop(&w);
}
END_TEST

CLUSTER_MAIN("run/stall", a_session_left_idle_in_transaction_is_named_with_pid_and_age,
             a_service_that_takes_nothing_is_one_stall_with_its_cause_and_ends_when_it_does,
             each_operation_is_measured_from_commit_to_acknowledged_and_at_rest_nothing_lags,
             a_guard_that_refuses_is_a_stall_at_once, a_pause_ends_a_stall)
