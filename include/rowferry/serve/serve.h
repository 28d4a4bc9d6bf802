/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Metrics, health and the status page of a living process, over HTTP: read-only, GET and HEAD.
 *
 *     /          the status page: one document, nothing from elsewhere
 *     /status    JSON: what the page shows
 *     /metrics   Prometheus text
 *     /healthz   200 while every pipeline gives signs of life
 *     /readyz    200 while every pipeline does what it is there for; else which do not, and why
 *
 * One thread that sleeps until somebody asks; nothing is computed for nobody. It reads boards
 * (engine/observe/status_snapshot.h) and waits for no pipeline. What clients can take of the
 * process is bounded: so many connections, of which the oldest goes where there are more, one
 * request each, small headers, no bodies. A request has to name an address, localhost, this machine
 * or one of the names in Host, so that no page of another origin reads it by a name that it made
 * point here.
 */
#ifndef ROWFERRY_SERVE_SERVE_H
#define ROWFERRY_SERVE_SERVE_H

#include <stddef.h>
#include <stdint.h>

#include "rowferry/base/buf.h"
#include "rowferry/base/clock.h"
#include "rowferry/engine/observe/status_snapshot.h"

#define SERVE_ADDRESS_BYTES 80 /* "[address]:port" and NUL */

/* All borrowed; outlive the server. The functions are called in the server's thread. */
struct serve_options {
    const char *listen;       /* "host:port"; port 0: any that is free */
    const char *const *names; /* by which it may be called as well */
    size_t name_count;
    struct board *const *boards;
    size_t count;
    int64_t silent_most_ms; /* a pipeline without a sign of life for longer has hung */
    int64_t (*silent_ms)(void *context, size_t board);
    /* Appends one JSON object that tells of the pipeline all that is known. */
    void (*describe)(void *context, size_t board, const struct board_view *view, struct buf *out);
    void *context;
    struct clock clock;
};

struct serve;

/* ERR_TRANSIENT where the address is taken, ERR_CONFIG where it is none of this machine's. All
 * signals have to be blocked. Watches the log for as long as it lives. */
int serve_start(struct serve **out, const struct serve_options *options,
                struct err *err) MUST_CHECK;
/* What is asked is answered first. Null is allowed. */
void serve_stop(struct serve *s);

/* Where it listens, numbers only. */
const char *serve_address(const struct serve *s);

/* Whether others than this machine's processes reach it. */
bool serve_is_open(const struct serve *s);

#endif
