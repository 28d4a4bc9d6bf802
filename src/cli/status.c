/* SPDX-License-Identifier: Apache-2.0 */
/* status: where each pipeline stands, by its state file and a short question to the source. */
#include <stdlib.h>
#include <string.h>

#include "record.h"
#include "result.h"
#include "rowferry/base/units.h"
#include "rowferry/source/changelog.h"
#include "rowferry/state/checkpoint.h"
#include "rowferry/state/deadletter.h"
#include "rowferry/state/halt.h"
#include "rowferry/state/history.h"
#include "rowferry/state/lock.h"
#include "rowferry/state/working.h"
#include "session.h"
#include "setup.h"
#include "terminal.h"
#include "work.h"

#define STATUS_BYTES ((size_t)16 * 1024 * 1024)
#define STATUS_RUNS 5
#define SOURCE_MS 2000
#define POSITION_SHOWN 48

struct status {
    const struct pipeline_config *pipeline;
    bool known; /* to the state file */
    struct checkpoint checkpoint;
    int64_t dead_letters;
    bool halted; /* by the guard */
    struct halt halt;
    bool held;
    char holder[256];
    bool working; /* and has said at what */
    struct working work;
    struct run runs[STATUS_RUNS];
    size_t run_count;
    int64_t pending;         /* -1: unknown */
    const char *why_unknown; /* in one or two words */
};

static const char *const phase_names[] = {
    [GENERATION_NONE] = "none", [GENERATION_BUILDING] = "building", [GENERATION_LIVE] = "live"};

/* --- asking ------------------------------------------------------------------------------------
 */

static int ask_state(struct status *s, const char *path, struct err *err)
{
    struct state *state;
    int rc = state_open_read_only(&state, path, s->pipeline->name, err);
    if (rc < 0 || state == NULL) {
        return rc;
    }
    s->known = true;
    rc = checkpoint_load(state, &s->checkpoint, err);
    if (rc == 0) {
        rc = deadletter_count(state, &s->dead_letters, err);
    }
    if (rc == 0) {
        rc = halt_look(state, &s->halt, &s->halted, err);
    }
    if (rc == 0) {
        rc = lock_look(state, &s->held, s->holder, sizeof(s->holder), err);
    }
    if (rc == 0 && s->held) {
        rc = working_look(state, &s->work, &s->working, err);
    }
    if (rc == 0) {
        rc = history_last(state, s->runs, STATUS_RUNS, &s->run_count, err);
    }
    state_close(state);
    return rc;
}

/* A source that is away or slow is no failure of status. */
static void ask_source(struct status *s, const struct config *config)
{
    struct source_options options;
    struct pg *pg = NULL;
    struct err ignored;
    config_source_options(config, "rowferry status", &options);
    options.connect_timeout_ms = SOURCE_MS;
    options.lock_timeout_ms = SOURCE_MS;
    if (s->pipeline->from.capture_mode == CAPTURE_MODE_CURSOR) {
        s->why_unknown = "capture mode cursor has no log";
        return;
    }
    s->why_unknown = "source away";
    if (pg_open(&pg, &options, &ignored) == 0 &&
        pg_script(pg, "set statement_timeout = 2000", &ignored) == 0) {
        s->why_unknown = "the source does not say";
        if (changelog_pending(pg, s->pipeline->from.table, s->checkpoint.position, &s->pending,
                              &ignored) < 0) {
            s->pending = -1;
        }
    }
    pg_close(pg);
}

/* --- telling -----------------------------------------------------------------------------------
 */

static void push_line(struct buf *out, const char *name)
{
    buf_printf(out, "  %-14s", name);
}

static void push_settled(struct buf *out, const struct status *s, int64_t now_us)
{
    char iso[CLOCK_ISO_BYTES];
    char ago[UNITS_BYTES];
    char count[UNITS_BYTES];
    const struct checkpoint *c = &s->checkpoint;
    push_line(out, "settled");
    if (c->settled_at_us == 0) {
        buf_push_literal(out, "never\n");
        return;
    }
    int64_t ms = (now_us - c->settled_at_us) / 1000;
    buf_printf(out, "%s, %s%s; %s operation%s of this generation\n",
               clock_iso(iso, c->settled_at_us, 0),
               ms < 1000 ? "just now" : units_duration(ago, ms), ms < 1000 ? "" : " ago",
               units_count(count, c->documents), c->documents == 1 ? "" : "s");
}

