/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Streams the rows of a page's statements in single-row mode without waiting and without copying.
 * A statement may be sent while the one before it is still read: the server then has no pause.
 */
#ifndef ROWFERRY_SOURCE_READER_H
#define ROWFERRY_SOURCE_READER_H

#include "pg/pg_private.h"
#include "rowferry/document/model/row.h"

enum reader_step { READER_WAIT, READER_ROW, READER_END };

#define READER_AHEAD 3 /* statements that are sent before the oldest one has ended */

/* What a statement answers with. */
struct reader_form {
    size_t columns;
    size_t most_rows; /* 0: any number */
};

struct reader {
    struct pg *pg;        /* borrowed */
    PGresult *current;    /* the row that is handed out */
    struct value *values; /* reused for every row */
    size_t capacity;
    size_t sent;                            /* statements whose end has not come, */
    struct reader_form forms[READER_AHEAD]; /* and their forms; the oldest is the first */
    size_t rows;                            /* of the oldest one so far */
    bool ending;                            /* the last of them ends the page */
};

void reader_release(struct reader *r);

/* Sends a statement with text parameters. From the first one on nothing else may use the connection
 * until the end of reader_commit has come. An answer of another form ends the connection. */
int reader_send(struct reader *r, struct reader_form form, const char *sql,
                const char *const *params, size_t count, struct err *err) MUST_CHECK;

/* Sends the last statement of a page. */
int reader_commit(struct reader *r, struct err *err) MUST_CHECK;

/* After an error that is the statement's: ends the transaction, so that the connection may be used
 * again. Waits for what the server still has to say. */
int reader_give_up(struct reader *r, struct err *err) MUST_CHECK;

/* The next step, or a negative class. ROW: `row` is valid until the next call. END: of the oldest
 * statement whose end has not come. */
int reader_next(struct reader *r, struct row *row, struct err *err) MUST_CHECK;

#endif
