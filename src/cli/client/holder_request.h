/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A request to the pipeline's holder, from filing to the reply (engine/pipeline/requests.h).
 *
 * While another process holds the pipeline, the command waits for the reply in the state file. If
 * there is no holder, or if it has died, the command becomes the holder and carries the request out
 * itself.
 *
 *     holder_request_open, holder_request_push a key at a time, holder_request_run,
 * holder_request_release
 */
#pragma once

#include "arguments.h"
#include "output/progress_line.h"
#include "output/result.h"
#include "rowferry/daemon/session.h"
#include "rowferry/state/request.h"
#include "setup.h"

/* One request with a part of the keys. */
struct asked {
    struct buf keys;
    size_t count;
    int64_t id;
};

struct holder_request;

/* Pushes the next part of the keys if they are too many to hold at once. Sets *last after the last
 * part. */
typedef int (*holder_request_more)(void *context, struct holder_request *k, bool *last,
                                   struct err *err);

struct holder_request {
    const struct arguments *arguments;
    const char *request; /* REQUEST_RESYNC, REQUEST_DISCARD */
    struct setup setup;
    struct session session;
    struct progress_line progress;
    const volatile sig_atomic_t *stop;
    struct asked *asked;
    size_t count;
    size_t answered;          /* number of replies, in the order of the requests */
    size_t keys;              /* total number */
    int64_t done;             /* keys done, as far as replies report */
    bool followed;            /* another process held the pipeline */
    bool holding;             /* this command holds the pipeline */
    bool secrets;             /* the secrets are resolved */
    holder_request_more more; /* null if all keys were pushed */
    void *context;
    int64_t before; /* keys of the parts that are complete */
    int64_t upserts, present, deletes, rejected, discarded;
    struct err refused; /* error of the first failed reply */
    struct sync_outcome outcome;
};

/* Loads the configuration, selects the one pipeline and opens its state file. `command` is its
 * name, as "resync". The caller releases *k even after an error. */
int holder_request_open(struct holder_request *k, const struct arguments *a, const char *command,
                        const char *request, struct err *err) MUST_CHECK;
void holder_request_push(struct holder_request *k, struct span key);

/* Files the requests, waits for the replies and prints the result. Returns the exit code. */
int holder_request_run(struct holder_request *k, struct err *err) MUST_CHECK;

/* Returns rc. If it is an error other than a usage error, adds the name of the pipeline to it. */
int holder_request_named(const struct holder_request *k, int rc, struct err *err) MUST_CHECK;
void holder_request_release(struct holder_request *k);
