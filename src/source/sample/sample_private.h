/* SPDX-License-Identifier: Apache-2.0 */
/*
 * State of a sample, shared by its two parts: choosing rows, and querying their values.
 */
#pragma once

#include "pg/pg_private.h"
#include "rowferry/source/sample/sample.h"
#include "rows/keyarrays.h"

#define SAMPLE_SQL_BYTES ((size_t)2 << 20)

struct sample {
    struct pg *pg;
    struct sample_options options;
    struct table *base;         /* its keys are chosen */
    struct table *rows;         /* the same table, with its query */
    struct pg_result *readable; /* names of columns */
    struct plan plan;
    struct keyset keys;
    unsigned char *strata; /* enum stratum of each key */
    struct keyarrays arrays;
    bool chosen; /* the arrays are filled */
    int64_t table_rows;
    bool exact;
    struct pg_result *row; /* the current one */
    struct value *values;
};

/* Appends the statement that reads columns of the plan from the chosen rows. */
int sample_push_rows(struct sample *s, struct buf *sql, size_t first, size_t count,
                     struct err *err) MUST_CHECK;

/* Runs a statement over the chosen rows. */
int sample_ask(struct sample *s, struct pg_result **r, const char *shape, const struct buf *sql,
               struct err *err) MUST_CHECK;
