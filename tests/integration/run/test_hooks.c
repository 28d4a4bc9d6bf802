/* SPDX-License-Identifier: Apache-2.0 */
/* Hooks are told each change at least once, by sync and run; one that hangs delays nothing else. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rowferry/base/buf.h"
#include "sql.h"
#include "suite.h"
#include "wait.h"
#include "world.h"

#define ROWS 200

/* Writes the configuration with these members of "on"; %s is the file that a hook appends to. */
static void configure(struct world *w, const char *on)
{
    struct buf source;
    char *file = scratch_path(w->dir, "told");
    buf_init(&source, 65536);
    buf_printf(&source, "\"uri\": \"%s\"}, \"on\": {", w->uri);
    for (const char *at; (at = strstr(on, "FILE")) != NULL; on = at + 4) {
        buf_push(&source, on, (size_t)(at - on));
        buf_push_text(&source, file);
    }
    buf_push_text(&source, on);
    free((char *)(uintptr_t)w->source);
    w->source = buf_detach(&source);
    world_configure(w, WORLD_PROPERTIES, "\"retry_budget\": \"5s\"");
    free(file);
}

/* Returns what the hooks were told so far; the caller frees it. */
static char *told(const struct world *w)
{
    char part[4096];
    struct buf text;
    char *path = scratch_path(w->dir, "told");
    FILE *file = fopen(path, "re");
    buf_init(&text, 1 << 20);
    for (size_t n; file != NULL && (n = fread(part, 1, sizeof(part), file)) > 0;) {
        buf_push(&text, part, n);
    }
    if (file != NULL) {
        fclose(file);
    }
    free(path);
    return buf_detach(&text);
}

static int count_of(const char *text, const char *part)
{
    int count = 0;
    for (const char *at = text; (at = strstr(at, part)) != NULL; at += strlen(part)) {
        count++;
    }
    return count;
}

static void expect_told(const struct world *w, const char *event, int times)
{
    char part[64];
    char *text = told(w);
    snprintf(part, sizeof(part), "{\"event\":\"%s\",\"pipeline\":\"articles\"", event);
    ck_assert_msg(count_of(text, part) == times, "%s: told %d times, not %d:\n%s", event,
                  count_of(text, part), times, text);
    free(text);
}

static void await_told(const struct world *w, const char *event)
{
    struct deadline deadline = deadline_after(WAIT_MS);
    char part[64];
    snprintf(part, sizeof(part), "{\"event\":\"%s\"", event);
    for (bool found = false; !found;) {
        char *text = told(w);
        found = strstr(text, part) != NULL;
        ck_assert_msg(found || deadline_wait(&deadline), "never told %s:\n%s", event, text);
        free(text);
    }
}

#define APPEND(event) "\"" event "\": {\"command\": \"cat >> FILE\"}"
#define ALL                                                                                        \
    APPEND("guard")                                                                                \
    ", " APPEND("stopped") ", " APPEND("dead_letters") ", " APPEND("rebuilt") ", " APPEND("heale"  \
                                                                                          "d")

START_TEST(a_sync_tells_what_happens_once)
{
    struct world w;
    struct program_result r;
    world_start(&w, ROWS, NULL);
    world_install(&w);
    configure(&w, ALL);
    world_sync(&w, 0, &r);
    program_result_release(&r);
    char *nothing = told(&w);
    ck_assert_str_eq(nothing, "");
    free(nothing);
    sql_exec(w.conn, "delete from articles where source_id > 20");
    for (int i = 0; i < 2; i++) { /* told once, although it is refused again */
        world_sync(&w, 1, &r);
        program_result_release(&r);
    }
    expect_told(&w, "guard", 1);
    rowferry_expect(0, w.config, "sync", "--allow-deletes", NULL);
    expect_told(&w, "healed", 1);
    sql_exec(w.conn, "update articles set price = 'NaN' where source_id = 7");
    world_sync(&w, 3, &r);
    program_result_release(&r);
    expect_told(&w, "dead_letters", 1);
    rowferry_expect(3, w.config, "reindex", NULL);
    expect_told(&w, "rebuilt", 0);
    rowferry_run(&r, w.config, "sync", NULL);
    program_result_release(&r);
    expect_told(&w, "rebuilt", 1);
    char *text = told(&w);
    ck_assert_msg(strstr(text, WORLD_API_KEY) == NULL, "%s", text);
    free(text);
    free((char *)(uintptr_t)w.source);
    world_stop(&w);
}
END_TEST

