/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The result of `sync` as metrics, for a file that node_exporter's textfile collector reads: a
 * scheduled job does not live long enough to be scraped. Pure.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "rowferry/base/buf.h"

struct sync_sample {
    const char *pipeline;
    int exit_code;
    int64_t ended_us;     /* wall clock */
    int64_t succeeded_us; /* when a sync of the pipeline last succeeded; 0: not known */
    int64_t took_ms;
    int64_t upserts, deletes, rejected; /* operations of this sync */
    int64_t dead_letters;               /* open ones */
};

void sync_metrics_push(struct buf *out, const struct sync_sample *samples, size_t count);
