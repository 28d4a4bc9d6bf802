/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The horizon of a cursor: the value below which no transaction can commit a row any more. If the
 * column is not timed, the value itself is included.
 *
 * For a timestamptz it is the start of the oldest running transaction, minus a margin. If that is
 * invisible, it is the current time minus the overlap. For other columns it is the largest value of
 * an overlap ago. While a prepared transaction exists the horizon is unknown, because its start is
 * not recorded.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "rowferry/source/pg/pg.h"

#define HORIZON_SAMPLES 32

struct horizon_sample {
    int64_t at_ms;
    char *largest;
};

struct horizon {
    struct pg *pg; /* borrowed */
    bool timed;
    int64_t overlap_ms;                             /* 0: the defaults */
    char *largest_sql;                              /* owned; for a column that is not timed */
    struct horizon_sample samples[HORIZON_SAMPLES]; /* oldest first */
    int sample_count;
    char *value; /* null: currently unknown */
};

void horizon_release(struct horizon *h);

/* Updates the value. Call it outside a transaction and before the snapshot that the value is
 * for. */
int horizon_look(struct horizon *h, struct err *err) MUST_CHECK;

/* The part of horizon_look for a column that is not timed, with the time as an argument. */
void horizon_sample(struct horizon *h, int64_t now_ms, const char *largest);
