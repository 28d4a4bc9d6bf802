/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The source port over PostgreSQL: one table, its plan, and the change log on it.
 *
 * It keeps what a reconnect needs: options, and the plan of the first connection, against which a
 * changed definition is recognised.
 */
#ifndef ROWFERRY_ENGINE_TABLE_SOURCE_H
#define ROWFERRY_ENGINE_TABLE_SOURCE_H

#include "rowferry/engine/port.h"
#include "rowferry/source/catalog.h"
#include "rowferry/source/pg.h"

/* All borrowed; outlive the source. */
struct table_source_options {
    struct source_options connection;
    const char *table;
    const char *const *key;
    size_t key_count;
    const char *where;
    const struct mapping *mapping;
    const struct field *fields;
    size_t field_count;
    size_t document_bytes;
};

struct table_source; /* opaque */

struct table_source *table_source_new(const struct table_source_options *options);
void table_source_free(struct table_source *t); /* null is allowed */
struct source_port table_source_port(struct table_source *t);

/* After connect: the table as the catalogue describes it; borrowed until the next connect. */
const struct table *table_source_table(const struct table_source *t);
const struct pg_identity *table_source_identity(const struct table_source *t);

/* Every doubt of the plan's compilation, also after a connect that failed for its sake. */
const struct plan_notes *table_source_notes(const struct table_source *t);

#endif
