/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rate, share and remaining time from counters and clock: pure arithmetic.
 */
#ifndef ROWFERRY_ENGINE_PROGRESS_H
#define ROWFERRY_ENGINE_PROGRESS_H

#include "rowferry/engine/counters.h"
#include "rowferry/source/capture.h"

/* rows_before: of the copy, read by earlier runs. copy may be null (no copy is known). */
void progress_fill(struct progress *out, const struct counters *counters,
                   const struct capture_progress *copy, bool copying, int64_t elapsed_ms);

#endif
