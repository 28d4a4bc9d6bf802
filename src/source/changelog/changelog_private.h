/* SPDX-License-Identifier: Apache-2.0 */
/*
 * State of the change log's capture, shared by its parts: changelog.c moves between pages,
 * changelog_look.c begins one, changelog_chunk.c sends its statements, changelog_page.c reads its
 * rows, changelog_query.c adds queries, changelog_prescan.c prescans windows, and changelog_news.c
 * has the queries between pages. During an initial load several of them work together:
 * copy/initial_load.c, changelog_help.c.
 */
#pragma once

#include "catalog/installed.h"
#include "catalog/xmin_holders.h"
#include "changelog/consumer.h"
#include "changelog/depend.h"
#include "changelog/page.h"
#include "changelog/position.h"
#include "rowferry/document/model/key.h"
#include "rowferry/source/changelog/changelog.h"
#include "rows/key_existence.h"
#include "rows/keyset.h"
#include "rows/reader.h"
#include "rows/rowsql.h"
#include "sql/mentions.h"

/* LISTED: an initial load that takes keys from the table and rows from the query. FAN: entries of a
 * table that the query depends on, converted to keys of the root. */
enum page_kind { PAGE_BLOCKS, PAGE_KEYS, PAGE_LISTED, PAGE_LOG, PAGE_FAN, PAGE_ASKED };

enum page_stage {
    STAGE_CLOSED, /* between pages */
    STAGE_ROWS,
    STAGE_NULL_ROWS,
    STAGE_GONE,
    STAGE_COMMIT,
};

/* The part of a page that one statement reads: as many blocks of the table, or keys of the set, as
 * yield about chunk_bytes. A safepoint follows it. A page by key ranges is one statement, with
 * safepoints between its rows. */
struct chunk {
    uint64_t from, to; /* blocks, or indices of keys */
    uint64_t end;      /* of the page */
    size_t bytes;      /* of the rows so far */
};

/* A prescan of the rest of a window, and the way back. */
struct ahead {
    bool looking;
    bool judged;           /* the rest of the window was prescanned */
    bool truncated;        /* reason for the end of the prescan */
    uint64_t keys;         /* of the window's pages so far, distinct within each page */
    struct position from;  /* start of the prescan */
    struct buf from_after; /* fan_after at that position */
};

/* The reconcile after a re-snapshot: rows that were deleted in between have no entry. */
enum sweep { SWEEP_NONE, SWEEP_DUE, SWEEP_TELLS, SWEEP_TOLD };

#define CHANGELOG_ATTEND_MS 600000 /* an absent consumer expires after an hour at the earliest */

struct changelog {
    struct capture capture; /* must be first */
    struct pg *pg;
    char *name; /* of the consumer */
    char *table_name;
    char **key;
    size_t key_count;
    char *where;
    char *query;
    struct dependency *dependencies;
    size_t dependency_count;
    char **columns;
    size_t column_count;
    char *fingerprint;
    size_t page_rows;
    size_t page_blocks;
    size_t chunk_bytes;
    bool helps; /* snapshot worker for another changelog: never waits for a lock, writes nothing */

    struct table *table; /* as looked up by start or resume */
    struct installed installed;
    struct rowsql sql;
    struct buf watched;   /* key and columns as an array of names */
    struct buf types;     /* composites and enums that they, and what is read, are made of: oids */
    struct mentions read; /* what where and query read */
    bool whole_rows;      /* of the table are read */
    struct consumer consumer;
    struct depends depends;
    struct xmin_holders holds;
    struct buf lock;         /* statement that locks all tables of the query; empty without one */
    struct buf due;          /* captures whose entries follow those of the current one */
    struct keyset changed;   /* of a page that fans out: values of the dependency's columns */
    struct buf fan_after;    /* last key of the fan-out so far, if there are more */
    struct position at;      /* start of the next page */
    struct position pending; /* released, but not yet written to the source; last null = none */
    char *pending_letters;   /* the same; null: unchanged in the source */
    int64_t pending_clock;
    int64_t mirrored_ms; /* time of the last write to the source */
    bool mirrored;
    bool tried; /* only tests a checkpoint backup: never makes a re-snapshot */
    enum sweep sweep;
    char why_again[sizeof(((struct err *)0)->message)];
    struct retain retain;
    int64_t attended_ms; /* time of the last heartbeat of the consumer */

