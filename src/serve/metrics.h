/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The metrics, one row of a table each. A test compares docs/observe.md with them. Pure, except for
 * process_look.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "rowferry/base/buf.h"
#include "rowferry/engine/observe/status_snapshot.h"

struct process {
    double started_s; /* since the epoch */
    double cpu_s;
    int64_t resident_bytes; /* -1 if unknown; also below */
    int64_t descriptors;
};

/* Measures this process; leaves started_s alone. */
void process_look(struct process *out);

void metrics_push(struct buf *out, const struct status_snapshot_view *views, size_t count,
                  const struct process *process, int64_t now_us);
