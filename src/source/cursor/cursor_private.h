/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The cursor's capture, shared by the parts of its implementation: cursor.c moves between pages,
 * cursor_page.c walks within one.
 */
#ifndef ROWFERRY_SOURCE_CURSOR_PRIVATE_H
#define ROWFERRY_SOURCE_CURSOR_PRIVATE_H

#include "catalog/xmin_holders.h"
#include "changelog/page.h"
#include "cursor/cursor_position.h"
#include "cursor/cursor_sql.h"
#include "cursor/dedup_cache.h"
#include "cursor/horizon.h"
#include "rowferry/source/cursor/cursor.h"
#include "rows/key_existence.h"
#include "rows/keyset.h"
#include "rows/reader.h"
#include "rows/rowsql.h"
#include "rows/unreadable.h"

enum cursor_stage {
    CURSOR_CLOSED, /* between pages */
    CURSOR_NULLS,  /* rows without a value: of the first load */
    CURSOR_SAFE,   /* rows below the horizon: they move the position */
    CURSOR_AHEAD,  /* rows from the horizon on */
    CURSOR_COUNT,  /* how many of the rows that come next are deletes */
    CURSOR_LOOK,   /* rows that do not match, before any of them is told */
    CURSOR_ASKED,
    CURSOR_GONE, /* asked keys without a row */
    CURSOR_COMMIT,
};

struct cursor {
    struct capture capture; /* first */
    struct pg *pg;
    char *table_name;
    char **key;
    size_t key_count;
    char *column;
    char *where;
    char **columns;
    size_t column_count;
    char *fingerprint;
    size_t page_rows;
    size_t chunk_bytes;

    struct table *table; /* as looked up by start or resume */
    struct rowsql sql;
    struct horizon horizon;
    struct holds holds;
    struct seen seen;
    struct cursor_position at;    /* where the next page begins */
    struct cursor_position ahead; /* the last row beyond the horizon; no value: none */

    enum cursor_stage stage;
    struct page page;
    struct reader reader;
    struct unreadable unreadable;
    bool reread;                    /* asked keys, after a row that could not be read */
    struct cursor_position reached; /* so far in this page */
    struct buf reached_text;
    size_t statement_rows;
    size_t chunk_read; /* bytes since the last mark */
    bool copying;      /* the page began within the first load */
    bool drained;
    struct keyset keys;       /* asked */
    bool keys_only;           /* rows of asked keys are not told, */
    struct presence presence; /* and asked for so */
    size_t gone;

    uint64_t told_gone;            /* since the cursor was drained, */
    uint64_t more_gone;            /* and so many are in what comes next */
    enum cursor_stage after;       /* CURSOR_COUNT */
    bool look_due;                 /* these are more than a guard lets pass unseen */
    bool looking;                  /* the page is of a look */
    bool judged;                   /* it has seen them */
    struct cursor_position looked; /* the last row of a look that goes on; no value: none */

    int64_t rows_read;
};

struct rowsql_input cursor_rows(const struct cursor *c);

/* Sends the first statement of a page of the position, or of the keys that are asked. */
int cursor_send_first(struct cursor *c, struct err *err) MUST_CHECK;
int cursor_send_asked(struct cursor *c, struct err *err) MUST_CHECK;

/* Opens a page of asked keys and sends what it reads. */
int cursor_ask(struct cursor *c, struct err *err) MUST_CHECK;

/* Sends the statement of a look's page: what does not match, from the position on. */
int cursor_send_look(struct cursor *c, struct err *err) MUST_CHECK;

/* capture_ops.next */
int cursor_next(struct capture *capture, struct change *change, struct err *err);

#endif
