/* SPDX-License-Identifier: Apache-2.0 */
/* status: the state of each pipeline, from its state file and a short query of the source. */
#include "status/status.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "output/terminal.h"
#include "rowferry/base/clock.h"
#include "rowferry/base/stop.h"
#include "rowferry/daemon/session.h"
#include "rowferry/document/json/record.h"
#include "rowferry/service/index/index.h"
#include "rowferry/source/changelog/changelog.h"
#include "rowferry/source/pg/consumer_lock.h"
#include "rowferry/state/deadletter.h"
#include "rowferry/state/lock.h"
#include "rowferry/state/pause.h"
#include "setup.h"

#define STATUS_BYTES ((size_t)16 * 1024 * 1024)
#define SOURCE_MS 2000
#define SERVICE_MS 2000
#define STANDBY_BYTES ((size_t)16 * 1024)
#define WATCH_MS 2000

/* --- queries ---------------------------------------------------------------------------------- */

static int status_look_holder(struct status *s, struct state *state, struct err *err)
{
    bool held = false;
    bool working = false;
    int rc = lock_look(state, &held, s->holder.name, sizeof(s->holder.name), err);
    if (rc == 0) {
        rc = live_progress_read(state, &s->holder.work, &working, err);
    }
    s->holder.hold = !held ? STATUS_UNHELD : working ? STATUS_WORKING : STATUS_HELD;
    return rc;
}

int status_look(struct status *s, const char *path, struct err *err)
{
    struct state *state;
    buf_init(&s->holder.standbys, STANDBY_BYTES);
    int rc = s->examined ? state_open_again(&state, path, s->pipeline->name, err)
                         : state_open_read_only(&state, path, s->pipeline->name, err);
    if (rc < 0 || state == NULL) {
        return rc;
    }
    s->known = true;
    rc = state_read_at_once(state, err);
    if (rc == 0) {
        rc = checkpoint_load(state, &s->checkpoint, err);
    }
    if (rc == 0) {
        rc = deadletter_count(state, &s->dead_letters, err);
    }
    if (rc == 0) {
        rc = guard_stop_read(state, &s->guard.halt, &s->guard.halted, err);
    }
    if (rc == 0) {
        rc = pause_read(state, &s->paused_us, err);
    }
    if (rc == 0) {
        rc = verification_read(state, &s->upkeep.verification, &s->upkeep.verified, err);
    }
    if (rc == 0) {
        bool known;
        rc = reconcile_read(state, &s->upkeep.reconcile, &known, err);
    }
    if (rc == 0) {
        rc = resnapshot_read(state, &s->upkeep.copy, &s->upkeep.copied, err);
    }
    if (rc == 0 && s->checkpoint.generation != NULL) {
        rc = definition_extension_look(state, s->checkpoint.generation, &s->upkeep.lacking, err);
    }
    if (rc == 0) {
        rc = status_look_holder(s, state, err);
    }
    if (rc == 0) {
        rc = status_look_rebuild(s, state, err);
    }
    if (rc == 0) {
        rc = history_last(state, s->runs, STATUS_RUNS, &s->run_count, err);
    }
    state_close(state);
    return rc;
}

void status_release(struct status *s)
{
    checkpoint_release(&s->checkpoint);
    checkpoint_release(&s->rebuild.next);
    free(s->upkeep.lacking.properties);
    buf_release(&s->holder.standbys);
}

/* Counts the pending entries of the table and of the tables that its query depends on. */
static void status_ask_pending(struct status *s, struct pg *pg)
{
    const struct from_config *from = &s->pipeline->from;
    const char **tables = mem_zero(1 + from->dependency_count, sizeof(*tables));
    struct err ignored;
    tables[0] = from->table;
    for (size_t i = 0; i < from->dependency_count; i++) {
        tables[i + 1] = from->dependencies[i].table;
    }
    if (changelog_pending(pg, tables, 1 + from->dependency_count, s->checkpoint.position,
                          &s->pending, &ignored) < 0) {
        s->pending = -1;
    } else if (s->pending < 0) {
        s->why_unknown = "this role sees no changes of the table";
    }
    free(tables);
}

/* Finds out if the log still has all changes. A process that works does so itself; after it has
 * stopped, the cause may have changed. */
