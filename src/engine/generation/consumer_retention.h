/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Retention of the consumers of former generations. A consumer in the source makes it possible to
 * return to its generation from the position where it stopped. It also keeps the change log from
 * being pruned. So the last one is dropped after an hour, and earlier ones at once. A later return
 * then needs a re-snapshot in place.
 */
#pragma once

#include "pipeline/source_reader.h"

struct consumer_retention_watch {
    int64_t look_us; /* monotonic: time of the next check */
};

/* Called between pages. Drops at most one expired consumer. A failed attempt is repeated later. */
void consumer_retention_apply(struct consumer_retention_watch *w,
                              struct source_reader *source_reader, struct state *state,
                              const struct clock *clock);
