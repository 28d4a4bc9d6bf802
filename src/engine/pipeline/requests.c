/* SPDX-License-Identifier: Apache-2.0 */
/* Takes requests from the state file and answers them. */
#include "pipeline/requests_private.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "guard/guard.h"
#include "guard/reject_stats.h"
#include "rowferry/base/log.h"
#include "rowferry/state/deadletter.h"
#include "rowferry/state/request.h"

#define REQUESTS_LOOK_US INT64_C(200000)
#define REQUESTS_BELLED_US INT64_C(30000000)
#define REQUESTS_TELL_US INT64_C(1000000)
#define ANSWER_MAX_BYTES ((size_t)16 * 1024)

void requests_init(struct requests *r, struct state *state, struct clock clock)
{
    *r = (struct requests){.state = state, .clock = clock};
    buf_init(&r->command, 64);
}

void requests_release(struct requests *r)
{
    buf_release(&r->command);
}

/* Ends the current request, answered or failed, so that the next one may be taken. */
static int64_t requests_end(struct requests *r, const char *event, const char *why)
{
    int64_t id = r->id;
    log_event(LOG_INFO, event, F_TEXT("pipeline", r->pipeline),
              F_TEXT("command", buf_text(&r->command)), F_INT("keys", r->keys),
              F_TEXT("message", why));
    r->id = 0;
    return id;
}

/* hint: "" for none. */
static int requests_refuse(struct requests *r, const char *why, const char *hint, struct err *err)
{
    return request_refuse(r->state, requests_end(r, "request_failed", why), why, hint,
                          clock_wall_us(&r->clock), err);
}

/* Passes the keys of a request to the source reader (resync) or to the pending commit (discard). */
static void requests_spread(struct requests *r, const char *cursor)
{
    bool resync = strcmp(buf_text(&r->command), REQUEST_RESYNC) == 0;
    struct buf key;
    buf_init(&key, REQUEST_MAX_BYTES);
    while (keylist_next(&cursor, &key)) {
        struct span span = span_make(buf_text(&key), key.len);
        r->keys++;
        if (resync && span.len == 0) {
            r->rejected++; /* a row without a key cannot be looked up and stays a dead letter */
        } else if (resync) {
            source_reader_ask(r->source_reader, span);
        } else {
            r->discarded += pending_commit_discard(r->pending_commit, span);
        }
    }
    buf_release(&key);
}

/* --- permissions ----------------------------------------------------------------------------- */

const char *requests_why_not(const char *command, const char *arguments, bool halted,
                             const struct guard_stop *halt)
{
    bool deletes = strcmp(command, REQUEST_ALLOW_DELETES) == 0;
    if (strcmp(command, REQUEST_TRY_AGAIN) == 0) {
        return halted ? NULL : "it is not stopped any more";
    }
    if (!halted) {
        return "nothing is stopped by the guard";
    }
    if (deletes && halt->operations > 0) {
        return "the guard stopped the pipeline for rejections, not for deletes";
    }
    if (!deletes && halt->operations == 0) {
        return "the guard stopped the pipeline for deletes, not for rejections";
    }
    return strtoll(arguments, NULL, 10) == halt->at_us
               ? NULL
               : "the guard stopped the pipeline again meanwhile";
}

/* Applies a permission. The guard stopped the pipeline in an earlier round; the current one has
 * not reached that point yet. */
static int requests_permit(struct requests *r, const char *arguments, struct err *err)
{
    struct guard_stop halt;
    bool halted;
    int rc = guard_stop_read(r->state, &halt, &halted, err);
    if (rc < 0) {
        return rc;
    }
    const char *why = requests_why_not(buf_text(&r->command), arguments, halted, &halt);
    if (why != NULL) {
        return requests_refuse(r, why, "", err);
    }
    if (strcmp(buf_text(&r->command), REQUEST_TRY_AGAIN) == 0) {
        r->deletes_guard->allowed = 0;
    } else if (halt.operations > 0) {
        reject_stats_permit(r->rejects, halt.reason);
    } else {
        r->deletes_guard->allowed = halt.deletes;
    }
    r->permission = r->id;
    r->id = 0;
    return 0;
}

