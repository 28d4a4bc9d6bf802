/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The request that the loop is carrying out: one at a time, taken from the state file.
 */
#ifndef ROWFERRY_ENGINE_REQUESTS_PRIVATE_H
#define ROWFERRY_ENGINE_REQUESTS_PRIVATE_H

#include "pipeline/pending_commit.h"
#include "pipeline/source_reader.h"
#include "rowferry/engine/pipeline/requests.h"

struct deletes;
struct guard;
struct rejects;

struct requests {
    struct state *state;
    struct clock clock;
    struct guard *deletes_guard; /* whom a permission goes to: one of the two */
    struct rejects *rejects;
    int64_t id; /* of the request in work; 0 = none */
    struct buf command;
    size_t keys; /* that it asked for */
    int64_t upserts, deletes, rejected, discarded;
    int64_t present;    /* of the upserts: the data stream had the document */
    int64_t permission; /* the request that permitted what the guard refused; 0 = none */
    int64_t looked_us;  /* monotonic: when the state file was last asked for one */
    bool noticed;       /* the state file was written: there may be one */
    bool belled;        /* each write of it is noticed now */
    int64_t told_us;
    int64_t left_id; /* up to here those that are filed still are for somebody else */
    bool (*asked)(void *context, int64_t id, const char *command, const char *arguments);
    void *asked_context;
};

void requests_init(struct requests *r, struct state *state, struct clock clock);
/* Also takes permissions from now on. */
void requests_permit_to(struct requests *r, struct deletes *deletes, struct rejects *rejects);

void requests_release(struct requests *r);

/*
 * Takes the next request, if there is one and it is time to look (or `now`), and hands its keys to
 * intake or settling; answers one that is finished. Called between turns of the loop, when what is
 * finished is committed.
 */
int requests_turn(struct requests *r, struct intake *intake, struct settling *settling, bool now,
                  struct err *err) MUST_CHECK;

/* True where all that was asked for is settled: to be committed, then answered. */
bool requests_finished(const struct requests *r, const struct intake *intake);

/* An operation of the intake's asked page is settled. */
void requests_settled(struct requests *r, enum operation_kind kind, bool rejected);

/* What was permitted is done: tells the one who permitted it what came of it. */
int requests_end_permission(struct requests *r, const struct counters *c,
                            struct err *err) MUST_CHECK;

/* What was not carried out, a permission too, stays filed: for the next round or holder, or for the
 * one who asks, who becomes the holder then. */
void requests_put_back(struct requests *r);

/* The requests in work cannot be finished: tells those who asked why. */
void requests_fail(struct requests *r, const struct err *why);

static inline bool requests_idle(const struct requests *r)
{
    return r->id == 0;
}

#endif
