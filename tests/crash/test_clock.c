/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A run with libfaketime's wall clock: a day ahead, a day back, ten times as fast, running
 * backwards. All changes arrive, versions only grow, measurements stay sane, a dead letter is made
 * and cleared, and an unreachable service is reached again.
 */
#include <glob.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "crash.h"
#include "http.h"
#include "rowferry/base/text.h"
#include "sql.h"
#include "wait.h"

#define ROWS 300
#define BACKWARDS 60 /* steps of the backwards clock */
#define LAG_MOST_S 60.0
#define SKIPPED 77

static char library[256];

struct faked {
    struct world w;
    struct program run;
    char url[64]; /* of the run's own listener */
    int64_t version;
    time_t began; /* real time of the start */
};

/* --- the clock ------------------------------------------------------------------------------- */

static bool find_library(void)
{
    glob_t found;
    bool there = glob("/usr/lib/*/faketime/libfaketimeMT.so.1", 0, NULL, &found) == 0;
    if (there) {
        snprintf(library, sizeof(library), "%s", found.gl_pathv[0]);
        globfree(&found);
    }
    return there;
}

/* Sets the clock in libfaketime's syntax. The file is replaced atomically. */
static void set_clock(const struct faked *f, const char *text)
{
    char *path = scratch_path(f->w.dir, "clock");
    char *next = scratch_write(f->w.dir, "clock.next", text);
    ck_assert_int_eq(rename(next, path), 0);
    free(next);
    free(path);
}

static void start_run(struct faked *f)
{
    char preload[300];
    char file[300];
    snprintf(preload, sizeof(preload), "LD_PRELOAD=%s", library);
    snprintf(file, sizeof(file), "FAKETIME_TIMESTAMP_FILE=%s/clock", f->w.dir);
    program_start(&f->run,
                  (const char *const[]){getenv("ROWFERRY_PROGRAM"), "-c", f->w.config, "run", NULL},
                  (const char *const[]){preload, file, "FAKETIME_NO_CACHE=1",
                                        "FAKETIME_DONT_FAKE_MONOTONIC=1", NULL});
    program_await(&f->run, "event=following", WAIT_MS);
}

/* Returns the number of log lines with the date `days` from the real one, of the start or of
 * now. */
static int64_t lines_of_day(const struct faked *f, int64_t days)
{
    char stamps[2][32];
    const time_t times[] = {f->began, time(NULL)};
    for (size_t i = 0; i < 2; i++) {
        struct tm parts;
        time_t then = times[i] + (time_t)(days * 86400);
        gmtime_r(&then, &parts);
        strftime(stamps[i], sizeof(stamps[i]), "%Y-%m-%dT", &parts);
    }
    bool same = strcmp(stamps[0], stamps[1]) == 0;
    return crash_said(&f->run, stamps[0]) + (same ? 0 : crash_said(&f->run, stamps[1]));
}

/* --- checks ---------------------------------------------------------------------------------- */

static int64_t version_of(const struct faked *f, int64_t id)
{
    char path[64];
    snprintf(path, sizeof(path), "/shop-articles/_doc/%lld", (long long)id);
    struct json_object *doc =
        reply_json(200, "GET", f->w.service.url, path, NULL, "ApiKey " WORLD_API_KEY);
    int64_t version = json_object_get_int64(json_object_object_get(doc, "_version"));
    json_object_put(doc);
    return version;
}

/* Makes a change that writes the same document each time. Its version must grow, whatever the
 * clock shows. */
static void arrives(struct faked *f, const char *title)
{
    sql_exec(f->w.conn,
             "update articles set title = '%s' where source_id <= 50;"
             "delete from articles where source_id = (select max(source_id) from articles)",
             title);
    crash_await_equal(&f->w, &f->run);
    int64_t version = version_of(f, 1);
    ck_assert_msg(version > f->version, "%s: version %lld after %lld", title, (long long)version,
                  (long long)f->version);
    f->version = version;
}

/* Waits until the run's lag gauge is below the limit, because the gauge is updated by polls. */
static void await_lag(const struct faked *f)
{
    static const char name[] = "rowferry_lag_seconds{pipeline=\"articles\"} ";
    struct deadline deadline = deadline_after(WAIT_MS);
    for (;;) {
        struct reply reply;
        reply_get(&reply, "GET", f->url, "/metrics", NULL, NULL);
        ck_assert_int_eq(reply.status, 200);
        const char *at = strstr(reply.body, name);
        double lag = at != NULL ? strtod(at + strlen(name), NULL) : -1;
        reply_release(&reply);
        if (lag >= 0 && lag < LAG_MOST_S) {
            return;
        }
        ck_assert_msg(deadline_wait(&deadline), "a lag of %g s", lag);
    }
}

static int64_t open_letters(const struct faked *f)
{
    struct program_result result;
    int64_t count = 0;
    rowferry_run(&result, f->w.config, "deadletter", "list", "--json", NULL);
    ck_assert_msg(result.exit_code == 0, "exit code %d: %s", result.exit_code, result.err);
    for (const char *at = result.out; (at = strchr(at, '\n')) != NULL; at++) {
        count++;
    }
    program_result_release(&result);
    return count;
}

