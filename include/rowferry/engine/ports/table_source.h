/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The source port over PostgreSQL: one table, its plan, and the change log on it or a
 * cursor over one of its columns.
 *
 * Every connect looks the table up and compiles the plan anew; the last one's are kept.
 */
#ifndef ROWFERRY_ENGINE_TABLE_SOURCE_H
#define ROWFERRY_ENGINE_TABLE_SOURCE_H

#include "rowferry/engine/port.h"
#include "rowferry/source/catalog/query.h"
#include "rowferry/source/pg/pg.h"

/* All borrowed; outlive the source. */
struct table_source_options {
    struct source_options connection;
    const char *table;
    const char *const *key;
    size_t key_count;
    const char *where;
    const char *cursor;    /* the column to follow; null: the change log */
    int64_t overlap_ms;    /* of the cursor; 0: the default */
    int64_t retain_age_ms; /* of absent consumers; 0: for ever */
    int64_t retain_size;   /* or while the log is no larger; 0: any */
    const char *routing;   /* the key column that routes documents; null: none */
    const char *query;     /* null: the table's rows */
    const struct dependency *dependencies;
    size_t dependency_count;
    const struct mapping *mapping;
    const struct field *fields;
    size_t field_count;
    size_t document_bytes;
    size_t readers; /* connections of a first load, at most */
};

struct table_source; /* opaque */

struct table_source *table_source_new(const struct table_source_options *options);
void table_source_free(struct table_source *t); /* null is allowed */
struct source_port table_source_port(struct table_source *t);

#endif
