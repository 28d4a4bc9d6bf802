/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The horizon of a cursor: the value below which no transaction can commit a row any more; where it
 * is not timed, nor one with that value itself.
 *
 * Of a timestamptz it is the start of the oldest transaction that runs, less a margin; where that
 * cannot be seen, the clock less the overlap. Of any other column, what its largest value was an
 * overlap ago. A prepared transaction holds it where it stands, since nothing tells when it began.
 */
#ifndef ROWFERRY_SOURCE_HORIZON_H
#define ROWFERRY_SOURCE_HORIZON_H

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
    char *largest_sql;                              /* owned; of a column that is not timed */
    struct horizon_sample samples[HORIZON_SAMPLES]; /* oldest first */
    int sample_count;
    char *value; /* null: not known now */
};

void horizon_release(struct horizon *h);

/* Looks, outside a transaction and before the snapshot that the value is for. */
int horizon_look(struct horizon *h, struct err *err) MUST_CHECK;

/* What horizon_look does of a column that is not timed, with the time as an argument. */
void horizon_sample(struct horizon *h, int64_t now_ms, const char *largest);

#endif
