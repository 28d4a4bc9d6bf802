/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The change log: triggers write keys into rowferry.change, polls read them by snapshot.
 *
 * A poll takes every entry that is visible in its own snapshot and was not in the last one, so a
 * transaction that commits late is read when it commits, and delays nobody (design section 5).
 * The table says which keys; the rows are read again by key in the same transaction.
 */
#ifndef ROWFERRY_SOURCE_CHANGELOG_H
#define ROWFERRY_SOURCE_CHANGELOG_H

#include "rowferry/source/capture.h"
#include "rowferry/source/catalog/catalog.h"
#include "rowferry/source/catalog/query.h"

struct changelog_options {
    const char *consumer;   /* unique per pipeline and generation: "articles/shop-articles-.." */
    const char *table;      /* as configured: "public.articles" */
    const char *const *key; /* key columns; 0 = the primary key */
    size_t key_count;
    const char *where;                     /* null: all rows */
    const char *query;                     /* in place of the table's rows; null: none */
    const struct dependency *dependencies; /* of the query; copied */
    size_t dependency_count;
    const char *const *columns; /* what a row holds after the key's text (plan.h) */
    size_t column_count;
    const char *fingerprint; /* of the table when the plan was compiled: drift is ERR_TRANSIENT */
    size_t page_rows;        /* of a page of the log, default 5000 */
    size_t page_blocks;      /* of a page of a copy by block ranges, default 1024 */
    int64_t retain_age_ms;   /* others that are absent for longer expire; 0: never */
    int64_t retain_size;     /* or while the log takes more bytes; 0: any */
    size_t chunk_bytes;      /* of rows between two marks, about; default 1 MiB */
    size_t readers;          /* connections of a copy, at most; default 1 */
};

#define CHANGELOG_READERS_MOST 8

/* Takes the connection. Reads nothing yet. */
int changelog_open(struct capture **out, struct pg *pg, const struct changelog_options *options,
                   struct err *err) MUST_CHECK;

/* What the source keeps of a state file of this consumer, tried: not usable also where reading
 * could not go on from it, or it is behind `own` (may be null). The connection stays the caller's.
 */
int changelog_mirrored(struct pg *pg, const struct changelog_options *options, const char *own,
                       struct mirrored *out, struct err *err) MUST_CHECK;

/* These columns of the table are mapped from now on: what the consumer relies on of them is as it
 * is now. Position and all else stay; may be repeated. The connection stays the caller's. */
int changelog_extend(struct pg *pg, const struct table *t, const char *consumer,
                     const char *const *columns, size_t count, struct err *err) MUST_CHECK;

/* How far behind the log a position is, for status: entries not yet read (-1 unknown) of the table
 * and of those that its query depends on. */
int changelog_pending(struct pg *pg, const char *const *tables, size_t count, const char *position,
                      int64_t *entries, struct err *err) MUST_CHECK;

#endif
