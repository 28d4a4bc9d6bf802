/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Versions: a hybrid logical clock in microseconds, max(last + 1, now).
 *
 * One tick for each read, taken before the read begins and carried by all its operations, so that
 * a later read always wins over an earlier one, whatever the order of arrival. No tick passes the
 * ceiling, which must be durable in the state file before it is raised here: after a crash the
 * clock starts at the ceiling, above everything that was ever sent.
 */
#ifndef ROWFERRY_DOCUMENT_VERSION_H
#define ROWFERRY_DOCUMENT_VERSION_H

#include <stdbool.h>
#include <stdint.h>

#define VERSION_RESERVE_US                                                                         \
    INT64_C(60000000)                  /* how far ahead of the wall clock a ceiling is put         \
                                        */
#define VERSION_STEP_US INT64_C(10000) /* and of a version that is ahead of it: as many ticks */

/* The year 10000: no clock of ours ticks there, and none could step over what comes near 2^63. */
#define VERSION_FOREIGN INT64_C(253402300800000000)

struct version_clock {
    int64_t last;
    int64_t ceiling; /* durable */
};

/* After a start: everything up to the durable ceiling may have been sent. */
void version_start(struct version_clock *v, int64_t durable_ceiling);

/* The ceiling that must be made durable before the next tick, or 0 where the present one will do.
 */
int64_t version_wanted_ceiling(const struct version_clock *v, int64_t wall_us);
void version_raise_ceiling(struct version_clock *v, int64_t durable_ceiling);

/* The next tick. Asserts that it is at most the ceiling. */
int64_t version_tick(struct version_clock *v, int64_t wall_us);

/* Steps over a version below VERSION_FOREIGN that somebody else has written; the next tick is
 * higher. */
void version_step_over(struct version_clock *v, int64_t seen);

#endif
