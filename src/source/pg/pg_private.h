/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Internals of a connection, for use in the source library only.
 */
#pragma once

#include <libpq-fe.h>
#include <stddef.h>

#include "rowferry/source/pg/pg.h"

#define PG_PREPARED_MOST 4

/* One of the servers that a URI names. */
struct pg_address {
    char *host;
    char *hostaddr;
    char *port;
};

/* How to reach the server. */
struct pg_route {
    size_t turn;   /* index of the host to try first, if there are several */
    bool encrypts; /* because the source is on another host and no sslmode is set */
    bool binds;    /* the server must prove that it knows the password */
};

/* If the source is a standby: its primary. */
struct pg_primary {
    char *uri;          /* null: unknown */
    struct pg *session; /* opened when it is first needed */
};

/* Advisory locks that this session has, see consumer_lock.h. */
struct pg_locks {
    char *held;    /* the consumer, or null */
    char *claimed; /* the same for an initial load, see consumer_lock_claim */
};

struct pg_silence {
    int64_t limit_ms;    /* after it, a probe checks if the server still works */
    int64_t heard_ms;    /* time of the last input, or of sending the statement */
    int64_t stopping_ms; /* total silence since the process was asked to stop */
};

/* Limits of what the server may send. */
struct pg_answer {
    uint64_t small_bytes; /* limit for the result of a small statement */
    uint64_t most_bytes;  /* limit for the current statement's result; 0: none */
    uint64_t received;    /* bytes received on the connection when the statement was sent */
};

/* The history that the server's transactions belong to, as the control file has it. */
struct pg_history {
    char system[24]; /* system_identifier; empty: unknown */
    int timeline;    /* grows with each promotion; 0: unknown */
};

struct pg {
    PGconn *conn;
    char *uri;
    char *role; /* null: that of the URI */
    char *password;
    struct rotating_secret *renewal; /* of the password; null: the password is fixed */
    char *rds_region;                /* see source_options */
    char *application_name;
    int64_t connect_timeout_ms;
    int64_t lock_timeout_ms;
    struct pg_route route;
    struct pg_primary primary;
    const char *prepared[PG_PREPARED_MOST]; /* names of prepared texts; null: free */
    struct pg_locks locks;
    bool reached;              /* a connection has succeeded at least once */
    bool in_recovery;          /* at the start of the session */
    bool fences;               /* see source_options */
    bool log_trusted;          /* pg_trust_log has accepted the schema */
    bool probes;               /* this is a probe of another session, and is not probed itself */
    bool superuser;            /* the role is one */
    bool set_up;               /* it has the settings of migrations/source/session.sql */
    bool pooled;               /* the connection is a pooler's, and returns to it (pooler.h) */
    int backend;               /* PID of the server process */
    struct pg_history history; /* it is constant during a session with a primary */
    struct pg_silence silence;
    struct pg_answer answer;
    struct pg_address only; /* the address for a probe */
};

/* Monotonic; for time-outs and intervals. */
int64_t pg_now_ms(void);

/* Connects and sets up the session. Closes the old connection, if any. */
int pg_connect(struct pg *pg, struct err *err) MUST_CHECK;

/* Opens another connection with the same settings, without the advisory lock. */
int pg_open_like(struct pg **out, const struct pg *pg, struct err *err) MUST_CHECK;

/* Opens a connection to the same server that checks pg's session. */
int pg_open_probe(struct pg **out, const struct pg *pg, struct err *err) MUST_CHECK;

/* Returns true if the URI leads to another host, and neither it nor the environment nor a service
 * file sets an sslmode. By default libpq would then continue in clear text if the server, or an
 * attacker in between, answers that TLS is unavailable. Does not connect. */
bool pg_must_encrypt(const char *uri);

/* Returns true if the server must prove by channel binding that it knows the password (null: the
 * one that libpq finds). This is the case over a network if the certificate is not verified. Any
 * other method would send the password, or a hash of it, to an unknown server. Does not connect. */
bool pg_must_bind(const char *uri, const char *password);

/* After an error: ends an open transaction, connects again if the session is lost or busy, and
 * takes the advisory lock again. */
int pg_recover(struct pg *pg, struct err *err) MUST_CHECK;

/* Returns ERR_REJECTED if the server is older than version 13. */
int pg_refuse_old(const struct pg *pg, struct err *err) MUST_CHECK;

/* Asks for the session's facts: *in_recovery, pg->backend and pg->history. Not for use within a
 * transaction. */
int pg_look_server(struct pg *pg, bool *in_recovery, struct err *err) MUST_CHECK;

/* Returns ERR_REJECTED if the role is a superuser. */
int pg_refuse_superuser(const struct pg *pg, struct err *err) MUST_CHECK;

/* Returns the connection for writes: pg itself, or the primary of a standby, which must be a
 * primary of the same system. Borrowed. */
int pg_writer(struct pg *pg, struct pg **out, struct err *err) MUST_CHECK;

/* Sets err from the error fields of the result, or from the connection if result is null. */
int pg_fail(const struct pg *pg, const PGresult *result, struct err *err);

/* Runs one statement whose parameters have the given types (null: the server infers them), and
 * checks its result (pg_shape.h). The caller clears *out. */
int pg_exec(struct pg *pg, PGresult **out, const char *shape, const char *sql, const Oid *types,
            const char *const *params, size_t count, struct err *err) MUST_CHECK;