int requests_end_permission(struct requests *r, const struct counters *c, struct err *err)
{
    char answer[160];
    int64_t id = r->permission;
    if (id == 0) {
        return 0;
    }
    r->permission = 0;
    snprintf(answer, sizeof(answer),
             "{\"upserts\":%" PRId64 ",\"deletes\":%" PRId64 ",\"rejected\":%" PRId64
             ",\"bytes\":%" PRId64 "}",
             c->upserts, c->deletes, c->rejected, c->bytes);
    return request_answer(r->state, id, REQUEST_DONE, answer, clock_wall_us(&r->clock), err);
}

void requests_put_back(struct requests *r)
{
    struct err ignored;
    if (r->permission != 0 && request_answer(r->state, r->permission, REQUEST_FILED, "{}",
                                             clock_wall_us(&r->clock), &ignored) == 0) {
        r->permission = 0;
    }
    if (r->id != 0 && request_answer(r->state, r->id, REQUEST_FILED, "{}", clock_wall_us(&r->clock),
                                     &ignored) == 0) {
        r->id = 0; /* the part already done will be repeated */
    }
}

/* --- taking and answering -------------------------------------------------------------------- */

static bool requests_is_permission(const char *command)
{
    return strcmp(command, REQUEST_ALLOW_DELETES) == 0 ||
           strcmp(command, REQUEST_ALLOW_REJECTIONS) == 0 ||
           strcmp(command, REQUEST_TRY_AGAIN) == 0;
}

bool requests_about_rebuild(const char *command)
{
    return strcmp(command, REQUEST_REINDEX) == 0 || strcmp(command, REQUEST_ROLLBACK) == 0 ||
           strcmp(command, REQUEST_ABORT_REBUILD) == 0;
}

bool requests_about_pause(const char *command)
{
    return strcmp(command, REQUEST_PAUSE) == 0 || strcmp(command, REQUEST_RESUME) == 0;
}

/* Passes a request to the worker beside the pipeline. Without a worker it stays filed, because the
 * next lock holder may have one. */
static int requests_hand_over(struct requests *r, const char *arguments, struct err *err)
{
    int64_t id = r->id;
    r->id = 0;
    if (r->asked != NULL && r->asked(r->asked_context, id, buf_text(&r->command), arguments)) {
        return 0;
    }
    r->left_id = id;
    return request_answer(r->state, id, REQUEST_FILED, "{}", clock_wall_us(&r->clock), err);
}

/* Takes one request. Sets *more if the request was not for the loop, so that another may follow. */
static int requests_take(struct requests *r, bool *more, struct err *err)
{
    struct buf arguments;
    buf_init(&arguments, REQUEST_MAX_BYTES);
    int rc = request_take(r->state, r->left_id, &r->id, &r->command, &arguments, err);
    *more = false;
    if (rc == 0 && r->id != 0) {
        r->keys = 0;
        r->upserts = r->deletes = r->rejected = r->discarded = r->present = 0;
        r->told_us = clock_monotonic_us(&r->clock);
        const char *command = buf_text(&r->command);
        if (requests_about_rebuild(command) || requests_about_pause(command)) {
            rc = requests_hand_over(r, buf_text(&arguments), err);
            *more = rc == 0;
        } else if (strcmp(command, REQUEST_RESYNC) == 0 || strcmp(command, REQUEST_DISCARD) == 0) {
            requests_spread(r, buf_text(&arguments));
        } else if (requests_is_permission(command) && r->source_reader->only_asked) {
            r->permission = r->id; /* this holder reads only requested keys and would never reach
                                      the guard stop */
            r->id = 0;
        } else if (requests_is_permission(command)) {
            rc = requests_permit(r, buf_text(&arguments), err);
        } else {
            rc = requests_refuse(r, "this version does not know the request", "", err);
        }
    }
    buf_release(&arguments);
    return rc;
}