static void await_letters(const struct faked *f, int64_t count)
{
    struct deadline deadline = deadline_after(WAIT_MS);
    while (open_letters(f) != count) {
        ck_assert_msg(deadline_wait(&deadline), "never %lld dead letters", (long long)count);
    }
}

/* --- jumps ----------------------------------------------------------------------------------- */

static void jump(struct faked *f, const char *clock, const char *title)
{
    set_clock(f, clock);
    arrives(f, title);
    arrives(f, "and once more");
    await_lag(f);
}

/* Jumps while the service is unreachable, because the wait must not depend on the wall clock. */
static void jump_away(struct faked *f, const char *clock, const char *title)
{
    int before = crash_said(&f->run, "event=away");
    world_fault(&f->w, "{\"status\":503,\"path\":\"/\"}");
    sql_exec(f->w.conn, "update articles set title = 'away' where source_id <= 50");
    crash_await_said(&f->run, "event=away", before + 1);
    set_clock(f, clock);
    world_unfault(&f->w);
    arrives(f, title);
}

/* Sets the clock back about two seconds per second. Returns the number of steps. */
static int64_t run_backwards(struct faked *f)
{
    int64_t steps = 0;
    for (int i = 0; i < BACKWARDS; i++) {
        char text[32];
        char title[32];
        snprintf(text, sizeof(text), "-%d\n", 10 + i * 2);
        snprintf(title, sizeof(title), "backwards %d", i);
        set_clock(f, text);
        if (i % 10 == 0) {
            arrives(f, title);
        }
        steps++;
    }
    await_lag(f);
    return steps;
}

static void faked_start(struct faked *f)
{
    char *text = NULL;
    int port = free_port();
    *f = (struct faked){.began = time(NULL)};
    world_start(&f->w, ROWS, NULL);
    world_install(&f->w);
    ck_assert_int_gt(
        asprintf(&text,
                 "{\"accept_admin\": true, \"source\": {\"uri\": \"%s\"}, \"service\": {\"url\": "
                 "\"%s\", \"auth\": "
                 "{\"api_key\": {\"file\": \"%s/key\"}}}, \"state\": {\"path\": \"%s/state.db\"}, "
                 "\"listen\": \"127.0.0.1:%d\", \"pipelines\": [{\"name\": \"articles\", \"from\": "
                 "{\"table\": \"public.articles\"}, \"to\": {\"index\": \"shop-articles\", "
                 "\"mappings\": {\"properties\": {%s}}}}]}",
                 f->w.uri, f->w.service.url, f->w.dir, f->w.dir, port, CRASH_PROPERTIES),
        0);
    free(f->w.config);
    f->w.config = scratch_write(f->w.dir, "clock.json", text);
    free(text);
    snprintf(f->url, sizeof(f->url), "http://127.0.0.1:%d", port);
    set_clock(f, "+0\n");
    start_run(f);
    arrives(f, "before");
}

static void refused_and_mended(struct faked *f)
{
    set_clock(f, "+1d\n");
    sql_exec(f->w.conn, "insert into articles (source_id, title, updated_at) values (5000, 'no "
                        "date', 'infinity')");
    await_letters(f, 1);
    set_clock(f, "-1d\n");
    sql_exec(f->w.conn, "update articles set updated_at = now() where source_id = 5000");
    await_letters(f, 0);
    arrives(f, "mended");
}

START_TEST(everything_arrives_whatever_the_wall_clock_says)
{
    struct faked f;
    struct program_result result;
    faked_start(&f);
    jump(&f, "+1d\n", "a day ahead");
    jump(&f, "-1d\n", "a day back");
    jump_away(&f, "+1d\n", "ahead while it was away");
    jump_away(&f, "-1d\n", "back while it was away");
    refused_and_mended(&f);
    jump(&f, "+0 x10\n", "ten times as fast");
    jump(&f, "-1h x0.1\n", "a tenth as fast");
    int64_t steps = run_backwards(&f);
    crash_tell_hits("wall clock a day ahead", lines_of_day(&f, 1), "lines of its log");
    crash_tell_hits("wall clock a day back", lines_of_day(&f, -1), "lines of its log");
    crash_tell_hits("wall clock backwards", steps, "steps");
    program_signal(&f.run, SIGTERM);
    program_finish(&f.run, WAIT_MS, &result);
    ck_assert_msg(result.exit_code == 0, "exit code %d: %s", result.exit_code, result.err);
    program_result_release(&result);
    rowferry_expect(0, f.w.config, "verify", NULL);
    sql_exec(f.w.conn, "update articles set title = 'by the true clock' where source_id <= 50");
    rowferry_expect(0, f.w.config, "sync", NULL);
    world_expect_equal(&f.w);
    ck_assert_int_gt(version_of(&f, 1), f.version);
    world_stop(&f.w);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {everything_arrives_whatever_the_wall_clock_says};
    if (!find_library()) {
        printf("skip: needs libfaketime (apt-get install libfaketime)\n");
        return SKIPPED;
    }
    return crash_suite("crash/clock", tests, 1);
}
