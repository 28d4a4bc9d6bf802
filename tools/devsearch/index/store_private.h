/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shared by store.c and shelf.c: the connection and a shelf's prepared statements.
 */
#pragma once

#include "index/store.h"

#include <sqlite3.h>

/* Sort key of a listing. */
#define SOURCE_ID "json_extract(cast(source as text), '$.source_id')"

enum query {
    QUERY_FIND,
    QUERY_BY_ROW,
    QUERY_ALIVE,
    QUERY_PUT,
    QUERY_KILL,
    QUERY_TOMBSTONE,
    QUERY_BURY,
    QUERY_UNBURY,
    QUERY_PURGE,
    QUERY_PURGE_TOMBS,
    QUERY_SCAN,
    QUERY_SCAN_KEYS,
    QUERY_SIZE,
    QUERY_LAST,
    QUERY_COUNT,
};

struct store {
    sqlite3 *db;
};

struct text_index {
    char *path;
    sqlite3_stmt *add;
};

struct shelf {
    struct store *store;
    int64_t number;
    bool keys_indexed;
    sqlite3_stmt *queries[QUERY_COUNT];
    struct text_index *texts;
    size_t text_count;
};

int store_refuse(struct store *s, struct refusal *refusal);
int store_run(struct store *s, const char *sql, struct refusal *refusal);
int store_prepare(struct store *s, sqlite3_stmt **out, const char *format, ...);
