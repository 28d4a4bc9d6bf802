/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tables that a query depends on, as a capture reads them: each has a capture of its own, and
 * each consumer a row of its own there, "NAME on CAPTURE", which keeps the entries it needs.
 *
 * Their entries come after those of the root in the same window, a table at a time, in the order
 * of the captures' numbers; each part of them becomes keys of the root, in pages.
 */
#ifndef ROWFERRY_SOURCE_DEPEND_H
#define ROWFERRY_SOURCE_DEPEND_H

#include "catalog/installed.h"
#include "changelog/consumer.h"
#include "changelog/page.h"
#include "rowferry/document/model/key.h"
#include "rowferry/source/catalog/query.h"
#include "rows/rowsql.h"

struct depend {
    const char *keys; /* borrowed */
    struct table *table;
    bool borrowed; /* the table */
    struct installed installed;
    struct consumer consumer;
    char *name; /* of the consumer */
    unsigned array_types[KEY_MAX_PARTS];
    struct rowsql_keys sql;
    struct page_other other; /* what each page looks at */
};

struct depends {
    struct depend *items;
    size_t count;
    struct page_other **others; /* of the items */
};

void depends_release(struct depends *d);

/* Looks the tables up, their columns' types, and the statements that list keys of the root. */
int depends_open(struct depends *d, struct pg *pg, const struct query_input *in,
                 struct err *err) MUST_CHECK;

/* Sees that their changes are captured, and puts them into order. */
int depends_install(struct depends *d, struct pg *pg, const char *consumer,
                    struct err *err) MUST_CHECK;

/* The rows of the consumer, as consumer.h has them: written anew as the last looks were, read,
 * moved on, pruned. A look also removes those in captures that it depended on once. */
int depends_register(struct depends *d, struct err *err) MUST_CHECK;
int depends_look(struct depends *d, struct pg *pg, const char *consumer,
                 struct err *err) MUST_CHECK;
int depends_mirror(struct depends *d, const struct position *p, struct err *err) MUST_CHECK;
int depends_expire(struct depends *d, const struct retain *retain, struct err *err) MUST_CHECK;
int depends_prune(struct depends *d, int64_t most_ms, struct err *err) MUST_CHECK;

/* Whether entries are there that only the consumer's age keeps; whether pruning has more to do. */
bool depends_keep(const struct depends *d);
bool depends_more(const struct depends *d);
uint64_t depends_horizon(const struct depends *d);

/* The item of that capture, or null. */
struct depend *depends_find(struct depends *d, uint64_t capture);

/* Appends the captures' numbers above `after` as an array. */
void depends_push_captures(struct buf *out, const struct depends *d, uint64_t after);

#endif
