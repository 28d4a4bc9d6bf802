/* SPDX-License-Identifier: Apache-2.0 */
/* What a replica does while none of its rounds runs: it waits, and serves requests. */
#include <stdio.h>
#include <string.h>

#include "pipeline_worker_private.h"
#include "rowferry/base/log.h"
#include "rowferry/engine/pipeline/requests.h"
#include "rowferry/state/guard_stop.h"
#include "rowferry/state/live_progress.h"
#include "rowferry/state/request.h"

#define REPLICA_LOOK_MS 100
#define REPLICA_COUNT_MS 30000      /* what the guard refused is counted again as often as that, */
#define REPLICA_COUNT_SHARE 20      /* but for a small part of the time, */
#define REPLICA_COUNT_MAX_MS 900000 /* and this often in any case */

/* What the engine itself does not wait for: the state file (a full disk), or the hold in the source
 * that a connection of the last round still has. */
bool replica_passes(const struct replica *r, int rc)
{
    return rc == ERR_TRANSIENT || (rc == ERR_HELD && (r->rounds > 1 || r->waits));
}

static void judge(struct replica *r, const struct stall_facts *facts)
{
    stall_log(&r->stall, stall_judge(&r->stall, facts), r->name, facts->wall_us);
    if (r->board != NULL) {
        board_stalled(r->board, &r->stall);
    }
}

void replica_note_stall(struct replica *r, enum stall_cause cause)
{
    const struct stall_facts facts = {.now_us = clock_monotonic_us(&r->session.clock),
                                      .wall_us = clock_wall_us(&r->session.clock),
                                      .waits = true,
                                      .stopped = cause,
                                      .why = r->err.message};
    judge(r, &facts);
}

void replica_note_pause(struct replica *r)
{
    const struct stall_facts facts = {.now_us = clock_monotonic_us(&r->session.clock),
                                      .wall_us = clock_wall_us(&r->session.clock),
                                      .paused = true};
    judge(r, &facts);
}

/* Of what passes only the state file and the hold are met here. */
static enum stall_cause cause_of_wait(const struct replica *r)
{
    return r->err.class == ERR_HELD  ? STALL_LOCK
           : r->err.sqlite_code != 0 ? STALL_STATE_FILE
                                     : STALL_UNKNOWN;
}

void replica_wait_for_better(struct replica *r)
{
    replica_note_stall(r, cause_of_wait(r));
    if (!r->away) {
        log_err(LOG_WARN, "stalled", r->name, &r->err);
        r->away_us = clock_monotonic_us(&r->session.clock);
    }
    r->away = true;
    replica_enter(r, "waiting");
    replica_rest(r, backoff_next_ms(&r->backoff, clock_random(&r->session.clock)));
}

void replica_note_better(struct replica *r)
{
    if (!r->away) {
        return;
    }
    log_event(LOG_INFO, "goes_on", F_TEXT("pipeline", r->name),
              F_INT("stalled_ms", (clock_monotonic_us(&r->session.clock) - r->away_us) / 1000));
    r->away = false;
    backoff_reset(&r->backoff);
}

bool replica_stopped_by_guard(struct replica *r, int rc)
{
    struct halt halt;
    struct err ignored;
    bool halted = false;
    return rc == ERR_STATE && halt_look(r->session.state, &halt, &halted, &ignored) == 0 && halted;
}

static int refuse(struct replica *r, int64_t id, const char *why, const char *hint, struct err *err)
{
    return request_refuse(r->session.state, id, why, hint, clock_wall_us(&r->session.clock), err);
}

/* The next round does what is permitted now, and answers. */
static int permit(struct replica *r, int64_t id, const char *command, const char *arguments,
                  struct err *err)
{
    struct halt halt;
    bool halted;
    int rc = halt_look(r->session.state, &halt, &halted, err);
    if (rc < 0) {
        return rc;
    }
    const char *why = requests_why_not(command, arguments, halted, &halt);
    if (why != NULL) {
        return refuse(r, id, why, "", err);
    }
    bool again = strcmp(command, REQUEST_COUNT_AGAIN) == 0;
    r->allow_deletes = !again && halt.operations == 0;
    r->allow_rejections = !again && halt.operations > 0;
    r->permission = id;
    return 0;
}

