/* SPDX-License-Identifier: Apache-2.0 */
/*
 * State of the cursor capture and its five parts: the options, the positions, the page that is
 * being read, the requested keys, and the prescan. cursor.c moves between pages, cursor_page.c
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

/* What cursor_open was given, with defaults in place of zeros. All owned. */
struct cursor_settings {
    char *table;
    char **key;
    size_t key_count;
    char *column;
    char *where;
    char **columns;
    char **zones;
    size_t column_count;
    char *fingerprint;
    size_t page_rows;
    size_t chunk_bytes;
};

/* How far the rows were read. */
struct cursor_positions {
    struct cursor_position at;      /* start of the next page */
    struct cursor_position ahead;   /* last row above the horizon; no value: none */
    struct cursor_position reached; /* position so far in this page */
    struct buf reached_text;
};

/* The page that is being read. */
struct cursor_page {
    struct page opened;
    size_t statement_rows;
    size_t chunk_read; /* bytes since the last safepoint */
    bool copying;      /* the page began within the initial load */
    bool drained;
};

/* The keys that a page was requested for; none in other pages. */
struct cursor_request {
    struct keyset keys;
    bool only_gone;                /* their rows are not delivered */
    struct key_existence presence; /* how such keys are looked up */
    bool reread;                   /* they are read again, after an unreadable row */
    size_t gone;                   /* number of keys that CURSOR_GONE went through */
};

/* DUE: the deletes exceed the guard's limit. DONE: all of them were prescanned. */
enum cursor_prescan_state { CURSOR_PRESCAN_NONE, CURSOR_PRESCAN_DUE, CURSOR_PRESCAN_DONE };

/* The deletes that the guard is told of before any of them is delivered. */
struct cursor_prescan {
    enum cursor_prescan_state state;
    bool looking;                  /* the page belongs to a prescan */
    struct cursor_position looked; /* last row of an unfinished prescan; no value: none */
    uint64_t told_gone;            /* deletes delivered since the cursor was last drained */
    uint64_t more_gone;            /* deletes among the rows that come next */
    enum cursor_stage after;       /* stage that follows CURSOR_COUNT */
};

struct cursor {
    struct capture capture; /* must be first */
    struct pg *pg;
    struct cursor_settings options;
    struct table *table; /* as looked up by start or resume */
    struct rowsql sql;
    struct horizon horizon;
    struct xmin_holders holds;
    struct dedup_cache seen;
    struct reader reader;
    struct unreadable unreadable;
    enum cursor_stage stage;
    struct cursor_positions position;
    struct cursor_page page;
    struct cursor_request request;
    struct cursor_prescan prescan;
    int64_t rows_read; /* by the initial load */
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
