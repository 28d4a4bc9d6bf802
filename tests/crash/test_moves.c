/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The source is copied with all its files, and a process works at the copy too: a clone, a branch
 * or a restored snapshot. Never are there two writers of one index: one of the two is refused by
 * name, and the command that it names leads to equality.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cluster.h"
#include "crash.h"
#include "http.h"
#include "rowferry/base/text.h"
#include "sql.h"
#include "wait.h"

#define ROWS 300
#define AT_ONCE_S 20
#define LIMITS "\"retry_budget\": \"20s\""
#define HERE "127.0.0.1"
#define THERE "127.0.0.2"

struct moves {
    struct world w; /* the original */
    struct world c; /* the copy, with the same service */
    struct cluster copy;
};

static void shell(const char *script, const char *from, const char *to)
{
    struct program program;
    struct program_result result;
    program_start(&program, (const char *const[]){"/bin/sh", "-ec", script, "copy", from, to, NULL},
                  NULL);
    program_finish(&program, WAIT_MS, &result);
    ck_assert_msg(result.exit_code == 0, "%s: %s", script, result.err);
    program_result_release(&result);
}

/* --- the copy -------------------------------------------------------------------------------- */

/* The copy has the port of the original, on another address of the loopback. */
static void copy_start(struct moves *m)
{
    m->copy = (struct cluster){.parent = scratch_new(), .port = text_copy(own_cluster.port)};
    chmod(m->copy.parent, 0755); /* the database server runs as another user */
    m->copy.folder = scratch_path(m->copy.parent, "postgres");
    PQfinish(m->w.conn);
    cluster_kill(&own_cluster, SIGINT);
    shell("cp -a \"$1\" \"$2\"; rm \"$2/uri\"", own_cluster.folder, m->copy.folder);
    cluster_again(&own_cluster);
    m->w.conn = sql_open(m->w.uri);
    shell(TEST_SERVERS "/postgres start --dir \"$1\" --port \"$2\" "
                       "--set listen_addresses=" THERE,
          m->copy.folder, m->copy.port);
}

/* A process at the copy of this URI, with a state file of its own, or with that of the original. */
static void copy_configure(struct moves *m, char *uri, bool with_state)
{
    m->c = m->w;
    m->c.dir = scratch_new();
    m->c.config = NULL;
    m->c.uri = uri;
    m->c.conn = sql_open(m->c.uri);
    free(scratch_write(m->c.dir, "key", WORLD_API_KEY "\n"));
    world_configure(&m->c, WORLD_PROPERTIES, LIMITS);
    if (with_state) {
        shell("cp \"$1\"/state.db* \"$2\"", m->w.dir, m->c.dir);
    }
}

static char *copy_uri(const struct moves *m)
{
    char *uri = NULL;
    const char *address = strstr(m->w.uri, HERE);
    ck_assert_ptr_nonnull(address);
    ck_assert_int_ge(asprintf(&uri, "%.*s" THERE "%s", (int)(address - m->w.uri), m->w.uri,
                              address + strlen(HERE)),
                     0);
    return uri;
}

/* Both are reached by one name and port, as in two networks. */
static void by_one_name(struct world *w, const char *address)
{
    char members[512];
    const char *at = strstr(w->uri, address);
    ck_assert_ptr_nonnull(at);
    snprintf(members, sizeof(members), "\"uri\": \"%.*sdb.test%s?hostaddr=%s\"", (int)(at - w->uri),
             w->uri, at + strlen(address), address);
    w->source = members;
    world_configure(w, WORLD_PROPERTIES, LIMITS);
    w->source = NULL;
}

static void sync_once(struct world *w)
{
    struct program_result result;
    world_sync(w, 0, &result);
    program_result_release(&result);
}

static void moves_start(struct moves *m, bool one_name)
{
    *m = (struct moves){0};
    world_start(&m->w, ROWS, NULL);
    world_configure(&m->w, WORLD_PROPERTIES, LIMITS);
    if (one_name) {
        by_one_name(&m->w, HERE);
    }
    world_install(&m->w);
    sync_once(&m->w);
}

static void moves_stop(struct moves *m)
{
    PQfinish(m->c.conn);
    cluster_stop(&m->copy);
    scratch_remove(m->c.dir);
    free(m->c.config);
    free(m->c.uri);
    world_stop(&m->w);
}

static void restart(struct moves *m, int number)
{
    PQfinish(m->w.conn);
    cluster_kill(&own_cluster, number);
    cluster_again(&own_cluster);
    m->w.conn = sql_open(m->w.uri);
}

/* --- steps ----------------------------------------------------------------------------------- */

static void change(struct world *w, const char *title)
{
    sql_exec(w->conn, "update articles set title = '%s' where source_id %% 7 = 1", title);
}

static void expect_refused(struct world *w, const char *words)
{
    int64_t taken = crash_taken(w);
    world_sync_says(w, 1, words);
    world_sync_says(w, 1, "rowferry");
    ck_assert_int_eq(crash_taken(w), taken);
}

static int64_t documents_with(const struct world *w, const char *title)
{
    char body[256];
    snprintf(body, sizeof(body), "{\"query\":{\"match\":{\"title\":\"%s\"}}}", title);
    struct json_object *found = reply_json(200, "POST", w->service.url, "/shop-articles/_count",
                                           body, "ApiKey " WORLD_API_KEY);
    int64_t count = json_object_get_int64(json_object_object_get(found, "count"));
    json_object_put(found);
    return count;
}

static void end_run(struct program *p)
{
    struct program_result result;
    program_signal(p, SIGTERM);
    program_finish(p, WAIT_MS, &result);
    program_result_release(&result);
}

/* --- a copy ---------------------------------------------------------------------------------- */

