/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rate, progress and remaining time, from counters and clock. Pure arithmetic.
 */
#pragma once

#include "rowferry/engine/counters.h"
#include "rowferry/source/capture.h"

/* Progress and remaining time are unknown if no initial load is running. */
void progress_fill(struct progress *out, const struct counters *counters,
                   const struct capture_progress *copy, int64_t elapsed_ms);
