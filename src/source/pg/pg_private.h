/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What only this room may know of a connection.
 */
#ifndef ROWFERRY_SOURCE_PG_PRIVATE_H
#define ROWFERRY_SOURCE_PG_PRIVATE_H

#include <libpq-fe.h>

#include "rowferry/source/pg/pg.h"

#define PG_PREPARED_MOST 4

/* One server among those that a URI names. */
struct pg_address {
    char *host;
    char *hostaddr;
    char *port;
};

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
    char *primary_uri;      /* of the source where that is a standby; null: unknown */
    struct pg *primary;     /* null until it is needed */
    bool in_recovery;       /* as it was when the session began */
    char *held;             /* the consumer whose advisory lock this session has, or null */
    char *claimed;          /* the same of what is loaded for the first time, see lookup_claim */
    size_t turn;            /* of several hosts the one that is tried first */
    bool fences;            /* see source_options */
    bool log_trusted;       /* pg_trust_log has found nothing */
    bool encrypts;          /* because the source is another host and nobody said otherwise */
    bool binds;             /* the server has to know the password, too */
    bool probes;            /* asks after another session, and is not asked after itself */
    int backend;            /* the server's process */
    int64_t silence_ms;     /* after which a server that says nothing is asked whether it works */
    int64_t heard_ms;       /* when something came last, or the statement was sent */
    int64_t stop_ms;        /* how long nothing has come since the process was asked to stop */
    uint64_t answer_bytes;  /* of a small statement's answer, at most */
    uint64_t most_bytes;    /* of the statement's answer; 0: no limit */
    uint64_t received;      /* bytes of the connection when the statement was sent */
    struct pg_address only; /* what a probe connects to */
};

/* Monotonic; for time-outs and intervals. */
int64_t pg_now_ms(void);

/* Connects and sets the session up; the old connection, if any, is closed. */
int pg_connect(struct pg *pg, struct err *err) MUST_CHECK;

/* Another connection that is as this one is, without its advisory lock. */
int pg_open_like(struct pg **out, const struct pg *pg, struct err *err) MUST_CHECK;

/* A connection to the same server that asks after pg's session. */
int pg_open_probe(struct pg **out, const struct pg *pg, struct err *err) MUST_CHECK;

/* Whether the URI leads to another host, and neither it nor the environment nor a service file
 * names an sslmode: libpq would go on in clear where the server, or who stands between, says that
 * it has no TLS. Connects to nobody. */
bool pg_must_encrypt(const char *uri);

/* Returns true if the server has to prove by channel binding that it knows the password (null:
 * libpq's own rules say which): over a network, when nobody verifies its certificate. Any other
 * method would hand the password, or a hash of it, to whoever answers. Connects to nobody. */
bool pg_must_bind(const char *uri, const char *password);

/* After an error: ends a transaction that is open, connects again where the session is lost or
 * busy, and takes the advisory lock again. */
int pg_recover(struct pg *pg, struct err *err) MUST_CHECK;

/* Where this session's source can be written to: itself, or the primary of a standby, which must be
 * one and of the same system. Borrowed. */
int pg_writer(struct pg *pg, struct pg **out, struct err *err) MUST_CHECK;

/* Sets err from a result's error fields, or from the connection where result is null. */
int pg_fail(const struct pg *pg, const PGresult *result, struct err *err);

/* Runs one statement whose parameters have the given types (null: the server infers them), and
 * checks its result (pg_shape.h). The caller clears *out. */
int pg_exec(struct pg *pg, PGresult **out, const char *shape, const char *sql, const Oid *types,
            const char *const *params, size_t count, struct err *err) MUST_CHECK;

/* Has the server parse a statement, and describe parameters and columns. The caller clears *out. */
int pg_describe(struct pg *pg, PGresult **out, const char *sql, struct err *err) MUST_CHECK;

/* Takes all results of the statement that was sent: *out is the only one, or the last one of a
 * script. */
int pg_finish(struct pg *pg, bool sent, bool script, PGresult **out, struct err *err) MUST_CHECK;

/* Returns true for a COPY, which no statement of ours asks for: libpq would report it for ever. */
bool pg_is_copy(const PGresult *r);

/* pg_query with one of the texts of migrations/source, which declares its shape. */
int pg_ask(struct pg *pg, struct pg_result **out, const char *name, const char *const *params,
           size_t count, struct err *err) MUST_CHECK;

/* Planning a read of a table runs code of the table's owner with the rights of this session (in
 * expressions of its indexes), and so does a function behind from.query. Such code can leave
 * another search path behind, so each transaction sets its own, and only those that write the
 * change log may write. Row security is on for the change log alone: elsewhere a policy is an error
 * and hides no row. */
#define PG_GUARD_PATH "set local search_path = pg_catalog, pg_temp"
#define PG_GUARD_ROWS "set local row_security = on"
#define PG_GUARD_ROWS_END "set local row_security = off"

/* A statement. types may be null. */
struct pg_statement {
    const char *sql;
    const char *name; /* of the prepared statement; null: it is not prepared */
    bool prepare;     /* it is not yet */
    const Oid *types;
    const char *const *params;
    size_t count;
};

/* Whether a text of migrations/source reads the change log, or writes it. */
bool pg_reads_log(const char *sql);
bool pg_writes_log(const char *sql);

/* Looks once in each session whether the schema "rowferry" can be trusted: ERR_REJECTED with what
 * is wrong if not. Nothing of it may be read before. */
int pg_trust_log(struct pg *pg, struct err *err) MUST_CHECK;

/* What a statement of a transaction of its own may do. */
enum pg_purpose {
    PG_READS,      /* the catalogue and users' tables; a policy on one is an error */
    PG_READS_LOG,  /* the change log; its policies hold */
    PG_WRITES_LOG, /* and may be written */
};

/* Runs a statement in a guarded transaction of its own, in one round trip. The result, which may be
 * an error's, is the caller's. */
int pg_run_guarded(struct pg *pg, PGresult **out, const struct pg_statement *s,
                   enum pg_purpose purpose, struct err *err) MUST_CHECK;

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
