/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Hooks: commands and URLs that are told what happens to a pipeline.
 *
 * A hook is told a state, not a moment: what a pipeline is like is compared with what its hooks
 * were told last (state/hook_marks.h), and the marks move only after the hook has taken it. So
 * each change is told at least once, also after a kill; changes in quick succession may be told as
 * one. An event is told at most once a minute for each pipeline.
 *
 * A command gets one JSON object on its standard input, a URL gets it by POST. Both have a time
 * limit. The object has no document, no secret and no detail of an error.
 */
#pragma once

#include <pthread.h>

#include "rowferry/config/config.h"
#include "rowferry/engine/observe/status_snapshot.h"
#include "rowferry/state/hook_marks.h"

#define HOOKS_WHY_BYTES 512

/* What a pipeline is like. */
struct hook_facts {
    int64_t guard_us;          /* time of the guard stop that holds it; 0: none */
    bool stopped;              /* an error that a person must correct has stopped it */
    bool works;                /* it is caught up; false also if that is not known yet */
    int64_t dead_letters;      /* open; -1: unknown */
    char why[HOOKS_WHY_BYTES]; /* words of the guard stop or error */
    char generation[256];      /* the live index; empty: unknown */
};

/* Returns the next event that the marks lack, HOOK_EVENTS if none. told_us: when each was told last
 * (monotonic, 0: never); null: no limit. */
enum hook_event hooks_due(const struct hook_marks *marks, const struct hook_facts *facts,
                          const int64_t *told_us, int64_t now_us);
/* Moves the marks past an event that was told. HOOK_EVENTS: what needs no telling. Returns true if
 * they changed. */
bool hooks_settle(struct hook_marks *marks, const struct hook_facts *facts, enum hook_event event);

/* Appends the JSON object. */
void hooks_push(struct buf *out, enum hook_event event, const struct pipeline_config *pipeline,
                const struct hook_facts *facts, int64_t wall_us);

struct hooks_call {
    const struct config *config;
    const struct pipeline_config *pipeline;
    struct state *state;
    int64_t *told_us; /* as above; what is told is noted there */
    int stop_fd;      /* if it becomes readable, a command is ended; -1: none */
};

/* Tells the hooks of a pipeline everything that is due and keeps the marks. Logs a failure. Returns
 * false if anything is left to tell. */
bool hooks_tell(const struct hooks_call *c, const struct hook_facts *facts);

/* Returns true if the configuration has a hook. */
bool hooks_any(const struct config *config);

/* --- the thread of a `run` -------------------------------------------------------------------- */

struct hooks {
    const struct config *config; /* null: no thread */
    struct hooked *pipelines;
    size_t count;
    pthread_t thread;
    int stop_fd;
};

/* Starts the thread if the configuration has a hook. The snapshots must outlive it. */
int hooks_start(struct hooks *h, const struct config *config, struct status_snapshot **snapshots,
                size_t count, struct err *err) MUST_CHECK;
/* A zeroed struct is allowed. Waits for a hook that is at work. */
void hooks_stop(struct hooks *h);
