/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Random histories of a table, the program that follows it, and the question whether the index
 * equals the table.
 *
 * One thread drives all sessions: a statement is sent and waited for until it is done or waits for
 * a lock, so that a seed repeats its history.
 */
#ifndef ROWFERRY_TESTS_HISTORY_H
#define ROWFERRY_TESTS_HISTORY_H

#include <stdbool.h>
#include <stdint.h>

#include "rowferry/base/buf.h"
#include "world.h"

#define SESSIONS_MAX 8
#define PREPARED_MAX 2

/* What a statement needs or does; a mode has to allow all of it. */
enum need {
    NEED_DELETES = 1,  /* rows vanish, or their keys change */
    NEED_ONE_KEY = 2,  /* a unique index over the id alone */
    NEED_PARENTS = 4,  /* the tables owner and editor */
    NEED_TRUNCATE = 8, /* the guard stops */
    NEED_PARTITIONS = 16,
    NEED_CHILDREN = 32,
    NEED_COMMENTS = 64,
    NEED_OPEN = 256,       /* a transaction */
    NEED_IDLE = 512,       /* none */
    NEED_SUBSCRIBER = 128, /* harmless beside an apply worker: rows are neither made nor renamed */
};

/* A table, how it is read, and what may happen to it. */
struct mode {
    const char *name;
    const char *ddl;
    const char *publisher_ddl; /* of the database where statements run; null: there is one only */
    const char *fill;
    const char *from; /* members of "from" beside the table */
    /* The same where syncs run beside the sessions, which may be kept waiting between a
     * transaction's start and the moment when others can see it; null: the same. */
    const char *from_beside;
    const char *properties; /* of the mapping */
    const char *wanted;     /* (id text, document jsonb) */
    unsigned allows;        /* enum need */
    bool cursor;
    bool reconciles; /* a second after the last time at the earliest */
    bool standby;    /* is read from: the pair of cluster.h */
    bool published;  /* by a publication of all tables, as Debezium makes one */
};

/* Null where no mode has the name. */
const struct mode *mode_find(const char *name);

struct statement {
    unsigned weight;
    unsigned needs;
    const char *sql;  /* NULL ends a list; see statement_expand */
    const char *rows; /* of COPY, expanded likewise */
};

extern const struct statement statements[];

/* Makes one of several: %i an id of the first rows, %w a range of them, %k the id of some row, %f a
 * fresh id, %r a region, %o a parent, %s the step. roll(n) gives a number below n. */
struct dice {
    uint64_t state;
    uint64_t seed;
    unsigned step;
};

void dice_step(struct dice *d, uint64_t seed, unsigned step);
unsigned dice_roll(struct dice *d, unsigned sides);
void statement_expand(struct buf *out, const char *text, struct dice *d);

struct session {
    PGconn *conn;
    PGconn *control; /* of the same database */
    int pid;
    bool busy; /* waits for a lock */
    struct buf rows;
};

/* What several histories share: servers and empty databases. */
struct stage {
    struct world w;  /* its database is the one that the program reads */
    char *publisher; /* null: there is none */
};

struct history {
    const struct mode *mode;
    uint64_t seed;
    struct stage *stage;
    struct world *w;
    char *uri;       /* where the sessions write */
    PGconn *control; /* there */
    char *slot;      /* of the publisher; null: there is none */
    struct session sessions[SESSIONS_MAX];
    unsigned session_count;
    char prepared[PREPARED_MAX][64];
    unsigned prepared_count;
    struct dice dice;
    struct buf log;
    bool truncates;  /* this history has TRUNCATE */
    bool background; /* syncs run while the history goes on */
    bool exclusive;  /* a session may hold a table against every reader */
    struct program sync;
    bool syncing;
    char *failure; /* of a sync; null: none */
};

void history_log(struct history *h, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The sessions: a random step, and the end of all transactions, but for prepared ones that nobody
 * waits for. */
void sessions_open(struct history *h);
void sessions_close(struct history *h);
void sessions_step(struct history *h);
void sessions_end_all(struct history *h, bool keep_prepared);

/* The two databases of a mode with a publisher. */
void publisher_start(struct history *h);
void publisher_await(struct history *h);
void publisher_stop(struct history *h);

void stage_start(struct stage *s, const struct mode *mode);
void stage_stop(struct stage *s);

/* Runs the history of the seed: what was different at a quiet point, else null. The caller frees
 * it. The log is what was said and done. */
char *history_run(struct stage *s, const struct mode *mode, uint64_t seed, struct buf *log);

#endif
