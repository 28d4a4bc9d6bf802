/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One connection to PostgreSQL, set up so that text means the same everywhere.
 *
 * After opening: UTF8, UTC, ISO dates, ISO intervals, shortest exact floats, hex bytea,
 * row_security off (a policy that hides rows becomes an error instead of deletes), search_path
 * pg_catalog, lock_timeout, TCP keepalives. Roles and databases can override all of them, hence
 * always sent. A password that is refused (28P01) is read again from its origin, once. To another
 * host the connection is encrypted or is not made, unless sslmode says otherwise, and a server that
 * nobody verifies has to prove by channel binding that it knows the password, unless
 * channel_binding says otherwise. Values travel as
 * parameters only; identifiers are quoted by libpq and come from the catalogue. Errors: a lost or
 * refused connection, 57P0x, 57014 (cancelled), 55P03 (lock), 40001, 40P01, 53xxx are
 * ERR_TRANSIENT; every other SQLSTATE is ERR_REJECTED; a URI that libpq cannot read is ERR_CONFIG.
 * Messages hold PostgreSQL's text, never the password.
 *
 * No call waits for a server that is silent: after silence_ms the statement fails with
 * ERR_TRANSIENT, unless the server says on a second connection that it still works on it. When the
 * process is asked to stop (stop.h), two seconds of silence are enough.
 */
#ifndef ROWFERRY_SOURCE_PG_H
#define ROWFERRY_SOURCE_PG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rowferry/base/err.h"

/* For a role's name. The session has row_security off, so a policy that shows all rows is none. */
#define PG_ROW_SECURITY_REMEDY                                                                     \
    "let a superuser run: alter role \"%s\" bypassrls; no policy is enough, because one could "    \
    "hide rows unseen"

struct renewal;

struct source_options {
    const char *uri;         /* without a password */
    const char *password;    /* null: libpq's own rules */
    struct renewal *renewal; /* of the password, for one that is refused; null: there is no other */
    int64_t connect_timeout_ms;
    int64_t lock_timeout_ms;
    int64_t silence_ms;           /* of a server that is asked something; 0: 20 s */
    const char *application_name; /* "rowferry sync articles" */
    const char *primary;          /* of a standby: where to write; same password; null: none */
    size_t first_host;            /* where the URI names several: which is tried first */
    bool fences; /* has the pipeline's hold (lease.h): other sessions of this name that read it are
                    of one that lost it, and are ended */
};

struct pg; /* opaque; not for use by two threads at a time */

int pg_open(struct pg **out, const struct source_options *options, struct err *err) MUST_CHECK;
void pg_close(struct pg *pg); /* null is allowed */

/* The result of a small query, all of it in memory. */
struct pg_result; /* opaque */

/* Runs one statement with text parameters (null entries are SQL NULL). *out may be null if nobody
 * reads the result; else it has the shape, like "one: text, int?" (pg_shape.h), and the caller
 * releases it. An answer of another shape, of several results, a COPY, or more than 12 MiB end the
 * connection with ERR_TRANSIENT. */
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

/* Appends an identifier in double quotes, quoted by libpq. */
struct buf;
int pg_push_identifier(struct pg *pg, struct buf *out, const char *name,
                       struct err *err) MUST_CHECK;

/* Returns true if the URI leads to another host, and nobody verifies the certificate of whoever
 * answers there. Connects to nobody. */
bool pg_is_unverified(const char *uri);

/* What identifies the server: for _meta, state file and check. */
struct pg_identity {
    char system[24]; /* system_identifier */
    char database[64];
    int timeline;
    int server_version; /* 150018 */
    bool in_recovery;
    bool superuser;
    char role[64];
};
/* Of a standby: that its primary can be written to, is one, and is of the same system. */
int pg_check_primary(struct pg *pg, struct err *err) MUST_CHECK;
int pg_identify(struct pg *pg, struct pg_identity *out, struct err *err) MUST_CHECK;

#endif
