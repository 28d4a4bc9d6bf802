/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One page of the change log: how it is begun, which statements read its rows (changelog_chunk.c),
 * how a query's keys are listed (changelog_list.c), and which changes it delivers
 * (changelog_page.c).
 */
#pragma once

#include "changelog/changelog_position.h"
#include "rows/key_existence.h"
#include "rows/reader.h"

/* LISTED: an initial load that takes keys from the table and rows from the query. FAN: entries of a
 * table that the query depends on, converted to keys of the root. ASKED: requested keys. */
enum page_kind { PAGE_BLOCKS, PAGE_RANGE, PAGE_LISTED, PAGE_LOG, PAGE_FAN, PAGE_ASKED };

/* KEYS: only keys without a row. The last two: nothing but the request for a reconcile. */
enum page_content { CONTENT_ROWS, CONTENT_GONE, CONTENT_MEMBER_LEFT, CONTENT_RESNAPSHOT };

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

struct chunks {
    struct chunk now;
    struct chunk next; /* sent while `now` is read, so that the server does not pause */
    enum page_stage next_stage;
    uint64_t block_target; /* size of the next chunk */
    uint64_t key_target;
};

struct page_keys {
    struct keyset set;     /* of the table */
    struct keyset changed; /* of a page that fans out: values of the dependency's columns */
    struct places places;  /* of the keys in the log */
    struct value cut;      /* of the last change, if its key is too long */
    size_t gone, gone_end; /* range of the keys to check for missing rows */
    enum page_stage then;  /* the stage after STAGE_GONE */
};

struct safepoint {
    bool due;
    struct position position;
};

struct changelog_page {
    struct capture *capture; /* borrowed, like the next three */
    const struct changelog_options *options;
    struct catalogue *catalogue;
    struct changelog_position *position;

    enum page_kind kind;
    enum page_content content;
    enum page_stage stage;
    struct page page;
    struct page_keys keys;
    struct chunks chunks;
    struct reader reader;
    struct unreadable *unreadable; /* owned, or the leader's in a snapshot worker */
    bool worker;                   /* of another change log: never waits for a lock */
    bool reread;                   /* requested keys are read again, after an unreadable row */
    struct key_existence existence;
    bool unfinished;     /* the keys must be looked up in the next way */
    struct buf last_key; /* of a page by key ranges */
    uint64_t rows;       /* delivered */
    struct position end; /* position after the page */
    struct buf text;     /* the position that was reported last */
    struct safepoint safepoint;
};

void changelog_page_init(struct changelog_page *p, const struct changelog_options *options);
void changelog_page_release(struct changelog_page *p);

/* Resets the page for this kind, or the kind that the position needs. */
void changelog_page_reset(struct changelog_page *p, enum page_kind kind);
enum page_kind changelog_page_next_kind(const struct changelog_page *p);

/* Opens the page's transaction and reads its entries. Checks the definition of the tables. */
int changelog_page_open(struct changelog_page *p, struct err *err) MUST_CHECK;

/* The same for a page of the load or the log: checks also that the table was not rewritten without
 * entries, and records other changes of its storage. */
int changelog_page_open_checked(struct changelog_page *p, struct err *err) MUST_CHECK;

/* Returns 1 and fills `change`, 0 at the end of the page, or an error. */
int changelog_page_next(struct changelog_page *p, struct change *change,
                        struct err *err) MUST_CHECK;

/* Sets the change's position. */
void changelog_page_report_position(struct changelog_page *p, const struct position *at,
                                    struct change *change);

/* Returns true if the page's snapshot contains no further changes. */
bool changelog_page_drained(const struct changelog_page *p);

/* --- changelog_chunk.c: send the first statement of a page, and set its end if it is known. If
 * there is nothing to read, that ends the page. --- */

int changelog_chunk_begin_blocks(struct changelog_page *p, struct err *err) MUST_CHECK;
int changelog_chunk_begin_range(struct changelog_page *p, struct err *err) MUST_CHECK;
int changelog_chunk_begin_keys(struct changelog_page *p, struct err *err) MUST_CHECK;
int changelog_chunk_begin_nothing(struct changelog_page *p, struct err *err) MUST_CHECK;

/* After the last row of a statement: turns to the next statement and sends the one after it. The
 * keys of the chunk without a row and a safepoint are delivered first. */
int changelog_chunk_send_next(struct changelog_page *p, struct err *err) MUST_CHECK;

/* The statement of a page in the key's order and its parameters, which point into it. */
struct range_query {
    const char *sql;
    const char *params[KEY_MAX_PARTS + 2];
    size_t count;
    enum rowsql_from from;
    struct buf parts; /* to be released */
    char limit[24];
};
int changelog_chunk_range_query(struct range_query *q, const struct changelog_page *p,
                                struct err *err) MUST_CHECK;

/* Sets `out` to the position in a load by keys after the key `last`. */
void changelog_chunk_set_key(struct position *out, const struct position *at, const char *last);

/* Set the end of the page: after that key, ERR_REJECTED if the page began after it; or the log from
 * the same snapshot. */
int changelog_chunk_reach_key(struct changelog_page *p, const char *last,
                              struct err *err) MUST_CHECK;
void changelog_chunk_reach_log(struct changelog_page *p);

/* Returns the target size of the next chunk, after one of `units` blocks or keys with `bytes`. */
uint64_t changelog_chunk_target(uint64_t target, uint64_t units, size_t bytes, size_t chunk_bytes);

/* --- changelog_list.c: pages of the log, and of a query, whose keys are listed first. --- */

int changelog_list_begin(struct changelog_page *p, struct err *err) MUST_CHECK;
int changelog_list_fan(struct changelog_page *p, struct err *err) MUST_CHECK;

/* Sets `out` to this place in the stretch of a page of the log. */
void changelog_list_place(const struct changelog_page *p, struct page_place place,
                          struct position *out);

/* Set the end of a page of the log. */
void changelog_list_reach_log(struct changelog_page *p);
void changelog_list_reach_fan(struct changelog_page *p);

/* Sends the statements that read the keys' rows, with planner settings that suit them. */
int changelog_list_send(struct changelog_page *p, struct err *err) MUST_CHECK;
