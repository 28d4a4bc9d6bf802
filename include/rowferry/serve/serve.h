/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Serves metrics, health and the status page of a running process over HTTP. Read-only: GET and
 * HEAD.
 *
 *     /          the status page: one document without external resources
 *     /status    JSON: the data of the page; with ?samples=NUMBER also that of its charts
 *     /metrics   Prometheus text
 *     /healthz   200 if every pipeline has a recent heartbeat
 *     /readyz    200 if every pipeline is ready; otherwise lists the others with the reason
 *
 * A single thread sleeps until a request arrives. It reads status snapshots
 * (engine/observe/status_snapshot.h) and never waits for a pipeline. Only the samples of the page's
 * charts are taken in advance, by the caller's thread.
 *
 * Clients can use only bounded resources: a maximum number of connections (a new one closes the
 * oldest), one request each, small headers, no bodies.
 *
 * The Host header must be an IP address, localhost, this machine's name or one of `names`. This
 * prevents DNS rebinding: a page of another origin cannot read the status by a name that resolves
 * to this machine.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "rowferry/base/buf.h"
#include "rowferry/base/clock.h"
#include "rowferry/engine/observe/status_snapshot.h"

#define SERVE_ADDRESS_BYTES 80 /* "[address]:port" and NUL */

/* Everything is borrowed and must outlive the server. The functions are called in its thread. */
struct serve_options {
    const char *listen;       /* "host:port"; port 0 means any free port */
    const char *const *names; /* additional names that Host may contain */
    size_t name_count;
    const char *source;  /* place of the source, for people; null: unknown */
    const char *service; /* place of the service */
    struct status_snapshot *const *snapshots;
    size_t count;
    int64_t silent_most_ms; /* a pipeline without a heartbeat for longer hangs */
    int64_t (*silent_ms)(void *context, size_t pipeline);
    /* Appends one JSON object with the complete status of the pipeline. */
    void (*describe)(void *context, size_t pipeline, const struct status_snapshot_view *view,
                     struct buf *out);
    void *context;
    struct clock clock;
};

struct serve;

/* Starts the server. Returns ERR_TRANSIENT if the address is in use, ERR_CONFIG if this machine
 * does not have it. All signals must be blocked. The server watches the log until it is stopped. */
int serve_start(struct serve **out, const struct serve_options *options,
                struct err *err) MUST_CHECK;
/* Answers requests that have arrived, then stops. Null is allowed. */
void serve_stop(struct serve *s);

/* Takes a sample of each pipeline for the charts if one is due. Returns the time until the next one
 * in ms. Always called by the same thread. */
int64_t serve_sample(struct serve *s);

/* Returns the listening address, numeric only. */
const char *serve_address(const struct serve *s);

/* Returns true if other machines can connect. */
bool serve_is_open(const struct serve *s);