static void copy_is_refused(bool with_state)
{
    struct moves m;
    moves_start(&m, false);
    copy_start(&m);
    copy_configure(&m, copy_uri(&m), with_state);
    change(&m.c, "copy");
    expect_refused(&m.c, "may be a copy of it");
    expect_refused(&m.c, THERE);
    rowferry_expect(4, m.c.config, "check", "--accept-admin", NULL);
    change(&m.w, "original");
    sync_once(&m.w);
    world_expect_equal(&m.w);
    rowferry_expect(0, m.c.config, "reindex", NULL);
    world_expect_equal(&m.c);
    change(&m.c, "copied");
    sync_once(&m.c);
    world_expect_equal(&m.c);
    expect_refused(&m.w, "belongs to the server of");
    rowferry_expect(0, m.w.config, "reindex", NULL);
    world_expect_equal(&m.w);
    moves_stop(&m);
}

START_TEST(a_copy_is_refused_until_it_builds_its_own_index)
{
    copy_is_refused(false);
}
END_TEST

START_TEST(a_copy_with_the_state_file_is_refused_until_it_builds_its_own_index)
{
    copy_is_refused(true);
}
END_TEST

/* Both work at once and are killed at random moments. */
START_TEST(beside_the_original_no_process_of_a_copy_writes)
{
    struct moves m;
    struct program original, copy;
    int64_t kills = 0;
    moves_start(&m, false);
    copy_start(&m);
    copy_configure(&m, copy_uri(&m), crash_dice(2) == 0);
    rowferry_start(&original, m.w.config, "run", NULL);
    rowferry_start(&copy, m.c.config, "run", NULL);
    struct deadline deadline = deadline_after(1000 * crash_setting("ROWFERRY_MOVES_S", AT_ONCE_S));
    while (deadline_wait(&deadline)) {
        struct program *p = crash_dice(2) == 0 ? &original : &copy;
        change(&m.w, "original");
        change(&m.c, "copy");
        if (crash_dice(40) == 0) {
            crash_kill_program(p);
            rowferry_start(p, p == &original ? m.w.config : m.c.config, "run", NULL);
            kills++;
        }
        ck_assert_int_eq(documents_with(&m.w, "copy"), 0);
    }
    crash_await_equal(&m.w, &original);
    program_await(&copy, "may be a copy of it", WAIT_MS);
    crash_tell_hits("two runs, of a database and its copy", kills, "kills, one writer");
    end_run(&copy);
    end_run(&original);
    moves_stop(&m);
}
END_TEST

/* --- the same name --------------------------------------------------------------------------- */

/* If the original has no changes, only the look at the index shows it. */
static void await_refused(struct moves *m, struct program *run, bool changes)
{
    struct deadline deadline = deadline_after(WAIT_MS);
    while (crash_said(run, "was taken over") == 0) {
        if (changes) {
            change(&m->w, "original");
        }
        ck_assert_int_eq(documents_with(&m->w, "original"), 0);
        ck_assert_msg(deadline_wait(&deadline), "%s", program_said(run));
    }
}

/* Nothing shows that the copy is not the original after a restart. But there is one writer only,
 * and it stays so when the original is restarted. */
START_TEST(a_copy_behind_the_same_name_replaces_the_original_which_is_refused)
{
    struct moves m;
    struct program run;
    moves_start(&m, true);
    copy_start(&m);
    copy_configure(&m, copy_uri(&m), true);
    by_one_name(&m.c, THERE);
    rowferry_start(&run, m.w.config, "run", NULL);
    program_await(&run, "event=following", WAIT_MS);
    change(&m.c, "copy");
    sync_once(&m.c);
    world_expect_equal(&m.c);
    await_refused(&m, &run, true);
    end_run(&run);
    restart(&m, SIGINT);
    expect_refused(&m.w, "was taken over");
    world_expect_equal(&m.c);
    rowferry_expect(0, m.w.config, "reindex", NULL);
    world_expect_equal(&m.w);
    expect_refused(&m.c, "does not point at");
    moves_stop(&m);
}
END_TEST

/* --- promotion and restart ------------------------------------------------------------------- */

START_TEST(a_promoted_standby_replaces_a_primary_that_still_runs)
{
    struct moves m;
    struct program run;
    moves_start(&m, false);
    cluster_start(&m.copy, own_cluster.uri);
    cluster_promote(&m.copy);
    copy_configure(&m, cluster_uri(&m.copy, m.w.uri), true);
    rowferry_start(&run, m.w.config, "run", NULL);
    program_await(&run, "event=following", WAIT_MS);
    change(&m.c, "copy");
    sync_once(&m.c);
    await_refused(&m, &run, false);
    end_run(&run);
    world_expect_equal(&m.c);
    moves_stop(&m);
}
END_TEST

START_TEST(after_a_restart_a_kill_between_index_and_state_file_does_not_matter)
{
    struct moves m;
    moves_start(&m, false);
    restart(&m, SIGQUIT);
    change(&m.w, "changed");
    crash_at(&m.w, "place_written=kill");
    sync_once(&m.w);
    world_expect_equal(&m.w);
    world_stop(&m.w);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {
        a_copy_is_refused_until_it_builds_its_own_index,
        a_copy_with_the_state_file_is_refused_until_it_builds_its_own_index,
        beside_the_original_no_process_of_a_copy_writes,
        a_copy_behind_the_same_name_replaces_the_original_which_is_refused,
        a_promoted_standby_replaces_a_primary_that_still_runs,
        after_a_restart_a_kill_between_index_and_state_file_does_not_matter};
    return cluster_suite("crash/moves", tests, sizeof(tests) / sizeof(tests[0]));
}
