/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One connection to PostgreSQL, with session settings that make text output unambiguous.
 *
 * The settings: UTF8, UTC, ISO dates, ISO intervals, shortest exact floats, hex bytea, row_security
 * off (a policy that hides rows becomes an error instead of deletes), search_path pg_catalog,
 * lock_timeout, TCP keepalives. They are always sent, because roles and databases can override
 * them. If a password is refused (28P01), it is read again from its origin, once.
 *
 * A connection to another host must be encrypted unless sslmode allows otherwise. A server without
 * a verified certificate must prove by channel binding that it knows the password, unless
 * channel_binding allows otherwise. Values are sent as parameters; names are quoted
 * (sql/sqlquote.h).
 *
 * Errors: a lost or refused connection, 57P0x, 57014 (cancelled), 55P03 (lock), 40001, 40P01 and
 * 53xxx are ERR_TRANSIENT. Every other SQLSTATE is ERR_REJECTED. A URI that libpq cannot parse is
 * ERR_CONFIG. Messages contain PostgreSQL's text, never the password.
 *
 * A connection pooler in front of the server is detected before the session is changed. Only
 * session mode is accepted; any other is ERR_REJECTED with PG_POOLER_SQLSTATE (pg/pooler.h).
 *
 * Calls do not wait for a silent server for ever. After silence_ms the statement fails with
 * ERR_TRANSIENT, unless a second connection shows that the server still works on it. When the
 * process is asked to stop (stop.h), two seconds of silence are enough.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rowferry/base/err.h"

#define PG_POOLER_SQLSTATE "RF002" /* our own, of an err: the pooler is not in session mode */

struct buf;
struct rotating_secret;

struct source_options {
    const char *uri;                 /* without a password */
    const char *role;                /* null: that of the URI */
    const char *password;            /* null: libpq's own rules apply */
    struct rotating_secret *renewal; /* where to read a refused password again; null: nowhere */
    const char *rds_region; /* each connection makes a token for its password (rds_token.h), in this
                             * region, or "": that of the host's name; null: none is made */
    int64_t connect_timeout_ms;
    int64_t lock_timeout_ms;
    int64_t silence_ms;           /* permitted silence of the server during a statement; 0: 20 s */
    bool *needs_password;         /* set if libpq found none for a server that asks; or null */
    const char *application_name; /* "rowferry sync articles" */
    const char *primary;   /* of a standby: URI for writes, with the same password; null: none */
    bool refuse_superuser; /* ERR_REJECTED if the role is one */
    size_t first_host;     /* index of the host to try first, if the URI names several */
    bool fences; /* this process has the pipeline's lease (lease.h): other sessions of this name
                  * that read the pipeline belong to a former lease holder, and are ended */
};

struct pg; /* opaque; not thread-safe */

int pg_open(struct pg **out, const struct source_options *options, struct err *err) MUST_CHECK;
void pg_close(struct pg *pg); /* null is allowed */

/* Returns true if there is a connection pooler in session mode. */
bool pg_is_pooled(const struct pg *pg);

/* Returns the role of the connection. */
const char *pg_role(const struct pg *pg);

/* The result of a small query, completely in memory. */
struct pg_result; /* opaque */

/* Runs one statement with text parameters (null entries are SQL NULL). `out` may be null if the
 * result is not needed. Otherwise the result has the given shape, like "one: text, int?"
 * (pg_shape.h), and the caller releases it. A result of another shape, several results, a COPY, or
 * more than 12 MiB end the connection with ERR_TRANSIENT. */
int pg_query(struct pg *pg, struct pg_result **out, const char *shape, const char *sql,
             const char *const *params, size_t count, struct err *err) MUST_CHECK;
/* Runs a script of several statements without parameters (a migration). */
int pg_script(struct pg *pg, const char *sql, struct err *err) MUST_CHECK;

size_t pg_rows(const struct pg_result *r);
/* Borrowed until pg_result_release; null for SQL NULL. */
const char *pg_text(const struct pg_result *r, size_t row, size_t column);
int64_t pg_int(const struct pg_result *r, size_t row, size_t column); /* 0 for NULL */
bool pg_true(const struct pg_result *r, size_t row, size_t column);
void pg_result_release(struct pg_result *r); /* null is allowed */

/* Returns true if the URI leads to another host whose certificate is not verified. Does not
 * connect. */
bool pg_is_unverified(const char *uri);

/* Appends the place to which the URI leads, for people: "shop on db.example:5433". It contains
 * neither role nor password. Does not connect. */
void pg_place(const char *uri, struct buf *out);

/* Identity of the server: for _meta, state file and check. */
struct pg_identity {
    char system[24]; /* system_identifier, or "unknown" */
    char database[64];
    int timeline;       /* 0: unknown */
    int server_version; /* 150018 */
    bool in_recovery;
    bool superuser;
    char role[64];
};
/* On a standby: checks that its primary is writable, is a primary, and belongs to the same
 * system. */
int pg_check_primary(struct pg *pg, struct err *err) MUST_CHECK;
int pg_identify(struct pg *pg, struct pg_identity *out, struct err *err) MUST_CHECK;
/* Writes the place of the server that is written, a standby's primary (engine/generation/place.h).
 */
#define PG_PLACE_BYTES 512
int pg_look_place(struct pg *pg, char out[PG_PLACE_BYTES], struct err *err) MUST_CHECK;
/* Writes the name of the managed service that the server belongs to ("Amazon RDS"); "" if none is
 * recognised. */
#define PG_SERVICE_BYTES 64
int pg_managed_service(struct pg *pg, char name[PG_SERVICE_BYTES], struct err *err) MUST_CHECK;
