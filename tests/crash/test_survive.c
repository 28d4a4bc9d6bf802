/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Events in the life of an unattended `run`: changing host names, a suspended machine, a jumping
 * wall clock, a disk that is full for a while. Each is logged by one line when it begins and one
 * when it ends.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cluster.h"
#include "compare.h"
#include "crash.h"
#include "http.h"
#include "rowferry/base/text.h"
#include "sql.h"
#include "suite.h"
#include "wait.h"

#define ROWS 500
#define HOUR_S 3600L

static struct cluster cluster;

/* --- shared helpers -------------------------------------------------------------------------- */

/* Writes the configuration with these members of "source" and this URL of the service. */
static void configure(struct world *w, const char *source, const char *url, const char *more)
{
    char *text = NULL;
    ck_assert_int_gt(
        asprintf(&text,
                 "{\"accept_admin\": true, \"source\": {%s}, \"service\": {\"url\": \"%s\", "
                 "\"allow_cleartext_credentials\": true, \"auth\": {\"api_key\": {\"file\": "
                 "\"%s/key\"}}}, \"state\": {\"path\": \"%s/state.db\"}, \"pipelines\": "
                 "[{\"name\": \"articles\", \"from\": {\"table\": \"public.articles\"}, \"to\": "
                 "{\"index\": \"shop-articles\", \"mappings\": {\"properties\": {%s}}}%s}]}",
                 source, url, w->dir, w->dir, CRASH_PROPERTIES, more),
        0);
    free(w->config);
    w->config = scratch_write(w->dir, "survive.json", text);
    free(text);
}

static void start_run(const struct world *w, struct program *p, const char *const *env)
{
    program_start(
        p, (const char *const[]){getenv("ROWFERRY_PROGRAM"), "-c", w->config, "run", NULL}, env);
    program_await(p, "event=following", WAIT_MS);
}

static void change(const struct world *w, const char *title)
{
    sql_exec(w->conn, "update articles set title = '%s' where source_id <= 100", title);
}

static bool has_title(const struct world *w, int64_t id, const char *title)
{
    char path[128];
    char wanted[128];
    struct reply reply;
    snprintf(path, sizeof(path), "/shop-articles/_doc/%lld", (long long)id);
    snprintf(wanted, sizeof(wanted), "\"title\":\"%s\"", title);
    reply_get(&reply, "GET", w->service.url, path, NULL, "ApiKey " WORLD_API_KEY);
    bool has = reply.status == 200 && strstr(reply.body, wanted) != NULL;
    reply_release(&reply);
    return has;
}

static void await_title(const struct world *w, const char *title)
{
    struct deadline deadline = deadline_after(WAIT_MS);
    for (int64_t id = 1; id <= 100; id += 33) {
        while (!has_title(w, id, title)) {
            ck_assert_msg(deadline_wait(&deadline), "document %lld never got the title \"%s\"",
                          (long long)id, title);
        }
    }
}

static void arrives(const struct world *w, const char *title)
{
    change(w, title);
    await_title(w, title);
}

static void pause_ms(int64_t ms)
{
    struct deadline end = deadline_after(ms);
    while (deadline_wait(&end)) {
    }
}

static int lines_with(const char *text, const char *part)
{
    int count = 0;
    for (const char *at = text; (at = strstr(at, part)) != NULL; at += strlen(part)) {
        count++;
    }
    return count;
}

/* Waits until the program has printed the text that often. */
static void await_lines(const struct program *p, const char *part, int count)
{
    struct deadline deadline = deadline_after(WAIT_MS);
    for (int told = 0; told < count;) {
        char *said = program_said(p);
        told = lines_with(said, part);
        ck_assert_msg(told >= count || deadline_wait(&deadline), "\"%s\" not %d times: %.2000s",
                      part, count, said);
        free(said);
    }
}

static void expect_lines(const struct program_result *result, const char *part, int count)
{
    ck_assert_msg(lines_with(result->err, part) == count, "\"%s\" %d times and not %d: %s", part,
                  lines_with(result->err, part), count, result->err);
}

static void end_run(struct program *p, struct program_result *result)
{
    program_signal(p, SIGTERM);
    program_finish(p, WAIT_MS, result);
    ck_assert_msg(result->exit_code == 0, "exit code %d: %s", result->exit_code, result->err);
}

