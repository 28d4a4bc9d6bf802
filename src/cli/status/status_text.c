/* SPDX-License-Identifier: Apache-2.0 */
/* The output of `status`: the state of a pipeline, as text and as JSON. */
#include <inttypes.h>
#include <string.h>

#include "output/advice.h"
#include "output/result.h"
#include "output/terminal.h"
#include "rowferry/base/clock.h"
#include "rowferry/base/text.h"
#include "rowferry/base/units.h"
#include "rowferry/document/json/record.h"
#include "rowferry/engine/observe/stall.h"
#include "status/holder_progress.h"
#include "status/status.h"

#define POSITION_SHOWN 48
#define STEP_BYTES ((size_t)4096)

static const char *const phase_names[] = {
    [GENERATION_NONE] = "none", [GENERATION_BUILDING] = "building", [GENERATION_LIVE] = "live"};

/* --- names ------------------------------------------------------------------------------------ */

static const struct state_row {
    const char *name; /* in JSON */
    const char *words;
    enum colour colour;
} state_rows[] = {
    [STATUS_STANDS_BY] = {"standing_by", "standing by", COLOUR_GREEN},
    [STATUS_PAUSED] = {"paused", "paused", COLOUR_YELLOW},
    [STATUS_NEVER_SYNCED] = {"never_synced", "never synced", COLOUR_YELLOW},
    [STATUS_STOPPED] = {"stopped", "stopped by the guard", COLOUR_RED},
    [STATUS_CAPTURE_BROKEN] = {"capture_broken", "the capture is broken", COLOUR_RED},
    [STATUS_FAILED] = {"failed", "the last run failed", COLOUR_RED},
    [STATUS_STALLED] = {"stalled", "stalled", COLOUR_RED},
    [STATUS_LOST] = {"lost", "the live index is lost", COLOUR_RED},
    [STATUS_COPYING] = {"copying", "the index is being built", COLOUR_YELLOW},
    [STATUS_BEHIND] = {"behind", "behind", COLOUR_YELLOW},
    [STATUS_EQUAL] = {"equal", "equal", COLOUR_GREEN},
    [STATUS_UNKNOWN] = {"unknown", "not known", COLOUR_YELLOW},
};

/* Returns true if the differences of the last comparison still exist, as far as known. */
static bool status_text_differed(const struct status *s)
{
    const struct verification *v = &s->upkeep.verification;
    return s->upkeep.verified && !v->failed && verification_differences(v) > v->sent;
}

/* Returns what `status` itself found out, or why a server does not work for the holder; null if it
 * is nothing. */
static const char *status_text_reason(const struct status *s, enum status_state state)
{
    const char *away = s->holder.work.away;
    if (state == STATUS_LOST) {
        return s->lost;
    }
    if (state == STATUS_CAPTURE_BROKEN) {
        return s->capture.message;
    }
    if (state == STATUS_UNKNOWN && s->source.class != ERR_NONE) {
        return s->source.message;
    }
    return state >= STATUS_COPYING && s->holder.hold == STATUS_WORKING && away[0] != '\0' ? away
                                                                                          : NULL;
}

/* Returns the command that ends the state; null if none. */
static const char *status_text_command(const struct status *s)
{
    enum status_state state = status_state(s);
    if (state >= STATUS_COPYING && status_text_reason(s, state) != NULL) {
        return "check";
    }
    switch (state) {
    case STATUS_LOST:
    case STATUS_CAPTURE_BROKEN:
        return "check";
    case STATUS_NEVER_SYNCED:
        return "sync";
    case STATUS_STANDS_BY:
        return NULL;
    case STATUS_PAUSED:
        return "resume";
    case STATUS_COPYING:
    case STATUS_BEHIND:
        if (s->holder.hold == STATUS_UNHELD) {
            return "sync";
        }
        break;
    default:
        break;
    }
    return status_text_differed(s) ? "verify --repair"
           : s->dead_letters > 0   ? "deadletter list"
                                   : NULL;
}

/* Appends the recommended action, if any. Each command names the pipeline: without a name it would
 * concern all pipelines. */
