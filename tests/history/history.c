/* SPDX-License-Identifier: Apache-2.0 */
/* Runs one history: an emptied database, random steps, syncs in between, quiet points. */
#include "history.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cluster.h"
#include "compare.h"
#include "rowferry/base/text.h"
#include "sql.h"
#include "wait.h"

#define AUTHORIZATION "ApiKey " WORLD_API_KEY
#define SYNC_MS RUN_MS
#define STEP_MS 8 /* time for a background sync between two steps */
#define QUIET_POINTS 2
#define STEPS 40 /* between two quiet points */
#define SYNC_IN 32

static void push_source(struct buf *text, const struct history *h)
{
    char *standby = h->mode->standby ? cluster_uri(&pair.standby, h->w->uri) : NULL;
    if (standby != NULL) {
        buf_printf(text, "\"uri\": \"%s\", \"primary\": \"%s\"", standby, h->w->uri);
    } else {
        buf_printf(text, "\"uri\": \"%s\"", h->w->uri);
    }
    free(standby);
}

static void configure(struct history *h)
{
    struct world *w = h->w;
    struct buf text;
    char name[64];
    const char *beside = h->background ? h->mode->from_beside : NULL;
    snprintf(name, sizeof(name), "rowferry-%llu.json", (unsigned long long)h->seed);
    buf_init(&text, 64 * 1024);
    buf_push_text(&text, "{\"accept_admin\": true, \"source\": {");
    push_source(&text, h);
    buf_printf(
        &text,
        "},\n\"service\": {\"url\": \"%s\", \"auth\": {\"api_key\": {\"file\": \"%s/key\"}}},\n"
        "\"state\": {\"path\": \"%s/state-%llu.db\"},\n"
        "\"limits\": {\"retry_budget\": \"45s\"},\n"
        "\"delete_guard\": {\"share\": 1, \"count\": 1000000},\n"
        "\"pipelines\": [{\"name\": \"notes\", \"from\": {\"table\": \"public.note\", %s},\n"
        "\"to\": {\"index\": \"notes-%llu\", \"mappings\": {\"properties\": {%s}}}}]}\n",
        w->service.url, w->dir, w->dir, (unsigned long long)h->seed,
        beside != NULL ? beside : h->mode->from, (unsigned long long)h->seed, h->mode->properties);
    free(w->config);
    w->config = scratch_write(w->dir, name, buf_text(&text));
    buf_release(&text);
}

static void sync_start(struct history *h, bool allow_deletes)
{
    history_log(h, "sync%s", allow_deletes ? " --allow-deletes" : "");
    if (h->mode->standby) { /* changes that the standby lacks would look like differences */
        cluster_await_replay(&pair.primary, &pair.standby);
    }
    rowferry_start(&h->sync, h->w->config, "sync", allow_deletes ? "--allow-deletes" : NULL, NULL);
    h->syncing = true;
}

/* Finishes a sync and returns its exit code. A guard stop is not a failure in a history with
 * TRUNCATE. */
static int sync_finish(struct history *h)
{
    struct program_result result;
    program_finish(&h->sync, SYNC_MS, &result);
    h->syncing = false;
    int code = result.exit_code;
    bool guarded = code == 1 && h->truncates && strstr(result.err, "--allow-deletes") != NULL;
    if (code != 0) {
        history_log(h, "sync ended with %d: %s", code, result.err);
    }
    if (code != 0 && !guarded && h->failure == NULL) {
        ck_assert_int_ge(asprintf(&h->failure, "sync ended with %d: %s", code, result.err), 0);
    }
    program_result_release(&result);
    return code;
}

/* Syncs within a history. Transactions stay open, unless they lock out every reader: the only
 * thread waits here and could never end them. */
static void sync_meanwhile(struct history *h)
{
    if (h->syncing && program_running(&h->sync)) {
        return;
    }
    if (h->syncing) {
        sync_finish(h);
    }
    if (h->exclusive && !h->background) {
        sessions_end_all(h, true);
    }
    sync_start(h, h->truncates && dice_roll(&h->dice, 2) == 0);
    if (!h->background) {
        sync_finish(h);
    }
}

static char *compared(struct history *h)
{
    struct comparison c;
    char index[64];
    char *text = NULL;
    snprintf(index, sizeof(index), "notes-%llu", (unsigned long long)h->seed);
    compare(&c, h->w->conn, h->mode->wanted, h->w->service.url, index, AUTHORIZATION);
    if (c.differences > 0) {
        ck_assert_int_ge(asprintf(&text, "%lld of %lld rows and %lld documents differ: %s",
                                  (long long)c.differences, (long long)c.rows,
                                  (long long)c.documents, c.first),
                         0);
    }
    free(c.first);
    return text;
}