/* --- changing host names --------------------------------------------------------------------- */

struct names {
    char *path;
    char *asked;
    char env[2][512];
};

static void names_start(struct names *n, const struct world *w)
{
    n->path = scratch_path(w->dir, "names");
    n->asked = scratch_path(w->dir, "names.asked");
    snprintf(n->env[0], sizeof(n->env[0]), "ROWFERRY_TEST_NAMES=%s", n->path);
    snprintf(n->env[1], sizeof(n->env[1]), "LD_PRELOAD=%s", TEST_ELSEWHERE);
}

static void names_release(struct names *n)
{
    free(n->path);
    free(n->asked);
}

/* Makes the names resolve to these ports from now on. */
static void names_say(const struct world *w, const char *pg, int service)
{
    char text[256];
    snprintf(text, sizeof(text), "source.test 127.0.0.1 %s\nservice.test 127.0.0.1 %d\n", pg,
             service);
    free(scratch_write(w->dir, "names", text));
}

/* Returns true if the name was resolved to this port since the start. */
static bool names_led_to(const struct names *n, const char *name, const char *port)
{
    char line[128];
    char wanted[128];
    bool led = false;
    snprintf(wanted, sizeof(wanted), "%s %s\n", name, port);
    FILE *file = fopen(n->asked, "re");
    while (file != NULL && !led && fgets(line, sizeof(line), file) != NULL) {
        led = strcmp(line, wanted) == 0;
    }
    if (file != NULL) {
        fclose(file);
    }
    return led;
}

/* Configures the connection by name; the database is the world's. */
static void by_name(struct world *w, const char *url)
{
    char source[512];
    const char *at = strchr(w->uri, '@');
    ck_assert_ptr_nonnull(at);
    snprintf(source, sizeof(source), "\"uri\": \"%.*s@source.test:1%s?sslmode=disable\"",
             (int)(at - w->uri), w->uri, strrchr(w->uri, '/'));
    configure(w, source, url, "");
}

START_TEST(a_service_whose_name_moves_is_found_where_it_is_now)
{
    struct world w;
    struct program p;
    struct names names;
    struct program_result result;
    char port[16];
    char *data = scratch_new();
    world_start(&w, ROWS, (const char *const[]){"--data", data, NULL});
    char *key = scratch_path(w.dir, "key");
    world_install(&w);
    names_start(&names, &w);
    names_say(&w, cluster.port, w.service.port);
    by_name(&w, "http://service.test:1");
    const char *const env[] = {names.env[0], names.env[1], NULL};
    start_run(&w, &p, env);
    arrives(&w, "before");
    devsearch_stop(&w.service);
    change(&w, "meanwhile");
    program_await(&p, "event=away pipeline=articles side=service", WAIT_MS);
    devsearch_start(&w.service, (const char *const[]){"--api-key-file", key, "--data", data, NULL});
    names_say(&w, cluster.port, w.service.port);
    await_title(&w, "meanwhile");
    arrives(&w, "after");
    snprintf(port, sizeof(port), "%d", w.service.port);
    ck_assert(names_led_to(&names, "service.test", port));
    end_run(&p, &result);
    expect_lines(&result, "event=away", 1);
    expect_lines(&result, "event=back pipeline=articles side=service", 1);
    crash_tell_hits("service moved", lines_with(result.err, "event=away"), "times away");
    program_result_release(&result);
    world_expect_equal(&w);
    names_release(&names);
    free(key);
    world_stop(&w);
    scratch_remove(data);
}
END_TEST