    enum page_kind kind;
    enum page_stage stage;
    struct page page;
    struct position reached; /* at the end of this page */
    struct buf reached_text;
    bool drained;
    bool keys_only;                /* the page delivers no rows */
    struct key_existence presence; /* how keys are looked up then */
    bool unsure; /* the result was insufficient: look the keys up in the next way */
    struct ahead ahead;
    bool left;       /* a member that the position relies on has left the table */
    bool lost;       /* changes may have been missed */
    bool tells_left; /* the page reports `left` and ends */
    char *left_told; /* the members at that report */
    struct keyset keys;
    struct value cut_key;  /* of the last change, if its key is too long */
    struct places befores; /* places of the keys in the log */
    struct chunk chunk;
    struct chunk next_chunk; /* sent while `chunk` is read, so that the server does not pause */
    enum page_stage next_stage;
    uint64_t blocks_aim; /* target size of the next chunk */
    uint64_t keys_aim;
    struct reader reader;
    struct unreadable *unreadable; /* owned, or that of the leader if `helps` */
    bool reread;                   /* requested keys are read again, after an unreadable row */
    struct buf last_key;           /* of a page by key ranges */
    uint64_t page_rows_read;
    size_t gone, gone_end;     /* range of the keys to check for missing rows */
    bool marks;                /* a safepoint is due */
    struct position marked;    /* its position */
    enum page_stage gone_then; /* the stage after STAGE_GONE */

    int64_t rows_read;
};

/* From the table that was looked up, once it is known what is read: whose versions and types are
 * watched. */
void changelog_name_watched(struct changelog *c);

/* Looks up table and triggers and builds the statements again. */
int changelog_prepare(struct changelog *c, struct err *err) MUST_CHECK;

/* The additional look-up of a query; does nothing without one. */
int changelog_prepare_query(struct changelog *c, struct err *err) MUST_CHECK;
void changelog_release_query(struct changelog *c);

/* Begin a page whose keys must be listed first, and set its end position. */
int changelog_begin_listed(struct changelog *c, struct err *err) MUST_CHECK;
int changelog_begin_fan(struct changelog *c, struct err *err) MUST_CHECK;

/* Calls changelog_send_keys with planner settings that suit the query. */
int changelog_send_query(struct changelog *c, struct err *err) MUST_CHECK;

/* Sets the end of the window, or the beginning of the next capture's entries in it. */
void changelog_leave_capture(const struct changelog *c, struct position *p, const char *target);

/* Looks at the table without a page and checks it. Returns ERR_STATE if reading on would be wrong.
 * Returns ERR_TRANSIENT and sets `lost` if that needs a re-snapshot. */
int changelog_look_now(struct changelog *c, struct page_look *look, struct err *err) MUST_CHECK;

/* Does the same before the first page, and checks that no table was rewritten without entries. */
int changelog_look_over(struct changelog *c, struct err *err) MUST_CHECK;

/* After a member left: requests a reconcile, which is all that the page reports, or continues after
 * it. */
int changelog_meet_left(struct changelog *c, struct err *err) MUST_CHECK;

void changelog_clear_page(struct changelog *c);

/* Resets the page and sets its kind. */
void changelog_clear(struct changelog *c);

/* Sends the statements of an open page, and sets its end position. */
int changelog_send_page(struct changelog *c, struct err *err) MUST_CHECK;

/* Begin a page of the kind that was set. read_page checks the definition only. open_page is for
 * pages of the load or the log, and also checks that the table was not rewritten without
 * entries. */
int changelog_read_page(struct changelog *c, struct err *err) MUST_CHECK;
int changelog_open_page(struct changelog *c, struct err *err) MUST_CHECK;

/* Sets *any if a table differs from its consumer's row. */
int changelog_check_news(struct changelog *c, bool *any, struct err *err) MUST_CHECK;

/* The statement of a page in the key's order and its parameters, which point into it. */
struct range_query {
    const char *sql;
    const char *params[KEY_MAX_PARTS + 2];
    size_t count;
    enum rowsql_from from;
    struct buf parts; /* to be released */
    char limit[24];
};
int changelog_range_query(struct range_query *q, const struct changelog *c,
                          struct err *err) MUST_CHECK;

