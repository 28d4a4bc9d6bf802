/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Capture by a column that grows with each change, such as "updated_at". Installs nothing.
 *
 * Rows are read in the order of (column, key), in pages by key ranges. The position is the safe
 * cursor. It stays below the horizon, which is the start of the oldest transaction that could still
 * commit, so no later row can have a smaller value. Rows above the horizon are read early, to avoid
 * a delay, and again when the horizon has passed them. The deduplication cache (dedup_cache.h) then
 * recognises rows that were already delivered.
 *
 * If the horizon is unknown or the column is not a timestamptz, the guarantee is weaker. It then
 * covers changes that become visible within `overlap_ms` of the time in the column. cursor_look
 * reports which guarantee applies.
 *
 * A row that does not match `where` is a delete. Rows that are deleted in the table are not seen.
 */
#pragma once

#include "rowferry/source/capture.h"
#include "rowferry/source/catalog/catalog.h"
#include "rowferry/source/pg/pg.h"

struct cursor_options {
    const char *table;      /* as configured: "public.articles" */
    const char *const *key; /* key columns; 0 = the primary key */
    size_t key_count;
    const char *column;         /* the column that grows with each change */
    const char *where;          /* null: all rows */
    const char *const *columns; /* values of a row after the key's text (plan.h) */
    const char *const *zones;   /* of the columns; null: all have none */
    size_t column_count;
    const char *fingerprint; /* of the table at the plan's compilation; drift is ERR_TRANSIENT */
    int64_t overlap_ms;      /* 0: 5 s below an exact horizon, 1 min without one */
    size_t page_rows;        /* default 5000 */
    size_t chunk_bytes;      /* of rows between two safepoints, approximate; default 1 MiB */
    size_t seen_slots;       /* of the cache of delivered rows, default 65536 */
};

/* Takes ownership of the connection. Reads nothing yet. */
int cursor_open(struct capture **out, struct pg *pg, const struct cursor_options *options,
                struct err *err) MUST_CHECK;

/* Returns ERR_REJECTED if the column cannot be used: it is missing, its type has no order in time,
 * the key may be NULL, or the table is not an ordinary one. */
int cursor_require(const struct table *table, const char *column, struct err *err) MUST_CHECK;

/* The facts that the guarantee depends on, for check. */
struct cursor_look {
    bool timed;    /* the column is a timestamptz, so the horizon can be compared with it */
    bool not_null; /* if not, rows with NULL are read by the initial load only */
    bool indexed;
    bool privileged; /* this role may see the activity of other sessions */
    bool tracked;    /* the server tracks the activity of every session (track_activities) */
    bool in_recovery;
    bool subscribed;   /* filled by logical replication, with values from another server */
    char prepared[32]; /* start of the oldest prepared transaction; empty: none */
};
int cursor_look(struct pg *pg, const struct table *table, const char *column,
                struct cursor_look *out, struct err *err) MUST_CHECK;
