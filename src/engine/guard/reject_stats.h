/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Decides whether rejected operations may become dead letters in this number. Pure.
 *
 * A stretch of operations is counted as they are settled: a stretch of the log, or 10,000
 * operations of the initial load or of a longer stretch of the log. A reason is the error type and
 * the field that the error names. For rows that we refuse ourselves it is the column.
 *
 * More than 100 rejections that are also more than a twentieth of the stretch, for one reason, are
 * too many. A stretch is judged when it ends, or as soon as its end cannot change the result. So a
 * group of odd rows does not stop the pipeline, and a wrong mapping is noticed after 501
 * rejections.
 */
#pragma once

#include <stdbool.h>

#include "rowferry/state/checkpoint.h"
#include "rowferry/state/guard_stop.h"

#define REJECT_STATS_COUNT 100
#define REJECT_STATS_SHARE 0.05
#define REJECT_STATS_STRETCH 10000
#define REJECT_STATS_REASONS 64 /* counted separately at a time */

struct reject_reason {
    uint64_t hash;
    int64_t count;
    char name[GUARD_STOP_REASON_BYTES];
};

struct reject_stats {
    int64_t operations;
    struct reject_reason reasons[REJECT_STATS_REASONS];
    size_t count;
    uint64_t permitted; /* hash of the permitted reason; 0: none */
    uint64_t suspect;   /* hash of the reason of the last guard stop, until judged; 0: none */
};

/* permitted and suspect are names of reasons, or "". Nothing is committed before the first
 * decision about the suspect, or each attempt would leave a hundred more dead letters. */
void reject_stats_init(struct reject_stats *r, const char *permitted, const char *suspect);

/* Permits a reason, and resets its count. */
void reject_stats_permit(struct reject_stats *r, const char *permitted);

/* Begins the next stretch after the last one was judged. */
void reject_stats_begin(struct reject_stats *r);

/* Count an operation that succeeded, or one that was rejected. */
void reject_stats_done(struct reject_stats *r);
void reject_stats_add(struct reject_stats *r, const struct new_letter *letter);

/* Returns true if the stretch may still exceed the limit, so that nothing of it may be
 * committed. */
bool reject_stats_doubt(const struct reject_stats *r);

/* Returns the reason with too many rejections, or null. ended: the stretch will not get longer. */
const struct reject_reason *reject_stats_trips(const struct reject_stats *r, bool ended);
