/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether so many refused operations may become dead letters. Pure.
 *
 * What is counted is a stretch of operations, as they are settled: a window of the log, or 10,000
 * of a copy or of a longer window. One reason is the error type and the field that the reason
 * names; what was refused here before it was sent has the column instead of the type.
 *
 * More than 100 and more than a twentieth of the stretch, for one reason, are too many. A stretch
 * is judged when it has ended, or as soon as no end can make it better: some odd rows that lie
 * together say nothing of the others, and a wrong mapping is noticed after 501.
 */
#ifndef ROWFERRY_ENGINE_REJECT_STATS_H
#define ROWFERRY_ENGINE_REJECT_STATS_H

#include <stdbool.h>

#include "rowferry/state/checkpoint.h"
#include "rowferry/state/guard_stop.h"

#define REJECTS_COUNT 100
#define REJECTS_SHARE 0.05
#define REJECTS_STRETCH 10000
#define REJECTS_REASONS 64 /* told apart at a time */

struct reject_reason {
    uint64_t hash;
    int64_t count;
    char name[HALT_REASON_BYTES];
};

struct rejects {
    int64_t operations;
    struct reject_reason reasons[REJECTS_REASONS];
    size_t count;
    uint64_t permitted; /* hash of the reason that a person has permitted; 0: none */
    uint64_t suspect;   /* of the reason that stopped the pipeline last, until judged; 0: none */
};

/* Names of reasons, or "". suspect: none of it is committed before the first verdict, or each new
 * attempt would leave a hundred letters more behind. */
void rejects_init(struct rejects *r, const char *permitted, const char *suspect);

/* A person has permitted the reason meanwhile: what is counted of it is forgotten. */
void rejects_permit(struct rejects *r, const char *permitted);

/* Another stretch begins; the one before was judged. */
void rejects_begin(struct rejects *r);

/* An operation is done, or was refused. */
void rejects_done(struct rejects *r);
void rejects_add(struct rejects *r, const struct letter *letter);

/* True where the stretch may turn out to have too many: nothing of it is to be committed. */
bool rejects_doubt(const struct rejects *r);

/* The reason for which too many are refused, or null. ended: the stretch is no longer than this. */
const struct reject_reason *rejects_trips(const struct rejects *r, bool ended);

#endif
