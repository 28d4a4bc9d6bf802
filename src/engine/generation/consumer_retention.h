/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Generations that are not live any more still have their consumer in the source, so that the last
 * one can be gone back to from where it stood. That holds the change log from being pruned: an hour
 * later it is let go, and those before it at once. Going back then copies everything in place.
 */
#ifndef ROWFERRY_ENGINE_CONSUMER_RETENTION_H
#define ROWFERRY_ENGINE_CONSUMER_RETENTION_H

#include "pipeline/source_reader.h"

struct former_watch {
    int64_t look_us; /* monotonic: not before */
};

/* Between pages: lets go at most one whose time has come. What fails is tried again later. */
void former_attend(struct former_watch *w, struct intake *intake, struct state *state,
                   const struct clock *clock);

#endif
