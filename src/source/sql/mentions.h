/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Collects the names in SQL of the configuration that may be columns. Pure.
 *
 * Only the server knows to which table a column belongs. Here a name counts for every table that
 * has a column of that name.
 */
#pragma once

#include "rowferry/base/buf.h"
#include "rowferry/base/text.h"

struct mentions {
    struct mention *items;
    size_t count;
    bool top;  /* a query selects "*": its result names the columns */
    bool star; /* an inner "*" or a natural join: any column may be read */
};

void mentions_release(struct mentions *m);

/* Adds a checked text (sqltext.h), or a view's definition; null: nothing. */
void mentions_add(struct mentions *m, const char *sql);

/* Adds the name of a column. */
void mentions_add_name(struct mentions *m, const char *name);

/* Returns true if a column of this name may be read. */
bool mentions_name(const struct mentions *m, struct span name);
/* Returns true if the name occurs without a table's name before it. Then a column that is added or
 * dropped may change which column it means. */
bool mentions_bare(const struct mentions *m, struct span name);

/* Appends the functions that a text calls by schema and name to an array's text, as
 * `"public.f","x.g"`. */
void mentions_push_calls(struct buf *out, const char *sql);
