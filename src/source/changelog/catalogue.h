/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the change log relies on in the source: the table, its triggers, the tables of the query,
 * and the rows of the consumer for each of them.
 */
#pragma once

#include "catalog/installed.h"
#include "changelog/consumer.h"
#include "changelog/depend.h"
#include "changelog/page.h"
#include "rowferry/source/changelog/changelog.h"
#include "rows/rowsql.h"
#include "sql/mentions.h"

/* Changes that the log does not contain, as the last check found them. */
enum catalogue_gap {
    GAP_NONE,
    GAP_MEMBER_JOINED, /* a member that the triggers do not cover yet has joined a table */
    GAP_MEMBER_LEFT,   /* a member that the position relies on has left the table */
    GAP_MISSED,        /* changes may have been missed: a re-snapshot is needed */
};

struct catalogue {
    struct pg *pg;                           /* borrowed */
    const struct changelog_options *options; /* borrowed */
    struct table *table;                     /* null: not looked up yet */
    struct installed installed;
    struct rowsql sql;
    struct consumer consumer;
    struct depends depends;
    struct mentions mentions; /* what where and query read */
    bool whole_rows;          /* of the table are read */
    struct buf watched;       /* key and columns as an array of names */
    struct buf types;         /* oids of the composites and enums that are read */
    struct buf lock;          /* statement that locks all tables of the query; empty without one */
    struct buf due;           /* captures whose entries follow those of the current one */
    enum catalogue_gap gap;
};

void catalogue_init(struct catalogue *c, struct pg *pg, const struct changelog_options *options);
void catalogue_release(struct catalogue *c);

/* Looks up table, triggers and query, and builds the statements again. */
int catalogue_look_up(struct catalogue *c, struct err *err) MUST_CHECK;

/* Returns the consumer of the table (i = 0) or of a table that the query depends on, or null after
 * the last one. */
struct consumer *catalogue_consumer(struct catalogue *c, size_t i);

/* The consumer's rows of all tables, as in consumer.h. Those of the query's tables are registered
 * and moved on after the table's own, so that they never keep fewer entries. register looks at the
 * tables first. */
int catalogue_register(struct catalogue *c, struct page_look *look, const char *last,
                       struct err *err) MUST_CHECK;
int catalogue_read_consumers(struct catalogue *c, struct err *err) MUST_CHECK;
int catalogue_mirror(struct catalogue *c, const struct position *p, int64_t clock,
                     const char *letters, struct err *err) MUST_CHECK;
int catalogue_expire(struct catalogue *c, struct err *err) MUST_CHECK;
int catalogue_prune(struct catalogue *c, int64_t most_ms, struct err *err) MUST_CHECK;

/* Of all consumers' rows together. */
struct catalogue_facts {
    bool keeps;           /* entries exist that only the age of the backup keeps */
    bool more;            /* pruning has more to do */
    uint64_t horizon;     /* the highest one */
    const char *unpruned; /* why the server refused to prune; null if it did not */
};
struct catalogue_facts catalogue_facts(struct catalogue *c);

/* Appends the captures of the table and of the query's tables as an array. */
void catalogue_push_captures(struct buf *out, const struct catalogue *c);

/* --- catalogue_check.c --- */

/* Sets `watched` and `types` after the look-up. */
void catalogue_name_watched(struct catalogue *c);

/* Returns the request of a page; `at` is the position whose entries are read, null: none. */
struct page_request catalogue_request(struct catalogue *c, const struct position *at);

/* Compares the tables with what the consumers' rows rely on, and sets `gap`. Returns ERR_STATE if
 * reading on would be wrong, ERR_TRANSIENT with GAP_MISSED if that needs a re-snapshot. `last` is
 * the snapshot that was read before; null: none. */
int catalogue_check(struct catalogue *c, const struct page_look *look, const char *last,
                    struct err *err) MUST_CHECK;

/* Returns ERR_TRANSIENT with GAP_MEMBER_JOINED if a member of the table has no triggers yet: it
 * joined after the change log was checked. If it were registered, it would look like a member with
 * dropped triggers. */
int catalogue_check_covered(struct catalogue *c, const struct table *t,
                            const struct page_look *look, struct err *err) MUST_CHECK;

/* Sets *altered if storage or column versions differ from the consumer's row. If the table was
 * rewritten without entries, returns ERR_TRANSIENT with GAP_MISSED, except in a load by blocks,
 * which then begins again. */
int catalogue_check_rewritten(struct catalogue *c, const struct page_look *look, bool by_blocks,
                              bool *altered, struct err *err) MUST_CHECK;

/* Looks at the tables without a page and checks them. */
int catalogue_look_now(struct catalogue *c, struct page_look *look, const char *last,
                       struct err *err) MUST_CHECK;

/* Checks that the first snapshot is not older than the entries that are kept. */
int catalogue_check_first(const struct catalogue *c, const struct page_look *look,
                          struct err *err) MUST_CHECK;

/* Records storage and versions as they are now. */
int catalogue_note_altered(struct catalogue *c, const struct page_look *look,
                           struct err *err) MUST_CHECK;

/* Records the remaining members. */
int catalogue_note_members(struct catalogue *c, const struct page_look *look,
                           struct err *err) MUST_CHECK;

/* Sets GAP_MISSED and makes the error transient. */
int catalogue_miss(struct catalogue *c, struct err *err);
