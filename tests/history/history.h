/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Random histories of a table that the program follows, and a check that the index equals the
 * table.
 *
 * One thread drives all sessions. It sends a statement and waits until it is done or waits for a
 * lock, so that a seed repeats its history.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "rowferry/base/buf.h"
#include "world.h"

#define SESSIONS_MAX 8
#define PREPARED_MAX 2

/* What a statement needs or does; a mode must allow all of it. */
enum need {
    NEED_DELETES = 1,  /* rows are deleted, or their keys change */
    NEED_ONE_KEY = 2,  /* a unique index over the id alone */
    NEED_PARENTS = 4,  /* the tables owner and editor */
    NEED_TRUNCATE = 8, /* may trip the guard */
    NEED_PARTITIONS = 16,
    NEED_CHILDREN = 32,
    NEED_COMMENTS = 64,
    NEED_OPEN = 256,       /* an open transaction */
    NEED_IDLE = 512,       /* no open transaction */
    NEED_SUBSCRIBER = 128, /* neither inserts rows nor changes keys */
    NEED_MERGE = 1024,     /* PostgreSQL 15 */
};

/* A table, how it is read, and what may happen to it. */
struct mode {
    const char *name;
    const char *ddl;
    const char *publisher_ddl; /* where statements run; null: the same database */
    const char *fill;
    const char *from; /* members of "from" besides the table */
    /* same as `from` if syncs run beside the sessions, where a transaction may be delayed between
     * its start and the moment when others can see it; null: use `from` */
    const char *from_beside;
    const char *properties; /* of the mapping */
    const char *wanted;     /* query for the expected documents: (id text, document jsonb) */
    unsigned allows;        /* enum need */
    bool cursor;
    bool reconciles; /* reconciles, at least one second apart */
    bool standby;    /* reads from a standby: the pair of cluster.h */
    bool published;  /* by a publication of all tables, such as Debezium creates */
};

/* Returns null if no mode has the name. */
const struct mode *mode_find(const char *name);

struct statement {
    unsigned weight;
    unsigned needs;
    const char *sql;  /* NULL ends a list; see statement_expand */
    const char *rows; /* of COPY, expanded in the same way */
};

extern const struct statement statements[];

/* Random numbers, and the expansion of a statement. %i is an id of the first rows, %w a range of
 * them, %k the id of some row, %f a fresh id. %r is a region, %o a parent, %s the step. dice_roll
 * returns a number below `sides`. */
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
    PGconn *control; /* second connection to the same database */
    int pid;
    bool busy; /* waits for a lock */
    struct buf rows;
};

/* Servers and empty databases, shared by several histories. */
struct stage {
    struct world w;  /* its database is the one that the program reads */
    char *publisher; /* uri of the publishing database; null: none */
};

struct history {
    const struct mode *mode;
    uint64_t seed;
    struct stage *stage;
    struct world *w;
    char *uri;       /* database to which the sessions write */
    PGconn *control; /* connection to it */
    char *slot;      /* replication slot of the publisher; null: none */
    struct session sessions[SESSIONS_MAX];
    unsigned session_count;
    char prepared[PREPARED_MAX][64];
    unsigned prepared_count;
    struct dice dice;
    struct buf log;
    bool truncates;  /* this history uses TRUNCATE */
    bool background; /* syncs run in parallel to the history */
    bool exclusive;  /* a session may lock out every reader */
    struct program sync;
    bool syncing;
    char *failure; /* error of a sync; null: none */
};

void history_log(struct history *h, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The sessions: sessions_step makes a random step; sessions_end_all ends all transactions, except
 * prepared ones that block nothing. */
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

/* Runs the history of the seed. Returns the difference at a quiet point, or null. The caller frees
 * it. `log` receives the statements and their results. */
char *history_run(struct stage *s, const struct mode *mode, uint64_t seed, struct buf *log);
