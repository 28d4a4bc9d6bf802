/* SPDX-License-Identifier: Apache-2.0 */
/* status: the rebuild in progress, and the generation to which a rollback is possible. */
#include <stdio.h>
#include <string.h>

#include "output/terminal.h"
#include "rowferry/base/clock.h"
#include "rowferry/base/units.h"
#include "rowferry/daemon/session.h"
#include "rowferry/document/json/record.h"
#include "status/holder_progress.h"
#include "status/status.h"

#define OLD_US INT64_C(10000000) /* older reports are printed with their time */

static int status_rebuild_look_next(struct status *s, struct state *next, struct err *err)
{
    struct status_rebuild *r = &s->rebuild;
    int rc = checkpoint_load(next, &r->next, err);
    if (rc == 0) {
        rc = guard_stop_read(next, &r->guard.halt, &r->guard.halted, err);
    }
    return rc < 0 ? rc : live_progress_read(next, &r->work, &r->working, err);
}

/* Splits a consumer's name, which is "pipeline/index/uuid". */
static void status_rebuild_take_former(struct status *s, const struct former *former)
{
    const char *index = strchr(former->consumer, '/');
    const char *end = strrchr(former->consumer, '/');
    size_t own = strlen(s->pipeline->name);
    if (strncmp(former->consumer, s->pipeline->name, own) == 0) {
        index = former->consumer + own;
    }
    if (index != NULL && end > index) {
        snprintf(s->rebuild.former, sizeof(s->rebuild.former), "%.*s", (int)(end - index - 1),
                 index + 1);
        s->rebuild.left_us = former->left_us;
    }
}

int status_look_rebuild(struct status *s, struct state *state, struct err *err)
{
    struct status_rebuild *r = &s->rebuild;
    struct state *next = NULL;
    struct former former;
    bool known = false;
    int rc = rebuild_look(state, &r->wish, &r->underway, err);
    if (rc == 0) {
        rc = rebuild_open(state, &next, err);
    }
    if (rc == 0 && next != NULL) {
        rc = status_rebuild_look_next(s, next, err);
    }
    state_close(next);
    if (rc == 0) {
        rc = rebuild_former_last(state, &former, &known, err);
    }
    if (rc == 0 && known) {
        status_rebuild_take_former(s, &former);
    }
    return rc < 0 ? rc : session_look_returned(state, s->pipeline, &r->file_differs, err);
}

/* Returns why the rebuild does not progress, if known; null if it does. */
static const char *status_rebuild_why_idle(const struct status *s)
{
    const struct status_rebuild *r = &s->rebuild;
    const struct run *last = s->run_count > 0 ? &s->runs[0] : NULL;
    if (s->holder.hold != STATUS_UNHELD && r->working &&
        strcmp(r->work.stage, LIVE_PROGRESS_FAILED) == 0) {
        return r->work.failed_why;
    }
    if (s->holder.hold != STATUS_UNHELD) {
        return NULL;
    }
    if (r->guard.halted) {
        return "stopped by the guard";
    }
    return last != NULL && last->ended_us != 0 && last->message[0] != '\0'
               ? last->message
               : "no process works on it";
}

static void status_rebuild_push_idle(struct buf *out, const struct status *s, const char *why)
{
    char count[UNITS_BYTES];
    const struct status_rebuild *r = &s->rebuild;
    buf_printf(out, "is at %s operation%s: ", units_count(count, r->next.documents),
               r->next.documents == 1 ? "" : "s");
    terminal_push_safe(out, why, strlen(why));
    bool back = r->wish.kind == REBUILD_BACK;
    buf_printf(out, "; rowferry reindex%s %s continues it, --abort %s", back ? " --rollback" : "",
               s->pipeline->name, back ? "gives it up" : "removes it");
}

static void status_rebuild_push_at_work(struct buf *out, const struct status *s)
{
    char iso[CLOCK_ISO_BYTES];
    const struct status_rebuild *r = &s->rebuild;
    if (!r->working) {
        buf_push_literal(out, "begins");
        return;
    }
    holder_progress_push_stage(out, &r->work);
    if (s->now_us - r->work.told_us > OLD_US) {
        buf_printf(out, " as of %s", clock_iso(iso, r->work.told_us, 0));
    }
}

void status_push_rebuild(struct buf *out, const struct status *s)
{
    char iso[CLOCK_ISO_BYTES];
    const struct status_rebuild *r = &s->rebuild;
    if (r->underway) {
        const char *why = status_rebuild_why_idle(s);
        status_push_line(out, "rebuild");
        if (why != NULL) {
            status_rebuild_push_idle(out, s, why);
        } else {
            status_rebuild_push_at_work(out, s);
        }
        buf_printf(out, "\n  %-14s%s%s, since %s\n", "",
                   r->wish.kind == REBUILD_BACK ? "back to " : "",
                   r->next.generation != NULL ? r->next.generation : "no index yet",
                   clock_iso(iso, r->wish.begun_us, 0));
    }
    if (r->former_gone) {
        buf_printf(out, "  %-14s%s, which was deleted\n", "former", r->former);
    } else if (r->former[0] != '\0') {
        buf_printf(out, "  %-14s%s, live until %s: rowferry reindex --rollback %s\n", "former",
                   r->former, clock_iso(iso, r->left_us, 0), s->pipeline->name);
    }
}

void status_push_json_rebuild(struct buf *out, const struct status *s)
{
    const struct status_rebuild *r = &s->rebuild;
    record_text(out, "former", r->former[0] != '\0' && !r->former_gone ? r->former : NULL);
    record_bool(out, "file_differs", r->file_differs);
    if (!r->underway) {
        record_text(out, "rebuild", NULL);
        return;
    }
    const char *why = status_rebuild_why_idle(s);
    record_name(out, "rebuild");
    record_open(out);
    record_text(out, "kind", r->wish.kind == REBUILD_BACK ? "rollback" : "reindex");
    record_text(out, "generation", r->next.generation);
    record_time(out, "since", r->wish.begun_us);
    record_bool(out, "adopt", r->wish.adopt);
    record_int(out, "operations", r->next.documents);
    record_text(out, "stands", why);
    holder_progress_push_json(out, why == NULL && r->working ? &r->work : NULL);
    record_close(out);
}
