/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Streams one statement's rows in single-row mode without waiting and without copying.
 */
#ifndef ROWFERRY_SOURCE_READER_H
#define ROWFERRY_SOURCE_READER_H

#include "pg_private.h"
#include "rowferry/document/row.h"

enum reader_step { READER_WAIT, READER_ROW, READER_END };

struct reader {
    struct pg *pg;        /* borrowed */
    PGresult *current;    /* the row that is handed out */
    struct value *values; /* reused for every row */
    size_t capacity;
};

void reader_release(struct reader *r);

/* Sends a statement with text parameters. */
int reader_send(struct reader *r, const char *sql, const char *const *params, size_t count,
                struct err *err) MUST_CHECK;

/* The next step, or a negative class. ROW: `row` is valid until the next call. */
int reader_next(struct reader *r, struct row *row, struct err *err) MUST_CHECK;

#endif
