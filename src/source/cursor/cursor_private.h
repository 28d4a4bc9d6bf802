/* SPDX-License-Identifier: Apache-2.0 */
/*
 * State of the cursor capture, shared by its two parts: cursor.c moves between pages, cursor_page.c
 * reads within a page.
 */
#pragma once

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
    CURSOR_NULLS,  /* rows without a value, in the initial load */
    CURSOR_SAFE,   /* rows below the horizon: they advance the position */
    CURSOR_AHEAD,  /* rows from the horizon on */
    CURSOR_COUNT,  /* counts the deletes among the next rows */
    CURSOR_LOOK,   /* prescan: rows that do not match, before any of them is delivered */
    CURSOR_ASKED,
    CURSOR_GONE, /* requested keys without a row */
    CURSOR_COMMIT,
};

struct cursor {
    struct capture capture; /* must be first */
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
    struct xmin_holders holds;
    struct dedup_cache seen;
    struct cursor_position at;    /* start of the next page */
    struct cursor_position ahead; /* last row above the horizon; no value: none */

    enum cursor_stage stage;
    struct page page;
    struct reader reader;
    struct unreadable unreadable;
    bool reread;                    /* requested keys are read again, after an unreadable row */
    struct cursor_position reached; /* position so far in this page */
    struct buf reached_text;
    size_t statement_rows;
    size_t chunk_read; /* bytes since the last safepoint */
    bool copying;      /* the page began within the initial load */
    bool drained;
    struct keyset keys;            /* requested keys */
    bool keys_only;                /* rows of requested keys are not delivered */
    struct key_existence presence; /* how such keys are looked up */
    size_t gone;

    uint64_t told_gone;            /* deletes delivered since the cursor was last drained */
    uint64_t more_gone;            /* deletes among the rows that come next */
    enum cursor_stage after;       /* stage that follows CURSOR_COUNT */
    bool look_due;                 /* these deletes exceed the guard's limit: a prescan is due */
    bool looking;                  /* the page belongs to a prescan */
    bool judged;                   /* the prescan is complete */
    struct cursor_position looked; /* last row of an unfinished prescan; no value: none */

    int64_t rows_read;
};

struct rowsql_input cursor_rows(const struct cursor *c);

/* Sends the first statement of a page: at the position, or for the requested keys. */
int cursor_send_first(struct cursor *c, struct err *err) MUST_CHECK;
int cursor_send_asked(struct cursor *c, struct err *err) MUST_CHECK;

/* Opens a page of requested keys and sends its first statement. */
int cursor_ask(struct cursor *c, struct err *err) MUST_CHECK;

/* Sends the statement of a prescan page: rows after the position that do not match. */
int cursor_send_look(struct cursor *c, struct err *err) MUST_CHECK;

/* capture_ops.next */
int cursor_next(struct capture *capture, struct change *change, struct err *err);
