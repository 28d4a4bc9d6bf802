/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The request in progress: the loop carries out one at a time, taken from the state file.
 */
#pragma once

#include "core/pending_commit.h"
#include "core/source_reader.h"
#include "rowferry/engine/pipeline/requests.h"

struct guard;
struct reject_stats;

struct requests {
    struct state *state;
    struct clock clock;
    const char *pipeline;                  /* its name */
    struct source_reader *source_reader;   /* reads requested keys */
    struct pending_commit *pending_commit; /* discards dead letters */
    struct guard *deletes_guard; /* receiver of a permission for deletes; `rejects` is the one for
                                    rejections */
    struct reject_stats *rejects;
    int64_t id; /* of the request in progress; 0 = none */
    struct buf command;
    size_t keys; /* number of requested keys */
    int64_t upserts, deletes, rejected, discarded;
    int64_t present;    /* upserts whose document was already in the data stream */
    int64_t permission; /* request that permitted what the guard refused; 0 = none */
    int64_t looked_us;  /* monotonic: when the state file was last read for requests */
    bool noticed;       /* the state file was written and may hold a new request */
    bool belled;        /* each write of the state file currently causes a wakeup */
    int64_t told_us;
    int64_t left_id; /* requests up to this id that are still filed are not for the loop */
    bool (*asked)(void *context, int64_t id, const char *command, const char *arguments);
    void *asked_context;
};

void requests_init(struct requests *r, struct state *state, struct clock clock);
void requests_release(struct requests *r);

/*
 * Takes the next request if one is filed and the check is due (or `now` is set), and passes its
 * keys to the source reader or the pending commit. Answers a finished request. Called between turns
 * of the loop, after a finished request was committed.
 */
int requests_turn(struct requests *r, bool now, struct err *err) MUST_CHECK;

/* Returns true if all requested keys are settled, so that they can be committed and then
 * answered. */
bool requests_finished(const struct requests *r);

/* Counts a settled operation of a requested page. */
void requests_settled(struct requests *r, enum operation_kind kind, bool rejected);

/* Answers the permission request with the result, because what it permitted is done. */
int requests_end_permission(struct requests *r, const struct counters *c,
                            struct err *err) MUST_CHECK;

/* Files unfinished requests and permissions again, for the next round or lock holder. If there is
 * none, the requesting command becomes the holder. */
void requests_put_back(struct requests *r);

/* Answers the requests in progress with an error, because they cannot be finished. */
void requests_fail(struct requests *r, const struct err *why);

/* Reads the next key of a request's arguments into *key and advances *cursor: one key per line, '\'
 * and line breaks escaped. Returns false at the end. */
bool keylist_next(const char **cursor, struct buf *key);
