/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What only this room may know of a connection.
 */
#ifndef ROWFERRY_SOURCE_PG_PRIVATE_H
#define ROWFERRY_SOURCE_PG_PRIVATE_H

#include <libpq-fe.h>

#include "rowferry/source/pg.h"

struct pg {
    PGconn *conn;
    char *uri;
    char *password;
    char *application_name;
    int64_t connect_timeout_ms;
    int64_t lock_timeout_ms;
    char *held; /* the consumer whose advisory lock this session has, or null */
};

/* Monotonic; for time-outs and intervals. */
int64_t pg_now_ms(void);

/* Connects and sets the session up; the old connection, if any, is closed. */
int pg_connect(struct pg *pg, struct err *err) MUST_CHECK;

/* After an error: ends a transaction that is open, connects again where the session is lost or
 * busy, and takes the advisory lock again. */
int pg_recover(struct pg *pg, struct err *err) MUST_CHECK;

/* Sets err from a result's error fields, or from the connection where result is null. */
int pg_fail(const struct pg *pg, const PGresult *result, struct err *err);

/* pg_query with one of the texts of migrations/source. */
int pg_ask(struct pg *pg, struct pg_result **out, const char *name, const char *const *params,
           size_t count, struct err *err) MUST_CHECK;

/* Appends a literal in quotes. */
int pg_push_literal(struct pg *pg, struct buf *out, const char *text, struct err *err) MUST_CHECK;

/* Appends a one-dimensional array's text form: {"a","b"}. */
void pg_push_array_item(struct buf *out, const char *text);
void pg_push_array(struct buf *out, const char *const *items, size_t count);

#endif