/* Other pages may still be unsettled, but they are not part of the request. */
bool requests_finished(const struct requests *r)
{
    const struct source_reader *source_reader = r->source_reader;
    return r->id != 0 && source_reader->asked.count == 0 &&
           window_pages_settled(source_reader->window, source_reader->asked.first,
                                source_reader->asked.last);
}

static int requests_finish(struct requests *r, const char *error, struct err *err)
{
    if (error != NULL) {
        return requests_refuse(r, error, "", err);
    }
    struct buf answer;
    buf_init(&answer, ANSWER_MAX_BYTES);
    if (strcmp(buf_text(&r->command), REQUEST_RESYNC) == 0) {
        buf_printf(&answer,
                   "{\"upserts\":%" PRId64 ",\"deletes\":%" PRId64 ",\"rejected\":%" PRId64,
                   r->upserts - r->present, r->deletes, r->rejected);
        if (r->present > 0) {
            buf_printf(&answer, ",\"present\":%" PRId64, r->present);
        }
        buf_push_char(&answer, '}');
    } else {
        buf_printf(&answer, "{\"discarded\":%" PRId64 "}", r->discarded);
    }
    int rc = request_answer(r->state, requests_end(r, "request_done", NULL), REQUEST_DONE,
                            buf_text(&answer), clock_wall_us(&r->clock), err);
    buf_release(&answer);
    return rc;
}

int requests_discard(struct state *s, const struct clock *clock, int64_t id, const char *arguments,
                     struct err *err)
{
    struct requests r;
    struct pending_commit discarded;
    requests_init(&r, s, *clock);
    buf_push_literal(&r.command, REQUEST_DISCARD);
    r.id = id;
    r.pending_commit = &discarded;
    int rc = pending_commit_init(&discarded, s, err);
    if (rc == 0) {
        requests_spread(&r, arguments);
        rc = pending_commit_write(&discarded, s, NULL, 0, clock_wall_us(clock), err);
    }
    if (rc == 0) {
        rc = requests_finish(&r, NULL, err);
    }
    pending_commit_release(&discarded);
    requests_release(&r);
    return rc;
}

/* Reports progress once a second. */
static int requests_report(struct requests *r, struct err *err)
{
    int64_t now = clock_monotonic_us(&r->clock);
    if (now - r->told_us < REQUESTS_TELL_US) {
        return 0;
    }
    r->told_us = now;
    char answer[96];
    snprintf(answer, sizeof(answer), "{\"keys\":%zu,\"done\":%" PRId64 "}", r->keys,
             r->upserts + r->deletes + r->rejected);
    return request_answer(r->state, r->id, REQUEST_TAKEN, answer, clock_wall_us(&r->clock), err);
}

int requests_turn(struct requests *r, bool now, struct err *err)
{
    int64_t at = clock_monotonic_us(&r->clock);
    if (r->id != 0 && !requests_finished(r)) {
        return requests_report(r, err);
    }
    if (r->id != 0) { /* the client of the next request is waiting too */
        int rc = requests_finish(r, r->source_reader->asked.error, err);
        if (rc < 0) {
            return rc;
        }
    } else if (!now && !r->noticed &&
               at - r->looked_us < (r->belled ? REQUESTS_BELLED_US : REQUESTS_LOOK_US)) {
        return 0;
    }
    r->noticed = false;
    r->looked_us = at;
    bool more = true;
    int rc = 0;
    while (rc == 0 && more) {
        rc = requests_take(r, &more, err);
    }
    return rc;
}

void requests_settled(struct requests *r, enum operation_kind kind, bool rejected)
{
    r->rejected += rejected;
    r->upserts += !rejected && kind == OPERATION_UPSERT;
    r->deletes += !rejected && kind == OPERATION_DELETE;
}

void requests_fail(struct requests *r, const struct err *why)
{
    struct err ignored;
    for (unsigned i = 0; i < 2; i++) {
        if (r->id != 0 && requests_refuse(r, why->message, why->hint, &ignored) < 0) {
            r->id = 0; /* the request stays taken, and the next holder takes it again */
        }
        r->id = r->permission;
        r->permission = 0;
    }
}