static void status_ask_capture(struct status *s, struct pg *pg)
{
    const struct checkpoint *c = &s->checkpoint;
    if (c->phase != GENERATION_LIVE || s->rebuild.underway ||
        (s->holder.hold != STATUS_UNHELD && strcmp(s->holder.work.stall, "stopped") != 0)) {
        return;
    }
    int rc = session_examine_capture(pg, s->pipeline, c, &s->capture);
    if (rc != 0 && rc != ERR_TRANSIENT) {
        s->pending = -1;
        s->why_unknown = "the capture is broken";
    } else {
        s->capture.class = ERR_NONE;
    }
}

/* An unreachable or slow source is not an error of `status`. */
static void status_ask_source(struct status *s, const struct config *config)
{
    struct source_options options;
    struct pg *pg = NULL;
    struct err ignored;
    config_source_options(config, "rowferry status", &options);
    options.connect_timeout_ms = SOURCE_MS;
    options.lock_timeout_ms = SOURCE_MS;
    options.silence_ms = SOURCE_MS;
    s->why_unknown = capture_traits(s->pipeline->from.capture_mode)->unqueued;
    if (s->why_unknown != NULL) {
        return;
    }
    s->why_unknown = "source away";
    if (pg_open(&pg, &options, &s->source) == 0 &&
        pg_script(pg, "set statement_timeout = 2000", &s->source) == 0) {
        s->why_unknown = "the source does not say";
        status_ask_pending(s, pg);
        status_ask_capture(s, pg);
        (void)!consumer_lock_waiting(pg, s->pipeline->name, &s->holder.standbys, &ignored);
    }
    pg_close(pg);
}

/* Finds out if the live index is still what searches see. */
static void status_ask_live(struct status *s, struct service *service)
{
    struct index_info at;
    enum alias_kind kind;
    struct err ignored;
    const struct checkpoint *c = &s->checkpoint;
    const char *alias = s->pipeline->to.index;
    if (index_resolve(service, alias, &kind, &at, &ignored) < 0) {
        return;
    }
    if (kind == ALIAS_ABSENT) {
        snprintf(s->lost, sizeof(s->lost), "\"%s\" no longer exists", alias);
    } else if (kind == ALIAS_SEVERAL || strcmp(at.name, c->generation) != 0) {
        snprintf(s->lost, sizeof(s->lost), "\"%s\" does not point at \"%s\" but at %s", alias,
                 c->generation, kind == ALIAS_SEVERAL ? "several indices" : at.name);
    } else if (c->index_uuid != NULL && strcmp(at.uuid, c->index_uuid) != 0) {
        snprintf(s->lost, sizeof(s->lost), "\"%s\" is another index of the same name", at.name);
    }
}

/* A process that works looks at the live index itself. Without one, that may have been deleted
 * since the last sync, as the former one may at any time. An unreachable service is not an error of
 * `status`. */
static void status_ask_service(struct status *s, const struct config *config, bool brief)
{
    struct service_options options;
    struct service *service = NULL;
    struct index_info at;
    struct err ignored;
    bool found;
    bool live = s->holder.hold == STATUS_UNHELD && s->pending >= 0 && !s->rebuild.underway &&
                s->checkpoint.phase == GENERATION_LIVE;
    bool former = s->rebuild.former[0] != '\0' && !brief;
    if (!live && !former) {
        return;
    }
    config_service_options(config, s->pipeline, &options);
    options.connect_timeout_ms = SERVICE_MS;
    options.request_timeout_ms = SERVICE_MS;
    if (http_service_open(&service, &options, &ignored) == 0) {
        if (live) {
            status_ask_live(s, service);
        }
        s->rebuild.former_gone =
            former && index_look(service, s->rebuild.former, &found, &at, &ignored) == 0 && !found;
    }
    http_service_close(service);
}

/* --- output ----------------------------------------------------------------------------------- */

struct telling {
    bool servers; /* may be queried */
    bool json;
    bool brief;
    bool colours;
};