/* Returns ERR_REJECTED if the last key of a page is the key after which it began. */
int changelog_expect_later(const struct position *at, const char *last, struct err *err) MUST_CHECK;

/* Send the first statement of a page of rows by ctid, by key range or by the keys of the set. If
 * there is nothing to read, they end the page. */
int changelog_send_blocks(struct changelog *c, uint64_t from, uint64_t end,
                          struct err *err) MUST_CHECK;
int changelog_send_range(struct changelog *c, struct err *err) MUST_CHECK;
int changelog_send_keys(struct changelog *c, struct err *err) MUST_CHECK;

/* Makes a change log with a single connection. */
struct changelog *changelog_new(struct pg *pg, const struct changelog_options *options);

/* Makes a snapshot worker for the same table, with a connection of its own. */
int changelog_helper(struct changelog **out, const struct changelog *c, struct err *err) MUST_CHECK;

/* Begins a page for the worker's range of the initial load. Returns 1 if it cannot help now,
 * because a lock request is queued or the table has changed. */
int changelog_help(struct changelog *c, struct err *err) MUST_CHECK;

/* Goes straight to the end of the page. */
int changelog_send_nothing(struct changelog *c, struct err *err) MUST_CHECK;

/* After the last row of a statement: turns to the next statement and sends the one after it. The
 * keys of the chunk without a row and a safepoint are delivered first. */
int changelog_send_next(struct changelog *c, struct err *err) MUST_CHECK;

/* Writes the consumer's row, then records the start of an initial load. */
int changelog_note_position(struct changelog *c, struct err *err) MUST_CHECK;
/* Checks that the first snapshot is not older than the entries that are kept. */
int changelog_check_first(const struct changelog *c, const struct page_look *look,
                          struct err *err) MUST_CHECK;

/* After a resume, with the consumer's row read. Decides if reading can continue at the position or
 * at that of the checkpoint backup. Otherwise it begins a re-snapshot in place (capture.again is
 * the reason). */
int changelog_go_on(struct changelog *c, bool expired, struct err *err) MUST_CHECK;
/* begins_sweep returns true if this page of the log only reports that a reconcile is due.
 * tells_sweep fills that change. */
bool changelog_begins_sweep(struct changelog *c);
bool changelog_reports_sweep(struct changelog *c, struct change *change);

/* Appends the end of a position's text, as of now. */
void changelog_print_history(const struct changelog *c, struct buf *out);

/* Periodically: marks the consumer as present, and expires absent ones. */
int changelog_attend(struct changelog *c, struct err *err) MUST_CHECK;

/* Writes what was released to the source, at most once per interval unless at_once. */
int changelog_mirror_pending(struct changelog *c, bool at_once, struct err *err) MUST_CHECK;

/* Before a page of the log delivers anything. looks_ahead returns true if the page is part of a
 * prescan. ends_look returns true if a prescan is over before it begins, so that the page ends at
 * once. */
bool changelog_looks_ahead(struct changelog *c);
bool changelog_ends_look(struct changelog *c);
/* At the end of a page of a prescan: fills the change, and moves on or back. */
void changelog_end_look(struct changelog *c, struct change *change);
/* Moves back to the start of the prescan. */
void changelog_look_again(struct changelog *c);
/* Resets the prescan, at the end of a window or the start of reading. */
void changelog_forget_look(struct changelog *c);

/* capture_ops.release */
int changelog_release(struct capture *capture, const struct mirror *mirror, bool now,
                      struct err *err);

/* Subscribes to the notifications of the triggers, if they send any, once the position is known. */
int changelog_listen(struct changelog *c, struct err *err) MUST_CHECK;

/* capture_ops.news */
int changelog_news(struct capture *capture, bool *any, struct err *err);

/* capture_ops.waiting, capture_ops.hold */
int changelog_waiting(struct capture *capture, int64_t *changes, struct err *err);
int changelog_hold(struct capture *capture, struct xmin_holder *out, struct err *err);

/* capture_ops.next */
int changelog_next(struct capture *capture, struct change *change, struct err *err);
