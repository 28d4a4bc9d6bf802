/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A request to the pipeline's holder, from filing to the reply (engine/pipeline/requests.h).
 *
 * While another process holds the pipeline, the command waits for the reply in the state file. If
 * there is no holder, or if it has died, the command becomes the holder and carries the request out
 * itself.
 *
 *     ask_open, ask_push a key at a time, ask_run, ask_release
 */
#ifndef ROWFERRY_CLI_HOLDER_REQUEST_H
#define ROWFERRY_CLI_HOLDER_REQUEST_H

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

struct ask;

/* Pushes the next part of the keys if they are too many to hold at once. Sets *last after the last
 * part. */
typedef int (*ask_more)(void *context, struct ask *k, bool *last, struct err *err);

struct ask {
    const struct arguments *arguments;
    const char *request; /* REQUEST_RESYNC, REQUEST_DISCARD */
    struct setup setup;
    struct session session;
    struct progressline progress;
    const volatile sig_atomic_t *stop;
    struct asked *asked;
    size_t count;
    size_t answered; /* number of replies, in the order of the requests */
    size_t keys;     /* total number */
    int64_t done;    /* keys done, as far as replies report */
    bool followed;   /* another process held the pipeline */
    bool holding;    /* this command holds the pipeline */
    bool secrets;    /* the secrets are resolved */
    ask_more more;   /* null if all keys were pushed */
    void *context;
    int64_t before; /* keys of the parts that are complete */
    int64_t upserts, present, deletes, rejected, discarded;
    struct err refused; /* error of the first failed reply */
    struct sync_outcome outcome;
};

/* Loads the configuration, selects the one pipeline and opens its state file. `command` is its
 * name, as "resync". The caller releases *k even after an error. */
int ask_open(struct ask *k, const struct arguments *a, const char *command, const char *request,
             struct err *err) MUST_CHECK;
void ask_push(struct ask *k, struct span key);

/* Files the requests, waits for the replies and prints the result. Returns the exit code. */
int ask_run(struct ask *k, struct err *err) MUST_CHECK;

/* Returns rc. If it is an error other than a usage error, adds the name of the pipeline to it. */
int ask_named(const struct ask *k, int rc, struct err *err) MUST_CHECK;
void ask_release(struct ask *k);

#endif
