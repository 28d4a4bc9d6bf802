/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A command that concerns keys: resync, deadletter retry and discard, verify --repair. Files the
 * keys as requests to the pipeline's holder and prints the result. If there is no holder, or if it
 * has died, the command becomes the holder and carries the requests out itself.
 *
 *     holder_request_open, holder_request_push a key at a time, holder_request_run,
 * holder_request_release
 */
#pragma once

#include "arguments.h"
#include "client/holder_client.h"
#include "output/result.h"
#include "setup.h"

/* The keys of one request. */
struct key_part {
    struct buf keys;
    size_t count;
};

struct holder_request;

/* Pushes the next part of the keys if they are too many to hold at once. Sets *last after the last
 * part. */
typedef int (*holder_request_more)(void *context, struct holder_request *k, bool *last,
                                   struct err *err);

struct holder_request {
    const struct arguments *arguments;
    struct setup setup;
    struct session session;
    struct progress_line progress;
    struct holder_client client;
    struct key_part *parts; /* one for each request */
    size_t count;
    int64_t done;             /* keys done, as far as replies report */
    bool secrets;             /* the secrets are resolved */
    holder_request_more more; /* null if all keys were pushed */
    void *context;
    int64_t before; /* keys of the requests that were answered and forgotten */
    int64_t discarded;
    struct counters counters; /* sums of the replies */
    struct sync_outcome outcome;
};

/* Loads the configuration, selects the one pipeline and opens its state file. `command` is its
 * name, as "resync". The caller releases *k even after an error. */
int holder_request_open(struct holder_request *k, const struct arguments *a, const char *command,
                        const char *request, struct err *err) MUST_CHECK;
void holder_request_push(struct holder_request *k, struct span key);

/* Files the requests, waits for the replies and prints the result. Returns the exit code. */
int holder_request_run(struct holder_request *k, struct err *err) MUST_CHECK;

/* Prints the error of a command on keys, if it is one, with the name of the pipeline. Returns the
 * exit code. */
int holder_request_end(const struct holder_request *k, int rc, const struct err *err);
void holder_request_release(struct holder_request *k);
