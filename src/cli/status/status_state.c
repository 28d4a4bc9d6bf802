/* SPDX-License-Identifier: Apache-2.0 */
/* status: derives the state of a pipeline from all findings. */
#include <string.h>

#include "output/result.h"
#include "status/holder_progress.h"
#include "status/status.h"

/* A run that was killed has failed if an error had stopped it. */
static bool status_state_run_failed(const struct run *r)
{
    return (r->ended_us != 0 || r->message[0] != '\0') && r->exit_code != EXIT_DONE &&
           r->exit_code != EXIT_DEAD_LETTERS;
}

/* Returns true if the run concerns the live index. A reindex that was refused or undone does not,
 * because it never touched that index. One that created the live index or kept it up to date does:
 * it replaces an earlier failure. */
static bool status_state_describes_live(const struct status *s, const struct run *r)
{
    bool untouched = s->checkpoint.phase == GENERATION_LIVE && !s->rebuild.underway;
    bool wrote = r->ended_us != 0 && !status_state_run_failed(r) &&
                 s->checkpoint.settled_at_us >= r->started_us;
    return !untouched || wrote || strcmp(r->command, "reindex") != 0;
}

const struct run *status_last_run(const struct status *s)
{
    for (size_t i = 0; i < s->run_count; i++) {
        if (status_state_describes_live(s, &s->runs[i])) {
            return &s->runs[i];
        }
    }
    return NULL;
}

enum status_state status_state(const struct status *s)
{
    const struct run *last = status_last_run(s);
    if (s->holder.hold == STATUS_WORKING &&
        strcmp(s->holder.work.stage, LIVE_PROGRESS_STANDING_BY) == 0) {
        return STATUS_STANDS_BY;
    }
    if (s->paused_us != 0) {
        return STATUS_PAUSED;
    }
    if (!s->known || (s->checkpoint.phase == GENERATION_NONE && last == NULL)) {
        return STATUS_NEVER_SYNCED;
    }
    if (s->guard.halted) {
        return STATUS_STOPPED;
    }
    if (s->holder.hold == STATUS_WORKING && s->holder.work.stall[0] != '\0') {
        return STATUS_STALLED; /* with the cause that the holder found */
    }
    if (s->capture.class != ERR_NONE) {
        return STATUS_CAPTURE_BROKEN;
    }
    if (s->checkpoint.phase == GENERATION_LIVE && s->lost[0] != '\0') {
        return STATUS_LOST;
    }
    if (s->holder.hold == STATUS_UNHELD && last != NULL && status_state_run_failed(last)) {
        return STATUS_FAILED;
    }
    if (s->checkpoint.phase == GENERATION_NONE && s->holder.hold == STATUS_UNHELD &&
        !s->rebuild.underway) {
        return STATUS_NEVER_SYNCED;
    }
    if (s->checkpoint.phase != GENERATION_LIVE) {
        return STATUS_COPYING;
    }
    if (s->pending < 0) {
        return STATUS_UNKNOWN;
    }
    return s->pending > 0 ? STATUS_BEHIND : STATUS_EQUAL;
}

/* Nothing pending means equal only if the pipeline works: the index may be gone, or changes may not
 * be recorded. */
bool status_is_equal_now(const struct status *s)
{
    enum status_state state = status_state(s);
    return s->pending == 0 && s->checkpoint.phase == GENERATION_LIVE && state != STATUS_STOPPED &&
           state != STATUS_FAILED && state != STATUS_STALLED && state != STATUS_LOST &&
           state != STATUS_CAPTURE_BROKEN;
}

/* A sync that succeeded has sent everything that was committed when it began. A `run` records this
 * time itself. */
int64_t status_equal_us(const struct status *s)
{
    if (s->checkpoint.phase != GENERATION_LIVE || s->capture.class != ERR_NONE) {
        return 0; /* it is not known since when the capture has missed changes */
    }
    if (status_is_equal_now(s)) {
        return s->now_us;
    }
    for (size_t i = 0; i < s->run_count; i++) {
        const struct run *r = &s->runs[i];
        if (strcmp(r->command, "sync") == 0 && r->ended_us != 0 && r->message[0] == '\0' &&
            !status_state_run_failed(r)) {
            return r->started_us > s->holder.work.equal_us ? r->started_us
                                                           : s->holder.work.equal_us;
        }
    }
    return s->holder.work.equal_us;
}