static void status_text_push_step(struct buf *out, const struct status *s)
{
    const char *name = s->pipeline->name;
    enum status_state state = status_state(s);
    const char *command = status_text_command(s);
    if (state == STATUS_STOPPED && s->guard.halt.operations > 0) {
        buf_printf(out,
                   "correct mapping or rows and run rowferry sync %s, or rowferry sync "
                   "--allow-rejections %s if these dead letters are intended",
                   name, name);
    } else if (state == STATUS_STOPPED) {
        buf_printf(out,
                   "restore the rows and run rowferry sync %s, or rowferry sync --allow-deletes %s "
                   "if these deletes are intended",
                   name, name);
    } else if (state == STATUS_STALLED) {
        if (!advice_push_command(out, s->holder.work.stall_hint)) {
            stall_push_remedy(out, &s->holder.work, name);
        }
    } else if (state == STATUS_CAPTURE_BROKEN && s->capture.hint[0] != '\0') {
        if (!advice_push_command(out, s->capture.hint)) {
            terminal_push_safe(out, s->capture.hint, strlen(s->capture.hint));
        }
    } else if (state == STATUS_FAILED) { /* the cause may be gone, and then check finds nothing */
        buf_printf(out, "rowferry check %s && rowferry sync %s", name, name);
    } else if (command != NULL) {
        buf_printf(out, "rowferry %s %s", command, name);
    }
}

/* Returns how far the index is behind, in ms; -1 if unknown. */
static int64_t status_text_lag_ms(const struct status *s)
{
    int64_t lag_us = live_progress_lag_us(status_equal_us(s), s->now_us);
    return lag_us < 0 ? -1 : lag_us / 1000;
}

/* --- text ------------------------------------------------------------------------------------- */

static void status_text_push_halt(struct buf *out, const struct guard_stop *halt)
{
    char some[UNITS_BYTES];
    char all[UNITS_BYTES];
    if (halt->operations > 0) {
        buf_printf(out, "%s of %s operations refused for one reason: ",
                   units_count(some, halt->rejected), units_count(all, halt->operations));
        terminal_push_safe(out, halt->reason, strlen(halt->reason));
        return;
    }
    buf_printf(out, "%s deletes", units_count(some, halt->deletes));
    if (halt->documents >= 0) {
        buf_printf(out, ", the index has %s documents", units_count(all, halt->documents));
    }
}

/* Appends the cause of a stall without the hint, which the line "next" has. */
static void status_text_push_why(struct buf *out, const struct live_progress *w)
{
    size_t len = strlen(w->stall_why);
    size_t hint = strlen(w->stall_hint);
    bool ends = hint > 0 && len > hint + 2 && strcmp(w->stall_why + len - hint, w->stall_hint) == 0;
    terminal_push_safe(out, w->stall_why, ends ? len - hint - 2 : len);
}

static void status_text_push_cause(struct buf *out, const struct status *s, enum status_state state)
{
    char iso[CLOCK_ISO_BYTES];
    if (state == STATUS_STOPPED) {
        buf_printf(out, " %s: ", clock_iso(iso, s->guard.halt.at_us, 0));
        status_text_push_halt(out, &s->guard.halt);
    } else if (state == STATUS_FAILED) {
        const struct run *r = status_last_run(s);
        buf_printf(out, " with exit code %d%s", r->exit_code, r->message[0] != '\0' ? ": " : "");
        terminal_push_safe(out, r->message, strlen(r->message));
    } else if (state == STATUS_STALLED) {
        buf_printf(out, " since %s: ", clock_iso(iso, s->holder.work.stall_us, 0));
        status_text_push_why(out, &s->holder.work);
    } else if (state == STATUS_PAUSED) {
        buf_printf(out, " since %s", clock_iso(iso, s->paused_us, 0));
    } else if (state == STATUS_STANDS_BY) {
        buf_push_literal(out, ": ");
        terminal_push_safe(out, s->holder.work.holder, strlen(s->holder.work.holder));
    } else if (status_text_reason(s, state) != NULL) {
        buf_push_literal(out, ": ");
        terminal_push_safe(out, status_text_reason(s, state), strlen(status_text_reason(s, state)));
    } else if (state == STATUS_UNKNOWN) {
        buf_printf(out, ": %s", s->why_unknown);
    } else if (state == STATUS_EQUAL && status_text_differed(s)) {
        buf_push_literal(out, " with the change log, but the last comparison differed");
    }
}

