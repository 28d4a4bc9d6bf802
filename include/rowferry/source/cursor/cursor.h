/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Capture by a column that grows with each change ("updated_at"): nothing is installed.
 *
 * Rows are read in the order of (column, key), in pages by key ranges. The safe cursor, which is
 * the position, stays below the horizon: the start of the oldest transaction that could still
 * commit, so that no row with a smaller value comes after it. What lies beyond is read ahead, so
 * that a change need not wait, and read again when the horizon has passed it; what was delivered
 * already is then recognised (seen.h) and not delivered again.
 *
 * Where the horizon cannot be seen, or the column is no timestamptz, no change is missed that can
 * be seen within `overlap` of the time that its value was taken; cursor_look says which it is.
 *
 * A row that does not match `where` is a delete. Rows that are deleted in the table are not seen.
 */
#ifndef ROWFERRY_SOURCE_CURSOR_H
#define ROWFERRY_SOURCE_CURSOR_H

#include "rowferry/source/capture.h"
#include "rowferry/source/catalog/catalog.h"
#include "rowferry/source/pg/pg.h"

struct cursor_options {
    const char *table;      /* as configured: "public.articles" */
    const char *const *key; /* key columns; 0 = the primary key */
    size_t key_count;
    const char *column;         /* that grows with each change */
    const char *where;          /* null: all rows */
    const char *const *columns; /* what a row holds after the key's text (plan.h) */
    size_t column_count;
    const char *fingerprint; /* of the table when the plan was compiled: drift is ERR_TRANSIENT */
    int64_t overlap_ms;      /* 0: 5 s below an exact horizon, 1 min where there is none */
    size_t page_rows;        /* default 5000 */
    size_t chunk_bytes;      /* of rows between two marks, about; default 1 MiB */
    size_t seen_slots;       /* of the table of delivered rows, default 65536 */
};

/* Takes the connection. Reads nothing yet. */
int cursor_open(struct capture **out, struct pg *pg, const struct cursor_options *options,
                struct err *err) MUST_CHECK;

/* ERR_REJECTED where the table cannot be read so: no such column, a type that has no order in time,
 * a key that may be NULL, no ordinary table. */
int cursor_require(const struct table *table, const char *column, struct err *err) MUST_CHECK;

/* What the promise rests on, for check. */
struct cursor_look {
    bool timed;    /* the column is a timestamptz, so the horizon can be compared with it */
    bool not_null; /* rows with NULL are read by the first load only */
    bool indexed;
    bool privileged; /* this role may see what other sessions do */
    bool tracked;    /* of every session the server keeps it (track_activities) */
    bool in_recovery;
    bool subscribed;   /* logical replication fills the table, with values from elsewhere */
    char prepared[32]; /* since when a prepared transaction waits; empty: none */
};
int cursor_look(struct pg *pg, const struct table *table, const char *column,
                struct cursor_look *out, struct err *err) MUST_CHECK;

#endif