/* What can be done while nothing is read: permit it, or forget dead letters. */
static int serve(struct replica *r, struct err *err)
{
    struct session *s = &r->session;
    struct buf command;
    struct buf arguments;
    int64_t id;
    buf_init(&command, 64);
    buf_init(&arguments, REQUEST_MAX_BYTES);
    int rc = request_take(s->state, 0, &id, &command, &arguments, err);
    const char *name = buf_text(&command);
    if (rc == 0 && id != 0 &&
        (strcmp(name, REQUEST_ALLOW_DELETES) == 0 || strcmp(name, REQUEST_ALLOW_REJECTIONS) == 0 ||
         strcmp(name, REQUEST_COUNT_AGAIN) == 0)) {
        rc = permit(r, id, name, buf_text(&arguments), err);
    } else if (rc == 0 && id != 0 && (requests_about_rebuild(name) || requests_about_pause(name))) {
        (void)replica_asked(r, id, name, buf_text(&arguments));
    } else if (rc == 0 && id != 0 && strcmp(name, REQUEST_DISCARD) == 0) {
        rc = requests_discard(s->state, &s->clock, id, buf_text(&arguments), err);
    } else if (rc == 0 && id != 0) {
        rc = refuse(r, id, r->err.message, r->err.hint, err);
    }
    buf_release(&command);
    buf_release(&arguments);
    return rc;
}

static bool permitted(const struct replica *r)
{
    return r->allow_deletes || r->allow_rejections;
}

/* Rows may be put back at any time, and a count may be a walk over the whole index. */
static int64_t count_again_us(const struct replica *r)
{
    int64_t ms = r->counts ? r->worked_ms * REPLICA_COUNT_SHARE : 0;
    ms = ms < REPLICA_COUNT_MS ? REPLICA_COUNT_MS : ms;
    ms = ms > REPLICA_COUNT_MAX_MS ? REPLICA_COUNT_MAX_MS : ms;
    return clock_monotonic_us(&r->session.clock) + ms * 1000;
}

/* Counted again and the same is no news. */
static void tell_refused(struct replica *r)
{
    struct halt halt;
    struct err ignored;
    bool halted = false;
    int rc = halt_look(r->session.state, &halt, &halted, &ignored);
    if (rc < 0 || halt.at_us != r->refused_us) {
        log_err(LOG_ERROR, "guard", r->name, &r->err);
    }
    r->refused_us = rc < 0 ? 0 : halt.at_us;
}

/* Until somebody decides, it is time to count again, or an order comes. */
void replica_wait_for_permission(struct replica *r)
{
    struct err err;
    int64_t until_us = count_again_us(r);
    struct working working = {.told_us = clock_wall_us(&r->session.clock),
                              .stage = "guard",
                              .share = -1,
                              .remaining_ms = -1,
                              .lag_rows = -1};
    replica_note_stall(r, STALL_GUARD);
    stall_show(&r->stall, &working);
    replica_enter(r, "guard");
    if (working_tell(r->session.state, &working, &err) < 0) {
        log_err(LOG_WARN, "not_told", r->name, &err);
    }
    tell_refused(r); /* who reads it in the log finds it noted */
    int rc = 0;
    while (r->permission == 0 && replica_order_of(r) == REPLICA_GO_ON &&
           clock_monotonic_us(&r->session.clock) < until_us) {
        rc = serve(r, &err);
        replica_rest(r, rc < 0 ? REPLICA_MAX_MS : r->permission != 0 ? 0 : REPLICA_LOOK_MS);
    }
    r->counts = true;
    if (permitted(r)) {
        log_event(LOG_WARN, "permitted", F_TEXT("pipeline", r->name));
    }
}

/* The live generation cannot be written: until the rebuild has ended, an order comes, or it is time
 * to try again. */
void replica_stand_still(struct replica *r)
{
    struct err err;
    struct working working = {.told_us = clock_wall_us(&r->session.clock),
                              .stage = "standing still",
                              .share = -1,
                              .remaining_ms = -1,
                              .lag_rows = -1};
    snprintf(working.frozen, sizeof(working.frozen), "%.127s", r->err.message);
    if (r->stands == 1) { /* at first the rebuild may not be written down yet */
        log_err(LOG_WARN, "stands_still", r->name, &r->err);
    }
    int64_t ms = r->stands++ == 0 ? REPLICA_BASE_MS : REPLICA_MAX_MS;
    int64_t until_us = clock_monotonic_us(&r->session.clock) + ms * 1000;
    replica_note_stall(r, STALL_REBUILD);
    stall_show(&r->stall, &working);
    replica_enter(r, "standing still");
    if (working_tell(r->session.state, &working, &err) < 0) {
        log_err(LOG_WARN, "not_told", r->name, &err);
    }
    int rc = 0;
    while (rebuilder_busy(&r->rebuilder) && replica_order_of(r) == REPLICA_GO_ON &&
           clock_monotonic_us(&r->session.clock) < until_us) {
        rc = serve(r, &err);
        replica_rest(r, rc < 0 ? REPLICA_MAX_MS : REPLICA_LOOK_MS);
    }
}
