/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What `run` serves of itself where `listen` is set: its replicas' boards (rowferry/serve/serve.h),
 * each described as `status --json` describes it, by the state file and by what lives.
 */
#ifndef ROWFERRY_DAEMON_LISTENER_H
#define ROWFERRY_DAEMON_LISTENER_H

#include "rowferry/daemon/pipeline_worker.h"
#include "rowferry/serve/serve.h"

struct listener {
    struct serve *serve; /* null: nothing is served */
    const struct config *config;
    struct replica *replicas;
    struct board **boards;
};

/* Replicas that are made and not started; they outlive it. Does nothing without `listen`. */
int listener_start(struct listener *l, const struct config *config, struct replica *replicas,
                   size_t count, int64_t silent_most_ms, struct err *err) MUST_CHECK;
void listener_stop(struct listener *l); /* one that is all zero is allowed */

#endif