static void push_position(struct buf *out, const struct status *s)
{
    const char *position = s->checkpoint.position;
    push_line(out, "position");
    if (position == NULL) {
        buf_push_literal(out, "none yet\n");
        return;
    }
    size_t len = strlen(position);
    size_t kept = text_cut(position, len, POSITION_SHOWN);
    terminal_push_safe(out, position, kept);
    buf_push_text(out, kept < len ? "...\n" : "\n");
}

static void push_pending(struct buf *out, const struct status *s)
{
    char count[UNITS_BYTES];
    push_line(out, "pending");
    if (s->pending < 0) {
        buf_printf(out, "unknown: %s\n", s->why_unknown);
    } else {
        buf_printf(out, "%s %s in the change log\n", units_count(count, s->pending),
                   s->pending == 1 ? "entry" : "entries");
    }
}

static void push_letters(struct buf *out, const struct status *s)
{
    push_line(out, "dead letters");
    if (s->dead_letters > 0) {
        buf_printf(out, "%lld open; see: rowferry deadletter list\n", (long long)s->dead_letters);
    } else {
        buf_push_literal(out, "none\n");
    }
}

static void push_guard(struct buf *out, const struct status *s)
{
    char iso[CLOCK_ISO_BYTES];
    char count[UNITS_BYTES];
    if (!s->halted) {
        return;
    }
    push_line(out, "guard");
    buf_printf(out, "stopped the pipeline %s: %s deletes", clock_iso(iso, s->halt.at_us, 0),
               units_count(count, s->halt.deletes));
    if (s->halt.documents >= 0) {
        buf_printf(out, ", the index has %s documents", units_count(count, s->halt.documents));
    }
    buf_push_literal(out, "; to permit them: rowferry sync --allow-deletes\n");
}

static void push_run(struct buf *out, const struct run *run)
{
    char iso[CLOCK_ISO_BYTES];
    char took[UNITS_BYTES];
    buf_printf(out, "%s %s", clock_iso(iso, run->started_us, 0), run->command);
    if (run->ended_us == 0) {
        buf_push_text(out, run->exit_code < 0 ? ": has not ended\n" : "\n");
        return;
    }
    buf_printf(out, ": %lld upserts, %lld deletes, %lld rejected, %s, exit %d",
               (long long)run->upserts, (long long)run->deletes, (long long)run->rejected,
               result_duration(took, (run->ended_us - run->started_us) / 1000), run->exit_code);
    if (run->message[0] != '\0') {
        buf_push_literal(out, ": ");
        terminal_push_safe(out, run->message, strlen(run->message));
    }
    buf_push_char(out, '\n');
}

static void push_text(struct buf *out, const struct status *s, int64_t now_us)
{
    buf_printf(out, "%s\n", s->pipeline->name);
    if (!s->known || (s->checkpoint.phase == GENERATION_NONE && s->run_count == 0)) {
        buf_push_literal(out, "  never synced\n");
        return;
    }
    push_line(out, "index");
    buf_printf(out, "%s, ", s->pipeline->to.index);
    if (s->checkpoint.generation != NULL) {
        buf_printf(out, "generation %s, %s\n", s->checkpoint.generation,
                   phase_names[s->checkpoint.phase]);
    } else {
        buf_push_literal(out, "not built yet\n");
    }
    push_settled(out, s, now_us);
    push_position(out, s);
    push_pending(out, s);
    push_letters(out, s);
    push_guard(out, s);
    push_line(out, "holder");
    buf_printf(out, "%s\n", s->held ? s->holder : "none");
    if (s->working) {
        push_line(out, "working");
        work_push_stage(out, &s->work);
        buf_push_char(out, '\n');
        push_line(out, "limits");
        work_push_limits(out, &s->work);
        buf_push_char(out, '\n');
    }
    for (size_t i = 0; i < s->run_count; i++) {
        push_line(out, i == 0 ? "last runs" : "");
        push_run(out, &s->runs[i]);
    }
}

