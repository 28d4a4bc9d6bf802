/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Streams the rows of a page's statements in single-row mode, without waiting and without copying.
 * A statement may be sent while the previous one is still being read, so that the server does not
 * pause.
 */
#pragma once

#include "pg/pg_private.h"
#include "rowferry/document/model/row.h"

enum reader_step { READER_WAIT, READER_ROW, READER_END };

#define READER_AHEAD 3 /* statements in flight, at most */

/* Expected shape of a statement's result. */
struct reader_form {
    size_t columns;
    size_t most_rows; /* 0: any number */
};

struct reader {
    struct pg *pg;        /* borrowed */
    PGresult *current;    /* the row that was returned last */
    struct value *values; /* reused for every row */
    size_t capacity;
    size_t sent;                            /* statements in flight */
    struct reader_form forms[READER_AHEAD]; /* their shapes, oldest first */
    size_t rows;                            /* rows of the oldest statement so far */
    bool ending;                            /* the last statement in flight ends the page */
};

void reader_release(struct reader *r);

/* Sends a statement with text parameters. From the first one until the end of reader_commit, the
 * connection must not be used otherwise. A result of another shape ends the connection. */
int reader_send(struct reader *r, struct reader_form form, const char *sql,
                const char *const *params, size_t count, struct err *err) MUST_CHECK;

/* Sends the last statement of a page. */
int reader_commit(struct reader *r, struct err *err) MUST_CHECK;

/* After a statement's error: ends the transaction, so that the connection can be used again. Waits
 * for the rest of the server's output. */
int reader_give_up(struct reader *r, struct err *err) MUST_CHECK;

/* Returns the next step, or a negative class. ROW: `row` is valid until the next call. END: the
 * oldest statement in flight has ended. */
int reader_next(struct reader *r, struct row *row, struct err *err) MUST_CHECK;
