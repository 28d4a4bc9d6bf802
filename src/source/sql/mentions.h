/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The names that SQL of people mentions, and what may be a column among them. Pure.
 *
 * Whose column a name is only the server knows: here a name counts for every table that has it.
 */
#pragma once

#include "rowferry/base/buf.h"
#include "rowferry/base/text.h"

struct mentions {
    struct mention *items;
    size_t count;
    bool top;  /* a query selects "*": its columns are found by the names of its result */
    bool star; /* "*" within, where no name of the result tells, or a natural join: any column */
};

void mentions_release(struct mentions *m);

/* Adds a checked text (sqltext.h), or a view's definition; null: nothing. */
void mentions_add(struct mentions *m, const char *sql);

/* Adds a name, of a column wherever it stands. */
void mentions_add_name(struct mentions *m, const char *name);

/* Returns true if a column of that name may be read; _bare: without a table's name before it, so
 * that a column that is new or gone may make it another one. */
bool mentions_name(const struct mentions *m, struct span name);
bool mentions_bare(const struct mentions *m, struct span name);

/* Appends the functions that a text calls by schema and name to an array's text, as
 * `"public.f","x.g"`. */
void mentions_push_calls(struct buf *out, const char *sql);