static void status_text_push_state(struct buf *out, const struct status *s, bool colours)
{
    enum status_state state = status_state(s);
    status_push_line(out, "state");
    bool doubt =
        state == STATUS_EQUAL && (status_text_differed(s) || status_text_reason(s, state) != NULL);
    terminal_push(out, colours, doubt ? COLOUR_YELLOW : state_rows[state].colour,
                  state_rows[state].words);
    status_text_push_cause(out, s, state);
    buf_push_char(out, '\n');
}

static void status_text_push_equal(struct buf *out, const struct status *s)
{
    char iso[CLOCK_ISO_BYTES];
    int64_t equal_us = status_equal_us(s);
    status_push_line(out, "equal as of");
    if (equal_us == 0) {
        buf_push_literal(out, "not known\n");
    } else {
        buf_printf(out, "%s%s\n", clock_iso(iso, equal_us, 0),
                   status_is_equal_now(s) ? ", now" : "");
    }
}

static void status_text_push_lag(struct buf *out, const struct status *s, bool brief)
{
    char text[UNITS_BYTES];
    int64_t equal_us = status_equal_us(s);
    if (s->checkpoint.phase != GENERATION_LIVE) {
        return;
    }
    if (!brief || s->pending < 0) {
        status_text_push_equal(out, s);
    }
    status_push_line(out, "lag");
    if (s->pending < 0) {
        buf_printf(out, "unknown: %s\n", s->why_unknown);
        return;
    }
    bool equal = status_is_equal_now(s);
    if (s->pending > 0 || equal) {
        buf_printf(out, "%s %s in the change log%s", units_count(text, s->pending),
                   s->pending == 1 ? "entry" : "entries", !equal && equal_us > 0 ? ", " : "");
    } else if (equal_us == 0) { /* it does not work, so no entry does not mean no lag */
        buf_push_literal(out, "unknown");
    }
    if (!equal && equal_us > 0) {
        buf_printf(out, "%s at most", units_duration(text, status_text_lag_ms(s)));
    }
    buf_push_char(out, '\n');
}

/* Appends the time, and "just now" or the age. */
static void status_text_push_ago(struct buf *out, const struct status *s, int64_t at_us)
{
    char iso[CLOCK_ISO_BYTES];
    char ago[UNITS_BYTES];
    int64_t ms = (s->now_us - at_us) / 1000;
    buf_printf(out, "%s, %s%s", clock_iso(iso, at_us, 0),
               ms < 1000 ? "just now" : units_duration(ago, ms), ms < 1000 ? "" : " ago");
}

static void status_text_push_settled(struct buf *out, const struct status *s)
{
    char count[UNITS_BYTES];
    const struct checkpoint *c = &s->checkpoint;
    status_push_line(out, "settled");
    if (c->settled_at_us == 0) {
        buf_push_literal(out, "never\n");
        return;
    }
    status_text_push_ago(out, s, c->settled_at_us);
    buf_printf(out, "; %s operation%s\n", units_count(count, c->documents),
               c->documents == 1 ? "" : "s");
}

static void status_text_push_position(struct buf *out, const struct status *s)
{
    const char *position = s->checkpoint.position;
    status_push_line(out, "position");
    if (position == NULL) {
        buf_push_literal(out, "none yet\n");
        return;
    }
    size_t len = strlen(position);
    size_t kept = text_cut(position, len, POSITION_SHOWN);
    terminal_push_safe(out, position, kept);
    buf_push_text(out, kept < len ? "...\n" : "\n");
}

static void status_text_push_letters(struct buf *out, const struct status *s)
{
    status_push_line(out, "dead letters");
    if (s->dead_letters > 0) {
        buf_printf(out, "%" PRId64 " open\n", s->dead_letters);
    } else {
        buf_push_literal(out, "none\n");
    }
}