static int status_push_pipeline(struct buf *out, const struct setup *setup,
                                const struct pipeline_config *pipeline, const struct telling *how,
                                struct err *err)
{
    struct status s = {.pipeline = pipeline, .pending = -1, .why_unknown = "no position yet"};
    struct clock clock = clock_system();
    int rc = status_look(&s, setup->config->state_path, err);
    if (rc == 0 && s.checkpoint.position != NULL) {
        s.why_unknown = "a secret cannot be read";
        if (how->servers) {
            status_ask_source(&s, setup->config);
            status_ask_service(&s, setup->config, how->brief);
        }
    }
    s.now_us = clock_wall_us(&clock);
    if (rc == 0 && how->json) {
        record_open(out);
        status_push_json(out, &s);
        record_close(out);
        buf_push_char(out, '\n');
    } else if (rc == 0) {
        status_push_text(out, &s, how->brief, how->colours);
    }
    status_release(&s);
    return rc < 0 ? err_context(err, "pipeline \"%s\"", pipeline->name) : 0;
}

/* Keeps the output of earlier pipelines if one fails. */
static int status_push_all(struct buf *out, const struct setup *setup, const struct telling *how,
                           struct err *err)
{
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < setup->count; i++) {
        rc = status_push_pipeline(out, setup, setup->pipelines[i], how, err);
    }
    return rc;
}

static int status_show(const struct setup *setup, const struct telling *how, struct err *err)
{
    struct buf out;
    struct err unwritten;
    buf_init(&out, STATUS_BYTES);
    int rc = status_push_all(&out, setup, how, err);
    int written = terminal_result(&out, &unwritten);
    if (rc == 0 && written < 0) {
        *err = unwritten;
        rc = written;
    }
    buf_release(&out);
    return rc;
}

/* Redraws the screen line by line, so that it does not flicker. Lines that are too long are cut by
 * the terminal, and lines that it has no room for are left out: both would scroll it. */
static int status_redraw(const struct setup *setup, const struct telling *how, struct err *err)
{
    struct buf text;
    struct buf screen;
    buf_init(&text, STATUS_BYTES);
    buf_init(&screen, STATUS_BYTES);
    int rc = status_push_all(&text, setup, how, err);
    struct winsize size = {0};
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_row < 2) {
        size.ws_row = USHRT_MAX;
    }
    buf_push_literal(&screen, "\033[?7l\033[H");
    for (const char *line = buf_text(&text); *line != '\0' && --size.ws_row > 0;) {
        size_t len = strcspn(line, "\n");
        terminal_push_shown(&screen, line, len);
        buf_push_literal(&screen, "\033[K\n");
        line += len + (line[len] == '\n');
    }
    buf_push_literal(&screen, "\033[J\033[?7h");
    if (rc == 0) {
        rc = terminal_screen(&screen, err);
    }
    buf_release(&text);
    buf_release(&screen);
    return rc;
}

static int status_watch(const struct setup *setup, const struct telling *how, struct err *err)
{
    const volatile sig_atomic_t *stop = stop_watch();
    int rc = 0;
    while (rc == 0 && *stop == 0) {
        rc = how->json ? status_show(setup, how, err) : status_redraw(setup, how, err);
        clock_sleep(rc == 0 ? WATCH_MS : 0, stop);
    }
    return rc;
}

static int status_require_terminal(struct err *err)
{
    if (isatty(STDOUT_FILENO) == 1) {
        return 0;
    }
    err_set(err, ERR_CONFIG, "option \"--watch\" needs a terminal");
    return err_hint(err, "with --json it prints a line for each pipeline every two seconds");
}

int command_status(const struct arguments *a, struct err *err)
{
    struct setup setup;
    struct err secrets;
    bool watching = arguments_have(a, OPTION_WATCH);
    int rc = setup_load(&setup, a, err);
    if (rc == 0) {
        struct telling how = {.servers = setup_secrets(&setup, &secrets) == 0,
                              .json = arguments_have(a, OPTION_JSON),
                              .brief = setup.count > 1 && (watching || a->operand_count == 0),
                              .colours = terminal_colours(STDOUT_FILENO)};
        rc = watching && !how.json ? status_require_terminal(err) : 0;
        if (rc == 0) {
            rc = watching ? status_watch(&setup, &how, err) : status_show(&setup, &how, err);
        }
    }
    setup_release(&setup);
    return rc;
}