static char *synced_and_compared(struct history *h)
{
    sync_start(h, false);
    if (sync_finish(h) == 1 && h->failure == NULL) {
        sync_start(h, true);
        sync_finish(h);
    }
    return h->failure != NULL ? text_copy(h->failure) : compared(h);
}

static char *quiet_point(struct history *h)
{
    bool later = h->mode->reconciles || h->mode->standby;
    struct deadline deadline = deadline_after(later ? WAIT_MS : 0);
    /* a standby does not show what committed beside an open transaction */
    sessions_end_all(h, dice_roll(&h->dice, 4) != 0 && !h->mode->standby);
    if (h->slot != NULL) {
        publisher_await(h);
    }
    if (h->syncing) {
        sync_finish(h);
    }
    char *different = synced_and_compared(h);
    while (different != NULL && h->failure == NULL && deadline_wait(&deadline)) {
        free(different);
        different = synced_and_compared(h);
    }
    return different;
}

void stage_start(struct stage *s, const struct mode *mode)
{
    world_start(&s->w, 0, NULL);
    s->publisher = mode->publisher_ddl != NULL ? database_new() : NULL;
}

void stage_stop(struct stage *s)
{
    if (s->publisher != NULL) {
        database_drop(s->publisher);
    }
    world_stop(&s->w);
}

/* Empties the database, which is cheaper than creating another one. */
static void clear(PGconn *conn, const char *ddl)
{
    sql_exec(conn, "set client_min_messages = error; drop schema if exists rowferry cascade; "
                   "drop schema public cascade; create schema public");
    sql_exec(conn, "%s", ddl);
}

static void begin(struct history *h)
{
    struct world *w = h->w;
    clear(w->conn, h->mode->ddl);
    if (h->mode->published) {
        sql_exec(w->conn, "drop publication if exists everything; "
                          "create publication everything for all tables");
    }
    h->uri = h->stage->publisher != NULL ? h->stage->publisher : w->uri;
    h->control = h->stage->publisher != NULL ? sql_open(h->uri) : w->conn;
    if (h->stage->publisher != NULL) {
        clear(h->control, h->mode->publisher_ddl);
        publisher_start(h);
    }
    sql_exec(h->control, "%s", h->mode->fill);
    configure(h);
    if (h->mode->standby) {
        cluster_await_replay(&pair.primary, &pair.standby);
    }
    if (!h->mode->cursor) {
        world_install(w);
    }
    sessions_open(h);
    sync_start(h, false);
    sync_finish(h);
}

static void end(struct history *h)
{
    sessions_end_all(h, false);
    sessions_close(h);
    if (h->slot != NULL) {
        publisher_stop(h);
        PQfinish(h->control);
    }
    free(h->failure);
}

/* Gives a background sync some time between two steps, because it takes longer than all of them. */
static void beside(const struct history *h)
{
    struct deadline deadline = deadline_after(STEP_MS);
    while (program_running(&h->sync) && deadline_wait(&deadline)) {
    }
}

char *history_run(struct stage *stage, const struct mode *mode, uint64_t seed, struct buf *log)
{
    struct history h = {.mode = mode, .seed = seed, .stage = stage, .w = &stage->w};
    char *different = NULL;
    buf_init(&h.log, (size_t)16 << 20);
    dice_step(&h.dice, seed, 0);
    h.session_count = 1 + dice_roll(&h.dice, SESSIONS_MAX);
    h.session_count += mode->publisher_ddl != NULL && h.session_count == 1 ? 1 : 0;
    h.truncates = (mode->allows & NEED_TRUNCATE) != 0 && dice_roll(&h.dice, 4) == 0;
    h.background = seed % 3 == 0;
    history_log(&h, "%s, seed %llu, %u sessions%s%s", mode->name, (unsigned long long)seed,
                h.session_count, h.truncates ? ", truncates" : "",
                h.background ? ", syncs in the background" : "");
    begin(&h);
    for (unsigned step = 1; step <= QUIET_POINTS * STEPS && different == NULL; step++) {
        dice_step(&h.dice, seed, step);
        sessions_step(&h);
        if (h.syncing) {
            beside(&h);
        }
        if (dice_roll(&h.dice, SYNC_IN) == 0) {
            sync_meanwhile(&h);
        }
        if (step % STEPS == 0) {
            different = quiet_point(&h);
        }
    }
    end(&h);
    buf_reset(log);
    buf_push(log, buf_text(&h.log), h.log.len);
    buf_release(&h.log);
    return different;
}