void status_push_some(struct buf *out, int64_t count, const char *what)
{
    if (count > 0) {
        buf_printf(out, ", %" PRId64 " %s", count, what);
    }
}

/* Returns true if a run can be at work: the newest one of a pipeline that is held. */
static bool status_text_may_work(const struct status *s, const struct run *run)
{
    return run == s->runs && s->holder.hold != STATUS_UNHELD;
}

static void status_text_push_run(struct buf *out, const struct status *s, const struct run *run)
{
    char iso[CLOCK_ISO_BYTES];
    char took[UNITS_BYTES];
    buf_printf(out, "%s %s", clock_iso(iso, run->started_us, 0), run->command);
    if (run->ended_us == 0) {
        buf_push_text(out, status_text_may_work(s, run) ? ": has not ended"
                                                        : ": was killed, or the machine failed");
    } else {
        buf_printf(out, ": %" PRId64 " upserts", run->upserts);
        status_push_some(out, run->deletes, "deletes");
        status_push_some(out, run->rejected, "rejected");
        buf_printf(out, ", %s, exit %d",
                   result_duration(took, (run->ended_us - run->started_us) / 1000), run->exit_code);
    }
    if (run->message[0] != '\0') {
        buf_push_literal(out, ": ");
        terminal_push_safe(out, run->message, strlen(run->message));
    }
    buf_push_char(out, '\n');
}

static void status_text_push_index(struct buf *out, const struct status *s)
{
    status_push_line(out, "index");
    buf_printf(out, "%s, ", s->pipeline->to.index);
    if (s->checkpoint.generation != NULL) {
        buf_printf(out, "generation %s, %s\n", s->checkpoint.generation,
                   phase_names[s->checkpoint.phase]);
    } else {
        buf_push_literal(out, "not built yet\n");
    }
}

static void status_text_push_next(struct buf *out, const struct status *s)
{
    struct buf step;
    buf_init(&step, STEP_BYTES);
    status_text_push_step(&step, s);
    if (step.len > 0) {
        status_push_line(out, "next");
        advice_push(out, buf_text(&step));
        buf_push_char(out, '\n');
    }
    buf_release(&step);
}

void status_push_text(struct buf *out, const struct status *s, bool brief, bool colours)
{
    terminal_push(out, colours, COLOUR_BOLD, s->pipeline->name);
    buf_push_char(out, '\n');
    status_text_push_state(out, s, colours);
    if (status_state(s) == STATUS_NEVER_SYNCED || status_state(s) == STATUS_STANDS_BY) {
        status_text_push_next(out, s);
        return;
    }
    status_text_push_lag(out, s, brief);
    status_push_watermark(out, s);
    if (!brief || s->dead_letters > 0) {
        status_text_push_letters(out, s);
    }
    if (!brief || status_text_differed(s)) {
        status_push_verification(out, s);
    }
    status_push_lacking(out, s);
    if (!brief || s->rebuild.underway) {
        status_push_rebuild(out, s);
    }
    if (s->rebuild.file_differs) {
        status_push_line(out, "definition");
        buf_printf(out, "the file's is not used until rowferry reindex %s\n", s->pipeline->name);
    }
    status_text_push_next(out, s);
    if (brief) {
        return;
    }
    status_text_push_index(out, s);
    status_text_push_settled(out, s);
    if (s->upkeep.reconcile.finished_us != 0) {
        status_push_line(out, "reconciled");
        status_text_push_ago(out, s, s->upkeep.reconcile.finished_us);
        buf_push_char(out, '\n');
    }
    status_text_push_position(out, s);
    status_push_copied(out, s);
    status_push_holder(out, s);
    for (size_t i = 0; i < s->run_count; i++) {
        status_push_line(out, i == 0 ? "last runs" : "");
        status_text_push_run(out, s, &s->runs[i]);
    }
}

/* --- JSON ------------------------------------------------------------------------------------- */