static void push_json_run(struct buf *out, const struct run *run)
{
    record_open(out);
    record_text(out, "command", run->command);
    record_time(out, "started", run->started_us);
    record_time(out, "ended", run->ended_us);
    record_int(out, "upserts", run->upserts);
    record_int(out, "deletes", run->deletes);
    record_int(out, "rejected", run->rejected);
    record_int(out, "bytes", run->bytes);
    record_name(out, "exit_code");
    if (run->exit_code < 0) {
        buf_push_literal(out, "null");
    } else {
        buf_printf(out, "%d", run->exit_code);
    }
    record_text(out, "error", run->message[0] != '\0' ? run->message : NULL);
    record_close(out);
}

static void push_json_guard(struct buf *out, const struct status *s)
{
    record_name(out, "guard");
    if (!s->halted) {
        buf_push_literal(out, "null");
        return;
    }
    record_open(out);
    record_int(out, "deletes", s->halt.deletes);
    record_name(out, "documents");
    if (s->halt.documents < 0) {
        buf_push_literal(out, "null");
    } else {
        buf_printf(out, "%lld", (long long)s->halt.documents);
    }
    record_time(out, "stopped_at", s->halt.at_us);
    record_close(out);
}

static void push_json(struct buf *out, const struct status *s)
{
    const struct checkpoint *c = &s->checkpoint;
    record_open(out);
    record_text(out, "pipeline", s->pipeline->name);
    record_text(out, "alias", s->pipeline->to.index);
    record_text(out, "generation", c->generation);
    record_text(out, "phase", phase_names[c->phase]);
    record_time(out, "settled_at", c->settled_at_us);
    record_int(out, "operations", c->documents);
    record_text(out, "position", c->position);
    record_name(out, "pending");
    if (s->pending < 0) {
        buf_push_literal(out, "null");
    } else {
        buf_printf(out, "%lld", (long long)s->pending);
    }
    record_int(out, "dead_letters", s->dead_letters);
    push_json_guard(out, s);
    record_text(out, "holder", s->held ? s->holder : NULL);
    record_name(out, "working");
    if (s->working) {
        work_push_json(out, &s->work);
    } else {
        buf_push_literal(out, "null");
    }
    record_name(out, "runs");
    buf_push_char(out, '[');
    for (size_t i = 0; i < s->run_count; i++) {
        buf_push_text(out, i > 0 ? "," : "");
        push_json_run(out, &s->runs[i]);
    }
    buf_push_literal(out, "]}\n");
}

static int show_pipeline(const struct setup *setup, const struct pipeline_config *pipeline,
                         bool source, bool json, struct err *err)
{
    struct status s = {.pipeline = pipeline, .pending = -1, .why_unknown = "no position yet"};
    struct clock clock = clock_system();
    struct buf out;
    buf_init(&out, STATUS_BYTES);
    int rc = ask_state(&s, setup->config->state_path, err);
    if (rc == 0 && s.checkpoint.position != NULL) {
        s.why_unknown = "a secret cannot be read";
        if (source) {
            ask_source(&s, setup->config);
        }
    }
    if (rc == 0) {
        if (json) {
            push_json(&out, &s);
        } else {
            push_text(&out, &s, clock_wall_us(&clock));
        }
        rc = terminal_result(&out, err);
    }
    checkpoint_release(&s.checkpoint);
    buf_release(&out);
    return rc < 0 ? err_context(err, "pipeline \"%s\"", pipeline->name) : 0;
}

int command_status(const struct arguments *a, struct err *err)
{
    struct setup setup;
    struct err secrets;
    int rc = setup_load(&setup, a, a->operands, a->operand_count, err);
    if (rc == 0) {
        bool source = setup_secrets(&setup, &secrets) == 0;
        bool json = arguments_have(a, OPTION_JSON);
        for (size_t i = 0; rc == 0 && i < setup.count; i++) {
            rc = show_pipeline(&setup, setup.pipelines[i], source, json, err);
        }
    }
    setup_release(&setup);
    return rc;
}
