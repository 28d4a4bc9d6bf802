/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rate, share and remaining time from counters and clock: pure arithmetic.
 */
#ifndef ROWFERRY_ENGINE_PROGRESS_H
#define ROWFERRY_ENGINE_PROGRESS_H

#include "rowferry/engine/counters.h"
#include "rowferry/source/capture.h"

/* Share and remaining time are unknown where the copy is over or was not. */
void progress_fill(struct progress *out, const struct counters *counters,
                   const struct capture_progress *copy, int64_t elapsed_ms);

#endif
