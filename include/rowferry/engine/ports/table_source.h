/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The source port over PostgreSQL: one table, its plan, and the change log on it or a cursor over
 * one of its columns.
 *
 * Each connect looks up the table and compiles the plan again. The results of the last connect are
 * kept.
 */
#pragma once

#include "rowferry/engine/port.h"
#include "rowferry/source/capture_mode.h"
#include "rowferry/source/catalog/query.h"
#include "rowferry/source/pg/pg.h"

/* All pointers are borrowed and must outlive the source. */
struct table_source_options {
    struct source_options connection;
    const char *table;
    const char *const *key;
    size_t key_count;
    const char *where;
    int capture;            /* enum capture_mode */
    const char *cursor;     /* column to follow; null if the capture follows none */
    int64_t overlap_ms;     /* of the cursor; 0: the default */
    int64_t retain_age_ms;  /* age limit for absent consumers; 0: never dropped */
    int64_t retain_size;    /* keep them while the log is no larger; 0: any size */
    const char *routing;    /* key column that routes documents; null: no routing */
    const char *id;         /* "sha256": ids of long keys are hashes; null: they are not */
    const char *provenance; /* name of the pipeline, for each document; null: they have none */
    const char *query;      /* null: read the table's rows */
    const struct dependency *dependencies;
    size_t dependency_count;
    const struct mapping *mapping;
    const struct field *fields;
    size_t field_count;
    size_t document_bytes;
    size_t readers; /* maximum number of connections of the initial load */
};

struct table_source; /* opaque */

struct table_source *table_source_new(const struct table_source_options *options);
void table_source_free(struct table_source *t); /* null is allowed */
struct source_port table_source_port(struct table_source *t);
