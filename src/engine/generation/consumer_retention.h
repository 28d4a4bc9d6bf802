/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Retention of the consumers of former generations. A consumer in the source makes it possible to
 * return to its generation from the position where it stopped. It also keeps the change log from
 * being pruned. So the last one is dropped after an hour, and earlier ones at once. A later return
 * then needs a re-snapshot in place.
 */
#pragma once

#include "core/loop_view.h"

struct consumer_retention {
    const struct loop_view *view;
    struct source_reader *reader;
    int64_t look_us; /* monotonic: time of the next check */
};

/* Drops at most one expired consumer; see struct loop_observer. A failed attempt is repeated later.
 */
void consumer_retention_on_page(void *self, bool more);
