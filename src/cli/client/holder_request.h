/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A request to the pipeline's holder, from filing it to the answer (engine/pipeline/requests.h).
 *
 * While another process holds the pipeline the answer is followed in the state file; where none
 * does, or once it has died, the command becomes the holder and carries it out itself.
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

/* One request: a part of the keys. */
struct asked {
    struct buf keys;
    size_t count;
    int64_t id;
};

struct ask;

/* Pushes the next part of more keys than are to be held at a time; *last: there are no more. */
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
    size_t answered; /* how many of them, from the first on */
    size_t keys;     /* of all */
    int64_t done;    /* keys, as far as the answers tell */
    bool followed;   /* another held the pipeline */
    bool holding;    /* this command does */
    bool secrets;    /* are resolved */
    ask_more more;   /* null: all keys were pushed */
    void *context;
    int64_t before; /* keys of the parts that are answered */
    int64_t upserts, present, deletes, rejected, discarded;
    struct err refused; /* of the first answer that is an error */
    struct sync_outcome outcome;
};

/* Loads the configuration, picks the one pipeline and opens its state file. command: "resync". To
 * be released in every case. */
int ask_open(struct ask *k, const struct arguments *a, const char *command, const char *request,
             struct err *err) MUST_CHECK;
void ask_push(struct ask *k, struct span key);

/* Files it, sees it through and tells what became of it; the exit code. */
int ask_run(struct ask *k, struct err *err) MUST_CHECK;

/* rc, once an error of it that is not the command line's names the pipeline. */
int ask_named(const struct ask *k, int rc, struct err *err) MUST_CHECK;
void ask_release(struct ask *k);

#endif