static void status_text_push_json_run(struct buf *out, const struct run *run)
{
    record_open(out);
    record_text(out, "command", run->command);
    record_time(out, "started", run->started_us);
    record_time(out, "ended", run->ended_us);
    record_int(out, "upserts", run->upserts);
    record_int(out, "deletes", run->deletes);
    record_int(out, "rejected", run->rejected);
    record_int(out, "bytes", run->bytes);
    record_known(out, "exit_code", run->exit_code);
    record_text(out, "error", run->message[0] != '\0' ? run->message : NULL);
    record_close(out);
}

static void status_text_push_json_guard(struct buf *out, const struct status *s)
{
    if (!s->guard.halted) {
        record_text(out, "guard", NULL);
        return;
    }
    record_name(out, "guard");
    record_open(out);
    record_int(out, "deletes", s->guard.halt.deletes);
    record_known(out, "documents", s->guard.halt.documents);
    record_int(out, "rejected", s->guard.halt.rejected);
    record_int(out, "operations", s->guard.halt.operations);
    record_text(out, "reason", s->guard.halt.reason[0] != '\0' ? s->guard.halt.reason : NULL);
    record_time(out, "stopped_at", s->guard.halt.at_us);
    record_close(out);
}

static void status_text_push_json_next(struct buf *out, const struct status *s)
{
    struct buf step;
    buf_init(&step, STEP_BYTES);
    status_text_push_step(&step, s);
    advice_record(out, "next", step.len > 0 ? buf_text(&step) : NULL);
    buf_release(&step);
}

/* What the line "state" shows as its cause; null if nothing is wrong. */
static void status_text_push_json_cause(struct buf *out, const struct status *s)
{
    struct buf why;
    enum status_state state = status_state(s);
    const char *reason = status_text_reason(s, state);
    buf_init(&why, STEP_BYTES);
    if (state == STATUS_STOPPED) {
        status_text_push_halt(&why, &s->guard.halt);
    } else if (state == STATUS_STALLED) {
        status_text_push_why(&why, &s->holder.work);
    } else if (state == STATUS_FAILED) {
        buf_push_text(&why, status_last_run(s)->message);
    } else if (reason != NULL) {
        buf_push_text(&why, reason);
    }
    record_text(out, "cause", why.len > 0 ? buf_text(&why) : NULL);
    buf_release(&why);
}

void status_push_json(struct buf *out, const struct status *s)
{
    const struct checkpoint *c = &s->checkpoint;
    record_text(out, "pipeline", s->pipeline->name);
    record_text(out, "state", state_rows[status_state(s)].name);
    record_time(out, "equal_as_of", status_equal_us(s));
    record_seconds(out, "lag_seconds", status_text_lag_ms(s));
    status_text_push_json_cause(out, s);
    status_text_push_json_next(out, s);
    record_text(out, "alias", s->pipeline->to.index);
    record_text(out, "generation", c->generation);
    record_text(out, "phase", phase_names[c->phase]);
    record_time(out, "settled_at", c->settled_at_us);
    record_int(out, "operations", c->documents);
    record_time(out, "reconciled_at", s->upkeep.reconcile.finished_us);
    record_text(out, "position", c->position);
    record_known(out, "pending", s->pending);
    status_push_json_health(out, s);
    record_int(out, "dead_letters", s->dead_letters);
    status_text_push_json_guard(out, s);
    status_push_json_verification(out, s);
    record_time(out, "copied_again_at", s->upkeep.copy.begun_us);
    record_text(out, "copied_again", s->upkeep.copied ? s->upkeep.copy.reason : NULL);
    record_text(out, "lacking", s->upkeep.lacking.properties);
    record_time(out, "lacking_since", s->upkeep.lacking.since_us);
    status_push_json_rebuild(out, s);
    status_push_json_holder(out, s);
    record_name(out, "runs");
    buf_push_char(out, '[');
    for (size_t i = 0; i < s->run_count; i++) {
        buf_push_text(out, i > 0 ? "," : "");
        status_text_push_json_run(out, &s->runs[i]);
    }
    buf_push_char(out, ']');
}