/* It is told again until it takes it, also by another process. */
START_TEST(a_hook_that_fails_is_told_again)
{
    struct world w;
    struct program_result r;
    world_start(&w, ROWS, NULL);
    world_install(&w);
    configure(&w, "\"guard\": {\"command\": \"exit 7\"}");
    world_sync(&w, 0, &r);
    program_result_release(&r);
    sql_exec(w.conn, "delete from articles where source_id > 20");
    world_sync(&w, 1, &r);
    expect_text(r.err, "hook \\\"on.guard\\\": its command ended with 7");
    program_result_release(&r);
    configure(&w, "\"guard\": {\"url\": \"http://127.0.0.1:1/secret-path-0815\"}");
    world_sync(&w, 1, &r);
    expect_text(r.err, "event=hook_failed");
    ck_assert_msg(strstr(r.err, "secret-path-0815") == NULL, "%s", r.err);
    program_result_release(&r);
    configure(&w, ALL);
    world_sync(&w, 1, &r);
    program_result_release(&r);
    expect_told(&w, "guard", 1);
    free((char *)(uintptr_t)w.source);
    world_stop(&w);
}
END_TEST

/* devsearch takes any body for an index, so it is a receiver, too; it can hold its answer. */
START_TEST(a_receiver_that_hangs_delays_nothing_else)
{
    struct world w;
    struct program p;
    struct program_result r;
    char on[1024];
    world_start(&w, ROWS, NULL);
    world_install(&w);
    snprintf(on, sizeof(on),
             "\"guard\": {\"command\": \"sleep 600\"}, \"stopped\": {\"url\": \"%s/hook\"}, "
             "\"healed\": {\"command\": \"cat >> FILE\"}",
             w.service.url);
    configure(&w, on);
    rowferry_start(&p, w.config, "run", NULL);
    program_await(&p, "event=following", WAIT_MS);
    sql_exec(w.conn, "delete from articles where source_id > 20");
    program_await(&p, "event=guard", WAIT_MS);
    rowferry_expect(0, w.config, "sync", "--allow-deletes", NULL);
    world_await_equal(&w, WAIT_MS);
    sql_exec(w.conn, "update articles set title = 'beside a hook' where source_id = 3");
    world_await_equal(&w, WAIT_MS);
    program_signal(&p, SIGTERM); /* the hook is ended with the process */
    program_finish(&p, WAIT_MS, &r);
    ck_assert_msg(r.exit_code == 0, "%d: %s", r.exit_code, r.err);
    program_result_release(&r);
    free((char *)(uintptr_t)w.source);
    world_stop(&w);
}
END_TEST

START_TEST(a_run_tells_what_stops_and_heals_it)
{
    struct world w;
    struct program p;
    struct program_result r;
    world_start(&w, ROWS, NULL);
    world_install(&w);
    configure(&w, ALL);
    rowferry_start(&p, w.config, "run", NULL);
    program_await(&p, "event=following", WAIT_MS);
    sql_exec(w.conn, "alter table articles rename column title to heading");
    await_told(&w, "stopped");
    program_signal(&p, SIGKILL); /* what was told stays told */
    program_finish(&p, WAIT_MS, &r);
    program_result_release(&r);
    sql_exec(w.conn, "alter table articles rename column heading to title");
    rowferry_start(&p, w.config, "run", NULL);
    await_told(&w, "healed");
    program_signal(&p, SIGTERM);
    program_finish(&p, WAIT_MS, &r);
    program_result_release(&r);
    expect_told(&w, "healed", 1);
    free((char *)(uintptr_t)w.source);
    world_stop(&w);
}
END_TEST

START_TEST(a_stop_that_is_over_before_it_could_be_told_is_told_first)
{
    struct world w;
    struct program p;
    struct program_result r;
    world_start(&w, ROWS, NULL);
    world_install(&w);
    configure(&w, "\"stopped\": {\"command\": \"test -e FILE && cat >> FILE\"}, " APPEND("healed"));
    rowferry_start(&p, w.config, "run", NULL);
    program_await(&p, "event=following", WAIT_MS);
    sql_exec(w.conn, "alter table articles rename column title to heading");
    program_await(&p, "event=hook_failed", WAIT_MS);
    sql_exec(w.conn, "alter table articles rename column heading to title");
    program_await(&p, "event=goes_on", WAIT_MS);
    free(scratch_write(w.dir, "told", ""));
    await_told(&w, "healed");
    char *text = told(&w);
    const char *stopped = strstr(text, "\"stopped\"");
    ck_assert_msg(stopped != NULL && stopped < strstr(text, "\"healed\""), "%s", text);
    free(text);
    program_signal(&p, SIGTERM);
    program_finish(&p, WAIT_MS, &r);
    program_result_release(&r);
    free((char *)(uintptr_t)w.source);
    world_stop(&w);
}
END_TEST

SUITE_MAIN("run/hooks", a_stop_that_is_over_before_it_could_be_told_is_told_first,
           a_sync_tells_what_happens_once, a_hook_that_fails_is_told_again,
           a_receiver_that_hangs_delays_nothing_else, a_run_tells_what_stops_and_heals_it)
