/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tables of the state file that have at most one row per pipeline. The headers of the structs
 * (live_progress.h, guard_stop.h ...) have a typed function for each access; only they call these.
 */
#pragma once

#include <stdbool.h>

#include "rowferry/state/store.h"

/* One for each table, with the struct that holds its row. */
enum pipeline_row {
    PIPELINE_ROW_LIVE_PROGRESS,     /* struct live_progress */
    PIPELINE_ROW_GUARD_STOP,        /* struct guard_stop */
    PIPELINE_ROW_PAUSE,             /* struct pause */
    PIPELINE_ROW_RECONCILE,         /* struct reconcile */
    PIPELINE_ROW_VERIFICATION,      /* struct verification */
    PIPELINE_ROW_RESNAPSHOT,        /* struct resnapshot */
    PIPELINE_ROW_GENERATION_CONFIG, /* struct generation_config */
    PIPELINE_ROW_FORMER_CONFIG,     /* struct former_config */
    PIPELINE_ROW_VALIDATION,        /* struct validation */
    PIPELINE_ROW_HOOK_MARKS,        /* struct hook_marks */
    PIPELINE_ROW_REQUEST_LIMIT,     /* struct request_limit */
    PIPELINE_ROW_PLACE,             /* struct written_place */
    PIPELINE_ROWS,
};

/* Inserts or updates the row. */
int pipeline_row_write(struct state *s, enum pipeline_row which, const void *row,
                       struct err *err) MUST_CHECK;
/* Reads the row. *known is false, and *row zero, if there is none. */
int pipeline_row_read(struct state *s, enum pipeline_row which, void *row, bool *known,
                      struct err *err) MUST_CHECK;
int pipeline_row_delete(struct state *s, enum pipeline_row which, struct err *err) MUST_CHECK;
