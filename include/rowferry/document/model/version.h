/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Versions: a hybrid logical clock in microseconds, max(last + 1, now).
 *
 * Each read takes one version before it begins, and all its operations carry it. So a later read
 * always wins over an earlier one, whatever the order of arrival. No version exceeds the ceiling,
 * which must be durable in the state file before it is raised here. After a crash the clock starts
 * at the ceiling, above every version that was ever sent.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define VERSION_RESERVE_US                                                                         \
    INT64_C(60000000) /* distance from the wall clock to a newly reserved ceiling */
#define VERSION_STEP_US INT64_C(10000) /* from the next version, if that is ahead */

/* The year 10000. Our clock never reaches it. Foreign versions near 2^63 could not be stepped
 * over. */
#define VERSION_FOREIGN INT64_C(253402300800000000)

struct version_clock {
    int64_t last;
    int64_t ceiling; /* durable */
};

/* Initializes the clock after a start: any version up to the durable ceiling may have been sent. */
void version_start(struct version_clock *v, int64_t durable_ceiling);

/* Returns the ceiling that must be made durable before the next version, or 0 if the current one
 * suffices. */
int64_t version_wanted_ceiling(const struct version_clock *v, int64_t wall_us);
void version_raise_ceiling(struct version_clock *v, int64_t durable_ceiling);

/* Returns the next version. Aborts if it would exceed the ceiling. */
int64_t version_tick(struct version_clock *v, int64_t wall_us);

/* Steps over a version below VERSION_FOREIGN that another program has written, so that the next
 * version is higher. */
void version_step_over(struct version_clock *v, int64_t seen);