/* Has the server parse a statement and describe its parameters and columns. The caller clears
 * *out. */
int pg_describe(struct pg *pg, PGresult **out, const char *sql, struct err *err) MUST_CHECK;

/* Takes all results of the statement that was sent. *out is the only result, or the last one of a
 * script. */
int pg_finish(struct pg *pg, bool sent, bool script, PGresult **out, struct err *err) MUST_CHECK;

/* Returns true for a COPY, which our statements never request: libpq would report it for ever. */
bool pg_is_copy(const PGresult *r);

/* pg_query with one of the texts of migrations/source, which declares its shape. */
int pg_ask(struct pg *pg, struct pg_result **out, const char *name, const char *const *params,
           size_t count, struct err *err) MUST_CHECK;

/* The parameters of a statement, as the two arguments `params` and `count`. */
#define PG_PARAMS(...)                                                                             \
    (const char *const[]){__VA_ARGS__}, sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *)

/* The text of an integer as a parameter; valid to the end of the block. */
#define PG_INT_BYTES 24
#define PG_INT(value) pg_int_text((char[PG_INT_BYTES]){0}, (int64_t)(value))
const char *pg_int_text(char out[PG_INT_BYTES], int64_t value);

/* Where a column of a row goes: a member of a struct. */
struct pg_member {
    enum { PG_END, PG_SKIP, PG_INTEGER, PG_BOOL, PG_LETTER, PG_COPY, PG_CHARS } type;
    size_t offset;
    size_t size;
};

/* By its type: an integer, a bool, a char, an array of char, or a char * that the caller frees. */
#define PG_MEMBER(S, member)                                                                         \
    {                                                                                                \
        _Generic(&((S *)0)->member, int *: PG_INTEGER, uint32_t *: PG_INTEGER,                     \
                 int64_t *: PG_INTEGER, size_t *: PG_INTEGER, bool *: PG_BOOL, char *: PG_LETTER,  \
                 char **: PG_COPY, default: PG_CHARS),                                             \
            offsetof(S, member), sizeof(((S *)0)->member) \
    }

/* Reads columns of a row, from number `column` on, into the members (ended by {0}) of *out. NULL
 * becomes 0, false, '\0', a null pointer or an empty text. A text that is too long is cut. */
void pg_read_row(const struct pg_result *r, size_t row, size_t column,
                 const struct pg_member *members, void *out);

/* pg_ask and pg_query for a single row, which is read into *out; for a single bool. */
int pg_ask_row(struct pg *pg, const char *name, const char *const *params, size_t count,
               const struct pg_member *members, void *out, struct err *err) MUST_CHECK;
int pg_ask_bool(struct pg *pg, const char *name, const char *const *params, size_t count, bool *out,
                struct err *err) MUST_CHECK;
int pg_query_bool(struct pg *pg, const char *sql, const char *const *params, size_t count,
                  bool *out, struct err *err) MUST_CHECK;

/* Planning a read of a table runs code of the table's owner with the rights of this session (index
 * expressions). A function in from.query runs such code too. It can change the search path. So each
 * transaction sets its own, and only transactions that write the change log are read-write. Row
 * security is on for the change log only: elsewhere a policy is an error, so that it cannot hide
 * rows. */
#define PG_GUARD_PATH "set local search_path = pg_catalog, pg_temp"
#define PG_GUARD_ROWS "set local row_security = on"
#define PG_GUARD_ROWS_END "set local row_security = off"

/* Checks once per session if the schema "rowferry" can be trusted. If not, returns ERR_REJECTED
 * with the reason. Must precede any read of that schema. */
int pg_trust_log(struct pg *pg, struct err *err) MUST_CHECK;

/* What a statement in a transaction of its own may do. */
enum pg_purpose {
    PG_READS,      /* reads the catalog and users' tables; a policy on one is an error */
    PG_READS_LOG,  /* reads the change log; its policies apply */
    PG_WRITES_LOG, /* reads and writes the change log */
};

struct pg_statement {
    const char *sql;
    const char *shape; /* null if the result is not needed */
    const char *name;  /* of the prepared statement; null: not prepared */
    bool prepare;      /* it must be prepared first */
    enum pg_purpose purpose;
    const Oid *types; /* null: the server infers them */
    const char *const *params;
    size_t count;
};

/* Returns the purpose of a text of migrations/source. */
enum pg_purpose pg_purpose_of(const char *sql);

/* Runs a statement in a guarded transaction of its own, in one round trip. The caller clears the
 * result, which may be an error's. */
int pg_run_guarded(struct pg *pg, PGresult **out, const struct pg_statement *s,
                   struct err *err) MUST_CHECK;

/* pg_ask for a text that is used often: the session prepares the first PG_PREPARED_MOST of them.
 * Not for use within a transaction. */
int pg_ask_again(struct pg *pg, struct pg_result **out, const char *name, const char *const *params,
                 size_t count, struct err *err) MUST_CHECK;

/* pg_query without parameters as a single message, outside of a transaction. */
int pg_query_plain(struct pg *pg, struct pg_result **out, const char *shape, const char *sql,
                   struct err *err) MUST_CHECK;

/* Subscribes the session to the channel "rowferry_<capture>": its descriptor becomes readable after
 * a NOTIFY. */
int pg_listen(struct pg *pg, const char *capture, struct err *err) MUST_CHECK;

/* Drops the received notifications. */
void pg_forget_calls(struct pg *pg);
