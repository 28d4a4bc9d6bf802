/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What only this room may know of a connection.
 */
#ifndef ROWFERRY_SOURCE_PG_PRIVATE_H
#define ROWFERRY_SOURCE_PG_PRIVATE_H

#include <libpq-fe.h>

#include "rowferry/source/pg.h"

#define PG_PREPARED_MOST 4

struct pg {
    PGconn *conn;
    char *uri;
    char *password;
    struct renewal *renewal; /* of the password; null: it stays */
    char *application_name;
    int64_t connect_timeout_ms;
    int64_t lock_timeout_ms;
    const char *prepared[PG_PREPARED_MOST]; /* the texts of migrations/source that this session has
                                               prepared; null: no more */
    char *primary_uri;  /* of the source where that is a standby; null: unknown */
    struct pg *primary; /* null until it is needed */
    bool in_recovery;   /* as it was when the session began */
    char *held;         /* the consumer whose advisory lock this session has, or null */
    size_t turn;        /* of several hosts the one that is tried first */
    bool fences;        /* see source_options */
    bool encrypts;      /* because the source is another host and nobody said otherwise */
};

/* Monotonic; for time-outs and intervals. */
int64_t pg_now_ms(void);

/* Connects and sets the session up; the old connection, if any, is closed. */
int pg_connect(struct pg *pg, struct err *err) MUST_CHECK;

/* Another connection that is as this one is, without its advisory lock. */
int pg_open_like(struct pg **out, const struct pg *pg, struct err *err) MUST_CHECK;

/* Whether the URI leads to another host, and neither it nor the environment nor a service file
 * names an sslmode: libpq would go on in clear where the server, or who stands between, says that
 * it has no TLS. Connects to nobody. */
bool pg_must_encrypt(const char *uri);

/* After an error: ends a transaction that is open, connects again where the session is lost or
 * busy, and takes the advisory lock again. */
int pg_recover(struct pg *pg, struct err *err) MUST_CHECK;

/* Where this session's source can be written to: itself, or the primary of a standby, which must be
 * one and of the same system. Borrowed. */
int pg_writer(struct pg *pg, struct pg **out, struct err *err) MUST_CHECK;

/* Sets err from a result's error fields, or from the connection where result is null. */
int pg_fail(const struct pg *pg, const PGresult *result, struct err *err);

/* pg_query with one of the texts of migrations/source. */
int pg_ask(struct pg *pg, struct pg_result **out, const char *name, const char *const *params,
           size_t count, struct err *err) MUST_CHECK;

/* pg_ask with a text that is asked again and again: the session prepares it. At most
 * PG_PREPARED_MOST of them. */
int pg_ask_again(struct pg *pg, struct pg_result **out, const char *name, const char *const *params,
                 size_t count, struct err *err) MUST_CHECK;

/* From now on the session is told when channel "rowferry_<capture>" is notified: its descriptor
 * gets readable. */
int pg_listen(struct pg *pg, const char *capture, struct err *err) MUST_CHECK;

/* Forgets what was told. */
void pg_forget_calls(struct pg *pg);

/* Appends a literal in quotes. */
int pg_push_literal(struct pg *pg, struct buf *out, const char *text, struct err *err) MUST_CHECK;

/* Appends a one-dimensional array's text form: {"a","b"}. */
void pg_push_array_item(struct buf *out, const char *text);
void pg_push_array(struct buf *out, const char *const *items, size_t count);

#endif
