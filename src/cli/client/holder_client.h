/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Requests to the pipeline's lock holder (engine/pipeline/requests.h): files them, waits for the
 * replies, and notices when the holder has ended. The requests of all commands go through here.
 */
#pragma once

#include <json-c/json.h>
#include <signal.h>

#include "output/progress_line.h"
#include "rowferry/daemon/session.h"
#include "rowferry/state/request.h"

/* A reply, or the progress of a request without one. */
struct holder_reply {
    bool final;
    enum request_state state;
    const char *text;
    struct json_object *answer; /* null if the text is not JSON */
};

struct holder_client {
    struct session *session; /* its state file is open */
    const char *request;     /* REQUEST_RESYNC, ... */
    const volatile sig_atomic_t *stop;
    struct progress_line *progress; /* null if none */
    /* Takes a reply or progress; `context` is its first argument. */
    int (*take)(void *context, const struct holder_reply *reply, struct err *err);
    /* Appends to the text of the progress line; may be null. */
    void (*show)(void *context, struct buf *line);
    void *context;
    size_t keys; /* in the requests, for the log; 0 if they have none */

    int64_t *ids; /* of the filed requests; owned */
    size_t count;
    size_t answered;    /* number of replies, in the order of the requests */
    bool taken;         /* the holder works on the first request without a reply */
    bool followed;      /* another process held the pipeline */
    bool holding;       /* this process is the holder */
    bool stopped;       /* the wait was interrupted */
    struct err refused; /* error of the first failed reply */
};

/* Files a request. `arguments` is a text whose form the request defines. */
int holder_client_file(struct holder_client *c, const char *arguments, struct err *err) MUST_CHECK;

/*
 * Waits until all requests have replies, this process has become the holder (`holding`), or a stop
 * (`stopped`). In the last two cases a request without a reply is withdrawn, stays filed or is
 * taken over, as the table in holder_client.c says.
 *
 * Returns ERR_STATE with the holder's reason if a request was refused.
 */
int holder_client_follow(struct holder_client *c, struct err *err) MUST_CHECK;

/* Reads the replies that exist by now. Returns as holder_client_follow does. */
int holder_client_look(struct holder_client *c, struct err *err) MUST_CHECK;

/* Sets this state and answer on all requests without a reply. */
int holder_client_mark(struct holder_client *c, enum request_state state, const char *answer,
                       struct err *err) MUST_CHECK;

/* Withdraws all requests without a reply for this reason, so that no later holder carries them out
 * unexpectedly. */
int holder_client_withdraw(struct holder_client *c, const char *why, struct err *err) MUST_CHECK;

/* Forgets the filed requests. */
void holder_client_reset(struct holder_client *c);
void holder_client_release(struct holder_client *c);

/* Returns the number of a reply's member; 0 if it has none. */
int64_t holder_reply_number(const struct holder_reply *reply, const char *name);
