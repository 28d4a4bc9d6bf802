/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The change log: triggers write keys into rowferry.change, and polls read them by snapshot.
 *
 * A poll takes every entry that is visible in its own snapshot and was not in the previous one. So
 * the entries of a transaction that commits late are read when it commits, and it delays no others.
 * The log contains only keys; the rows are read again by key in the same
 * transaction.
 */
#pragma once

#include "rowferry/source/capture.h"
#include "rowferry/source/catalog/catalog.h"
#include "rowferry/source/catalog/query.h"

struct changelog_options {
    const char *consumer;   /* unique per pipeline and generation: "articles/shop-articles-.." */
    const char *table;      /* as configured: "public.articles" */
    const char *const *key; /* key columns; 0 = the primary key */
    size_t key_count;
    const char *where;                     /* null: all rows */
    const char *query;                     /* replaces the table's rows; null: none */
    const struct dependency *dependencies; /* of the query; copied */
    size_t dependency_count;
    const char *const *columns; /* values of a row after the key's text (plan.h) */
    const char *const *zones;   /* of the columns; null: all have none */
    size_t column_count;
    const char *fingerprint; /* of the table at the plan's compilation; drift is ERR_TRANSIENT */
    size_t page_rows;        /* rows per page of the log, default 5000 */
    size_t page_blocks;      /* blocks per page of an initial load by block ranges, default 1024 */
    int64_t retain_age_ms;   /* other consumers absent for longer expire; 0: never */
    int64_t retain_size;     /* or while the log takes more bytes than this; 0: no limit */
    size_t chunk_bytes;      /* of rows between two safepoints, approximate; default 1 MiB */
    size_t readers;          /* connections of an initial load, at most; default 1 */
};

#define CHANGELOG_READERS_MOST 8

/* Takes ownership of the connection. Reads nothing yet. */
int changelog_open(struct capture **out, struct pg *pg, const struct changelog_options *options,
                   struct err *err) MUST_CHECK;

/* Reads this consumer's checkpoint backup and tests it. It is not usable if reading could not
 * continue at its position, or if it is behind `own` (may be null). The connection stays the
 * caller's. */
int changelog_mirrored(struct pg *pg, const struct changelog_options *options, const char *own,
                       struct mirrored *out, struct err *err) MUST_CHECK;

/* Records that these columns of the table are mapped from now on: the consumer relies on their
 * current definition. The position and all other data stay. May be repeated. The connection stays
 * the caller's. */
int extend_changelog(struct pg *pg, const struct table *t, const char *consumer,
                     const char *const *columns, size_t count, struct err *err) MUST_CHECK;

/* Returns 0 if the log has all changes after `position`, and can be read; 1 if changes may have
 * been missed, which the next sync finds, with the cause in *err. ERR_STATE or ERR_REJECTED name
 * what is wrong and what to do. The connection stays the caller's. For status and check. */
int changelog_examine(struct pg *pg, const struct changelog_options *options, const char *position,
                      struct err *err) MUST_CHECK;

/* Counts the entries after `position`, of the table and of the tables that its query depends on;
 * -1 if it is unknown, or if this role does not see the entries of one. For status. */
int changelog_pending(struct pg *pg, const char *const *tables, size_t count, const char *position,
                      int64_t *entries, struct err *err) MUST_CHECK;