START_TEST(a_source_whose_name_moves_is_found_where_it_is_now)
{
    struct world w;
    struct program p;
    struct names names;
    struct program_result result;
    char port[16];
    world_start(&w, ROWS, NULL);
    world_install(&w);
    names_start(&names, &w);
    names_say(&w, cluster.port, w.service.port);
    by_name(&w, "http://service.test:1");
    const char *const env[] = {names.env[0], names.env[1], NULL};
    start_run(&w, &p, env);
    arrives(&w, "before");
    cluster_kill(&cluster, SIGINT);
    program_await(&p, "event=away pipeline=articles side=source", WAIT_MS);
    snprintf(port, sizeof(port), "%d", free_port());
    cluster_move(&cluster, port);
    names_say(&w, port, w.service.port);
    cluster_use(&cluster);
    char *uri = cluster_uri(&cluster, w.uri);
    free(w.uri);
    w.uri = uri;
    PQfinish(w.conn);
    w.conn = sql_open(w.uri);
    arrives(&w, "after");
    ck_assert(names_led_to(&names, "source.test", port));
    end_run(&p, &result);
    expect_lines(&result, "event=away", 1);
    expect_lines(&result, "event=back pipeline=articles side=source", 1);
    crash_tell_hits("source moved", lines_with(result.err, "event=away"), "times away");
    program_result_release(&result);
    world_expect_equal(&w);
    names_release(&names);
    world_stop(&w);
}
END_TEST

/* --- a suspended machine --------------------------------------------------------------------- */

static int64_t faults_fired(const struct world *w)
{
    struct json_object *stats =
        reply_json(200, "GET", w->service.url, "/_devsearch/stats", NULL, "ApiKey " WORLD_API_KEY);
    int64_t fired = json_object_get_int64(json_object_object_get(stats, "faults_fired"));
    json_object_put(stats);
    return fired;
}

/* Checks that another process is refused with the exit code of a held pipeline. */
static void expect_held(const struct world *w)
{
    struct program_result result;
    rowferry_run(&result, w->config, "sync", NULL);
    ck_assert_msg(result.exit_code == 5, "exit code %d: %s", result.exit_code, result.err);
    program_result_release(&result);
}

/* Suspended in the middle of a request for longer than request_timeout. */
START_TEST(a_machine_that_slept_goes_on_where_it_was)
{
    struct world w;
    struct program p;
    struct program_result result;
    int64_t asleep_ms = crash_setting("ROWFERRY_ASLEEP_S", 30) * 1000;
    world_start(&w, ROWS, NULL);
    world_configure(&w, CRASH_PROPERTIES, "\"request_timeout\": \"5s\"");
    world_install(&w);
    start_run(&w, &p, NULL);
    arrives(&w, "before");
    world_fault(&w, "{\"delay_ms\":1000,\"count\":1}");
    change(&w, "in flight");
    struct deadline deadline = deadline_after(WAIT_MS);
    while (faults_fired(&w) == 0) {
        ck_assert(deadline_wait(&deadline));
    }
    program_signal(&p, SIGSTOP);
    struct deadline asleep = deadline_after(asleep_ms);
    expect_held(&w);
    for (int i = 0; deadline_wait(&asleep); i++) {
        sql_exec(w.conn, "update articles set title = 'asleep %d' where source_id = %d", i,
                 101 + i % 300);
        pause_ms(10);
    }
    program_signal(&p, SIGCONT);
    await_title(&w, "in flight");
    arrives(&w, "awake");
    expect_held(&w);
    end_run(&p, &result);
    ck_assert_msg(lines_with(result.err, "event=away") <= 1 &&
                      lines_with(result.err, "event=away") == lines_with(result.err, "event=back"),
                  "%s", result.err);
    crash_tell_hits("agent asleep", asleep_ms / 1000, "seconds, in a request");
    program_result_release(&result);
    world_expect_equal(&w);
    world_stop(&w);
}
END_TEST

/* --- a jumping wall clock -------------------------------------------------------------------- */

