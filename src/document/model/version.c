/* SPDX-License-Identifier: Apache-2.0 */
/* The version clock, which never goes back, even if the wall clock does. */
#include "rowferry/document/model/version.h"

#include <stdlib.h>

void version_start(struct version_clock *v, int64_t durable_ceiling)
{
    *v = (struct version_clock){.last = durable_ceiling, .ceiling = durable_ceiling};
}

static int64_t version_next_tick(const struct version_clock *v, int64_t wall_us)
{
    return wall_us > v->last ? wall_us : v->last + 1;
}

/* The new ceiling is relative to the wall clock, not to the last ceiling. Otherwise a series of
 * short processes would push the versions into the future, by one reserve each. */
int64_t version_wanted_ceiling(const struct version_clock *v, int64_t wall_us)
{
    int64_t next = version_next_tick(v, wall_us);
    int64_t ahead = wall_us + VERSION_RESERVE_US;
    int64_t least = next + VERSION_STEP_US;
    return next <= v->ceiling ? 0 : least > ahead ? least : ahead;
}

void version_raise_ceiling(struct version_clock *v, int64_t durable_ceiling)
{
    if (durable_ceiling > v->ceiling) {
        v->ceiling = durable_ceiling;
    }
}

int64_t version_tick(struct version_clock *v, int64_t wall_us)
{
    int64_t next = version_next_tick(v, wall_us);
    if (next > v->ceiling) {
        abort(); /* never send a version that a crash would forget, also in release builds */
    }
    v->last = next;
    return next;
}

void version_step_over(struct version_clock *v, int64_t seen)
{
    if (seen > v->last) {
        v->last = seen;
    }
}
