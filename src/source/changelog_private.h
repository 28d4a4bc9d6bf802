/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The change log's capture, shared by the parts of its implementation: changelog.c moves between
 * pages, changelog_look.c begins one, changelog_page.c walks within it.
 */
#ifndef ROWFERRY_SOURCE_CHANGELOG_PRIVATE_H
#define ROWFERRY_SOURCE_CHANGELOG_PRIVATE_H

#include "consumer.h"
#include "installed.h"
#include "keyset.h"
#include "page.h"
#include "position.h"
#include "reader.h"
#include "rowferry/source/changelog.h"
#include "rowsql.h"

enum page_kind { PAGE_BLOCKS, PAGE_KEYS, PAGE_LOG, PAGE_ASKED };

enum page_stage {
    STAGE_CLOSED, /* between pages */
    STAGE_ROWS,
    STAGE_NULL_ROWS,
    STAGE_GONE,
    STAGE_COMMIT,
};

struct changelog {
    struct capture capture; /* first */
    struct pg *pg;
    char *name; /* of the consumer */
    char *table_name;
    char **key;
    size_t key_count;
    char *where;
    char **columns;
    size_t column_count;
    char *fingerprint;
    size_t page_rows;
    size_t page_blocks;

    struct table *table; /* as looked up by start or resume */
    struct installed installed;
    struct rowsql sql;
    struct buf watched; /* key and columns as an array of names */
    struct consumer consumer;
    struct position at;      /* where the next page begins */
    struct position pending; /* released, but not yet told to the source; last null = none */
    int64_t mirrored_ms;     /* when the source was last written to */
    bool mirrored;

    enum page_kind kind;
    enum page_stage stage;
    struct page page;
    struct position reached; /* at the end of this page */
    struct buf reached_text;
    bool drained;
    struct keyset keys;
    struct reader reader;
    struct buf last_key; /* of a page by key ranges */
    uint64_t page_rows_read;
    size_t gone; /* the next key to look at */

    int64_t rows_read;
};

/* From the table that was looked up: whose versions are watched. */
void changelog_name_watched(struct changelog *c);

/* The look alone, checked: ERR_STATE where reading on would be wrong. */
int changelog_look_now(struct changelog *c, struct page_look *look, struct err *err) MUST_CHECK;

void changelog_clear_page(struct changelog *c);

/* Begins a page of the kind that was set: with the look alone checked, or as one of the copy or the
 * log, for which the table must not have been rewritten behind the log's back either. */
int changelog_read_page(struct changelog *c, struct err *err) MUST_CHECK;
int changelog_open_page(struct changelog *c, struct err *err) MUST_CHECK;

/* Sends what a page of rows by ctid, by key or by the keys of the set needs. Nothing to read: goes
 * straight to the end of the page. */
int changelog_send_blocks(struct changelog *c, uint64_t from, uint64_t to,
                          struct err *err) MUST_CHECK;
int changelog_send_range(struct changelog *c, struct err *err) MUST_CHECK;
int changelog_send_keys(struct changelog *c, struct err *err) MUST_CHECK;

/* capture_ops.next */
int changelog_next(struct capture *capture, struct change *change, struct err *err);

#endif
