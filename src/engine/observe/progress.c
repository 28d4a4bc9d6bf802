/* SPDX-License-Identifier: Apache-2.0 */
/* Computes progress figures for people. */
#include "observe/progress.h"

static int64_t progress_remaining_ms(const struct capture_progress *copy, double rows_per_second)
{
    if (rows_per_second < 1 || copy->rows_estimated <= 0) {
        return -1;
    }
    double left = (double)copy->rows_estimated * (1 - copy->share);
    return (int64_t)(left / rows_per_second * 1000);
}

void progress_fill(struct progress *out, const struct counters *counters,
                   const struct capture_progress *copy, int64_t elapsed_ms)
{
    out->counters = *counters;
    out->elapsed_ms = elapsed_ms;
    out->rows_per_second =
        elapsed_ms > 0 ? (double)counters->rows_read * 1000 / (double)elapsed_ms : 0;
    out->share = -1;
    out->remaining_ms = -1;
    if (copy->share < 1) {
        out->share = copy->share;
        out->remaining_ms = progress_remaining_ms(copy, out->rows_per_second);
    }
}
