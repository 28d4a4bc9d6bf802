/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Serves the status of a `run` over HTTP if `listen` is set: metrics, health and page
 * (rowferry/serve/serve.h). The caller's function describes a pipeline in JSON, so that the page
 * and `status --json` agree.
 */
#pragma once

#include "rowferry/daemon/worker/pipeline_worker.h"
#include "rowferry/serve/serve.h"

/* Appends the state of one pipeline of this process as a JSON object. */
typedef void (*listener_describe)(struct buf *out, const struct config *config,
                                  const struct pipeline_config *pipeline,
                                  const struct status_snapshot_view *view);

struct listener {
    struct serve *serve; /* null if nothing is served */
    const struct config *config;
    struct pipeline_worker *workers;
    struct status_snapshot **snapshots;
    struct buf source, service; /* their places, for people */
    listener_describe describe;
};

/* The workers are initialized and not started yet; they must outlive the listener. Does nothing
 * if `listen` is not set. */
int listener_start(struct listener *l, const struct config *config, struct pipeline_worker *workers,
                   size_t count, listener_describe describe_pipeline, int64_t silent_most_ms,
                   struct err *err) MUST_CHECK;
/* Takes a sample for the page's charts if one is due. Returns the time until the next one in ms;
 * -1 if nothing is served. Always called by the same thread. */
int64_t listener_sample(struct listener *l);
void listener_stop(struct listener *l); /* a zeroed listener is allowed */
