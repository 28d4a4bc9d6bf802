/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The change log's capture, shared by the parts of its implementation: changelog.c moves between
 * pages, changelog_look.c begins one, changelog_chunk.c asks for its rows, changelog_page.c walks
 * within it; changelog_query.c does what a query adds, changelog_ahead.c looks ahead.
 */
#ifndef ROWFERRY_SOURCE_CHANGELOG_PRIVATE_H
#define ROWFERRY_SOURCE_CHANGELOG_PRIVATE_H

#include "consumer.h"
#include "depend.h"
#include "installed.h"
#include "keyset.h"
#include "page.h"
#include "position.h"
#include "reader.h"
#include "rowferry/source/changelog.h"
#include "rowsql.h"

/* LISTED: a copy whose keys come from the table and whose rows from the query; FAN: entries of a
 * table that the query depends on, as keys of the root. */
enum page_kind { PAGE_BLOCKS, PAGE_KEYS, PAGE_LISTED, PAGE_LOG, PAGE_FAN, PAGE_ASKED };

enum page_stage {
    STAGE_CLOSED, /* between pages */
    STAGE_ROWS,
    STAGE_NULL_ROWS,
    STAGE_GONE,
    STAGE_COMMIT,
};

/* What one statement of a page reads: so many blocks of the table or keys of the set that their
 * rows are about chunk_bytes. After it stands a mark. A page by key ranges is one statement, with
 * marks between its rows. */
struct chunk {
    uint64_t from, to; /* blocks, or indices of keys */
    uint64_t end;      /* of the page */
    size_t bytes;      /* of the rows so far */
};

/* A look ahead over the rest of a window, and back. */
struct ahead {
    bool looking;
    bool judged;           /* the rest of the window was looked through */
    bool truncated;        /* what ended the look */
    uint64_t keys;         /* of the window's pages so far, each page's own */
    struct position from;  /* where it began */
    struct buf from_after; /* fan_after there */
};

struct changelog {
    struct capture capture; /* first */
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

    struct table *table; /* as looked up by start or resume */
    struct installed installed;
    struct rowsql sql;
    struct buf watched; /* key and columns as an array of names */
    struct buf types;   /* composites and enums that they are made of, as an array of oids */
    struct consumer consumer;
    struct depends depends;
    struct buf lock;         /* of all tables that the query reads; empty without one */
    struct buf due;          /* the captures whose entries come after those that are read now */
    struct keyset changed;   /* of a page that fans out: what the dependency's columns held */
    struct buf fan_after;    /* the last key that was fanned out to, where there are more */
    struct position at;      /* where the next page begins */
    struct position pending; /* released, but not yet told to the source; last null = none */
    char *pending_letters;   /* the same; null: as the source knows them */
    int64_t pending_clock;
    int64_t mirrored_ms; /* when the source was last written to */
    bool mirrored;

    enum page_kind kind;
    enum page_stage stage;
    struct page page;
    struct position reached; /* at the end of this page */
    struct buf reached_text;
    bool drained;
    bool keys_only; /* the page tells no rows */
    struct ahead ahead;
    struct keyset keys;
    struct places befores; /* of the keys, in the log */
    struct chunk chunk;
    uint64_t blocks_aim; /* of the next chunk */
    uint64_t keys_aim;
    struct reader reader;
    struct buf last_key; /* of a page by key ranges */
    uint64_t page_rows_read;
    size_t gone, gone_end;     /* the keys to look at for lack of a row */
    bool marks;                /* a mark is due */
    struct position marked;    /* where it stands */
    enum page_stage gone_then; /* what comes after STAGE_GONE */

    int64_t rows_read;
};

/* From the table that was looked up: whose versions are watched. */
void changelog_name_watched(struct changelog *c);

/* What a query adds to the look-up; nothing without one. */
int changelog_prepare_query(struct changelog *c, struct err *err) MUST_CHECK;
void changelog_release_query(struct changelog *c);

/* Begins to read a page whose keys have to be listed first, and sets where it will end. */
int changelog_begin_listed(struct changelog *c, struct err *err) MUST_CHECK;
int changelog_begin_fan(struct changelog *c, struct err *err) MUST_CHECK;

/* changelog_send_keys, planned as the query needs it. */
int changelog_send_query(struct changelog *c, struct err *err) MUST_CHECK;

/* The end of a window, or where the entries of the next capture in it begin. */
void changelog_leave_capture(const struct changelog *c, struct position *p, const char *target);

/* The look alone, checked: ERR_STATE where reading on would be wrong. */
int changelog_look_now(struct changelog *c, struct page_look *look, struct err *err) MUST_CHECK;

void changelog_clear_page(struct changelog *c);

/* Begins a page of the kind that was set: with the look alone checked, or as one of the copy or the
 * log, for which the table must not have been rewritten behind the log's back either. */
int changelog_read_page(struct changelog *c, struct err *err) MUST_CHECK;
int changelog_open_page(struct changelog *c, struct err *err) MUST_CHECK;

/* Sends the first statement of a page of rows by ctid, by key or by the keys of the set. Nothing to
 * read: goes straight to the end of the page. */
int changelog_send_blocks(struct changelog *c, uint64_t from, uint64_t end,
                          struct err *err) MUST_CHECK;
int changelog_send_range(struct changelog *c, struct err *err) MUST_CHECK;
int changelog_send_keys(struct changelog *c, struct err *err) MUST_CHECK;

/* Goes straight to the end of the page. */
int changelog_send_nothing(struct changelog *c, struct err *err) MUST_CHECK;

/* After the last row of a statement: sends the next, and sets what follows meanwhile: the keys of
 * the chunk that had no row, a mark, then the rows of what was sent. */
int changelog_send_next(struct changelog *c, struct err *err) MUST_CHECK;

/* Writes what was released to the source: at most once in a while, or at once. */
int changelog_mirror_pending(struct changelog *c, bool at_once, struct err *err) MUST_CHECK;

/* Before a page of the log hands anything out: whether it is to look ahead (then the page is part
 * of that), and whether the look is over before it begins: then the page ends at once. */
bool changelog_looks_ahead(struct changelog *c);
bool changelog_ends_look(struct changelog *c);
/* At the end of a page of a look ahead: fills the change, moves on or back. */
void changelog_end_look(struct changelog *c, struct change *change);
/* A window ends, or reading begins somewhere. */
void changelog_forget_look(struct changelog *c);

/* capture_ops.release */
int changelog_release(struct capture *capture, const struct mirror *mirror, bool now,
                      struct err *err);

/* capture_ops.next */
int changelog_next(struct capture *capture, struct change *change, struct err *err);

#endif
