/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tables that a query depends on, as the capture reads them. Each has a capture of its own.
 * There, each consumer has a row of its own, "NAME on CAPTURE", which keeps the entries it needs.
 *
 * Their entries follow those of the root in the same stretch of the log, one table at a time, in
 * the order of the captures' numbers. Each part of them is converted to keys of the root, in pages.
 */
#pragma once

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
    struct buf types;        /* of the columns that are read, for it */
    bool whole_rows;         /* are read */
};

struct depends {
    struct depend *items;
    size_t count;
    struct page_other **others; /* of the items */
};

void depend_release(struct depends *d);

/* Looks up the tables and their columns' types, and builds the statements that list keys of the
 * root. */
int depend_open(struct depends *d, struct pg *pg, const struct query_input *in,
                struct err *err) MUST_CHECK;

/* Checks that the changes of the tables are captured, and sorts the tables. */
int depend_install(struct depends *d, struct pg *pg, const char *consumer,
                   struct err *err) MUST_CHECK;

/* Removes the consumer's rows in captures of former dependencies. */
int depend_drop_former(const struct depends *d, struct pg *pg, const char *consumer,
                       struct err *err) MUST_CHECK;

/* Returns the item of that capture, or null. */
struct depend *depend_find(struct depends *d, uint64_t capture);

/* Appends the captures' numbers above `after` as an array. */
void depend_push_captures(struct buf *out, const struct depends *d, uint64_t after);