/* With a daily verify and an hourly reconcile: a jump may make each due once, not repeatedly. */
START_TEST(a_wall_clock_that_jumps_by_hours_is_no_news)
{
    static const long ahead_h[] = {6, -12, 0, 30, -1};
    struct world w;
    struct program p;
    struct program_result result;
    char source[512];
    char env[2][512];
    world_start(&w, ROWS, NULL);
    char *path = scratch_path(w.dir, "clock");
    snprintf(source, sizeof(source), "\"uri\": \"%s\"", w.uri);
    configure(&w, source, w.service.url, ", \"verify\": {\"every\": \"24h\"}");
    world_install(&w);
    snprintf(env[0], sizeof(env[0]), "ROWFERRY_TEST_CLOCK=%s", path);
    snprintf(env[1], sizeof(env[1]), "LD_PRELOAD=%s", TEST_ELSEWHERE);
    const char *const both[] = {env[0], env[1], NULL};
    start_run(&w, &p, both);
    arrives(&w, "before");
    for (size_t i = 0; i < sizeof(ahead_h) / sizeof(ahead_h[0]); i++) {
        char text[32];
        snprintf(text, sizeof(text), "%ld\n", ahead_h[i] * HOUR_S);
        free(scratch_write(w.dir, "clock", text));
        snprintf(text, sizeof(text), "%ld hours", ahead_h[i]);
        arrives(&w, text);
        arrives(&w, "and once more");
        pause_ms(1500);
        ck_assert(program_running(&p));
    }
    program_signal(&p, SIGKILL);
    program_finish(&p, WAIT_MS, &result);
    expect_lines(&result, "event=away", 0);
    expect_lines(&result, "event=stalled", 0);
    ck_assert_msg(lines_with(result.err, "\n") < 60, "it says too much: %s", result.err);
    program_result_release(&result);
    start_run(&w, &p, NULL); /* its records were written by a clock that was hours ahead */
    arrives(&w, "after");
    end_run(&p, &result);
    program_result_release(&result);
    crash_tell_hits("wall clock jumped", sizeof(ahead_h) / sizeof(ahead_h[0]), "times");
    world_expect_equal(&w);
    free(path);
    world_stop(&w);
}
END_TEST

/* --- a disk that is full for a while --------------------------------------------------------- */

START_TEST(a_disk_that_is_full_for_a_while_is_told_twice_each_time)
{
    struct world w;
    struct program p;
    struct program_result result;
    char env[2][512];
    world_start(&w, ROWS, NULL);
    world_install(&w);
    char *path = scratch_path(w.dir, "full");
    snprintf(env[0], sizeof(env[0]), "ROWFERRY_TEST_FULL_WHILE=%s", path);
    snprintf(env[1], sizeof(env[1]), "LD_PRELOAD=%s", TEST_NOSPACE);
    const char *const both[] = {env[0], env[1], NULL};
    start_run(&w, &p, both);
    for (int i = 0; i < 2; i++) {
        char title[32];
        snprintf(title, sizeof(title), "before %d", i);
        arrives(&w, title);
        free(scratch_write(w.dir, "full", ""));
        snprintf(title, sizeof(title), "full %d", i);
        change(&w, title);
        await_lines(&p, "event=stalled", i + 1);
        pause_ms(6000);
        ck_assert_int_eq(unlink(path), 0);
        await_title(&w, title);
        await_lines(&p, "event=goes_on", i + 1); /* a document arrives before its report */
    }
    arrives(&w, "after");
    end_run(&p, &result);
    expect_lines(&result, "event=stalled", 2);
    expect_lines(&result, "event=goes_on", 2);
    ck_assert_msg(lines_with(result.err, "\n") < 40, "it says too much: %s", result.err);
    crash_tell_hits("disk full", lines_with(result.err, "event=stalled"), "times stalled");
    program_result_release(&result);
    world_expect_equal(&w);
    free(path);
    world_stop(&w);
}
END_TEST

/* --- tests ----------------------------------------------------------------------------------- */

static void start_server(void)
{
    cluster_start(&cluster, NULL);
    cluster_use(&cluster);
}

/* Runs also after a failed test. */
static void stop_server(void)
{
    cluster_stop(&cluster);
}

int main(void)
{
    const TTest *const tests[] = {
        a_service_whose_name_moves_is_found_where_it_is_now,
        a_source_whose_name_moves_is_found_where_it_is_now,
        a_machine_that_slept_goes_on_where_it_was,
        a_wall_clock_that_jumps_by_hours_is_no_news,
        a_disk_that_is_full_for_a_while_is_told_twice_each_time,
    };
    Suite *suite = suite_create("crash/survive");
    for (size_t i = 0; i < sizeof(tests) / sizeof(tests[0]); i++) {
        TCase *tcase = tcase_create(tests[i]->name);
        tcase_set_timeout(tcase, 0);
        tcase_add_unchecked_fixture(tcase, start_server, stop_server);
        tcase_add_test(tcase, tests[i]);
        suite_add_tcase(suite, tcase);
    }
    return suite_end(suite);
}
