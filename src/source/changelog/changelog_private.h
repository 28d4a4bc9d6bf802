/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The change log's capture, shared by the parts of its implementation: changelog.c moves between
 * pages, changelog_look.c begins one, changelog_chunk.c asks for its rows, changelog_page.c walks
 * within it; changelog_query.c does what a query adds, changelog_ahead.c looks ahead,
 * changelog_news.c asks between pages. Several of them read a copy together: changelog_copy.c,
 * changelog_help.c.
 */
#ifndef ROWFERRY_SOURCE_CHANGELOG_PRIVATE_H
#define ROWFERRY_SOURCE_CHANGELOG_PRIVATE_H

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
#include "rows/unreadable.h"

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

/* The reconcile that a copy in place ends with: what went meanwhile has no entry. */
enum sweep { SWEEP_NONE, SWEEP_DUE, SWEEP_TELLS, SWEEP_TOLD };

#define CHANGELOG_ATTEND_MS 600000 /* an absent consumer expires after an hour at the least */

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
    bool helps; /* reads ranges of a copy for another: never waits for a lock, writes nothing */

    struct table *table; /* as looked up by start or resume */
    struct installed installed;
    struct rowsql sql;
    struct buf watched; /* key and columns as an array of names */
    struct buf types;   /* composites and enums that they are made of, as an array of oids */
    struct consumer consumer;
    struct depends depends;
    struct holds holds;
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
    bool tried; /* looked at for who has lost the state file: never copied again */
    enum sweep sweep;
    char why_again[sizeof(((struct err *)0)->message)];
    struct retain retain;
    int64_t attended_ms; /* when the source was told last that it is here */

    enum page_kind kind;
    enum page_stage stage;
    struct page page;
    struct position reached; /* at the end of this page */
    struct buf reached_text;
    bool drained;
    bool keys_only;           /* the page tells no rows, */
    struct presence presence; /* and asks for them so */
    bool unsure;              /* the answer said too little: it is asked in the next way */
    struct ahead ahead;
    bool left;       /* a member that the position relies on is gone */
    bool lost;       /* what was met means that changes may have been missed */
    bool tells_left; /* the page says so and ends */
    char *left_told; /* the members when one did */
    struct keyset keys;
    struct value cut_key;  /* of the change that was given last, if its key is too long */
    struct places befores; /* of the keys, in the log */
    struct chunk chunk;
    struct chunk
        next_chunk; /* sent while `chunk` is read, that the server has no pause; with its */
    enum page_stage next_stage;
    uint64_t blocks_aim; /* of the next chunk */
    uint64_t keys_aim;
    struct reader reader;
    struct unreadable *unreadable; /* its own, or of the one that it helps */
    bool reread;                   /* an asked page, after a row that could not be read */
    struct buf last_key;           /* of a page by key ranges */
    uint64_t page_rows_read;
    size_t gone, gone_end;     /* the keys to look at for lack of a row */
    bool marks;                /* a mark is due */
    struct position marked;    /* where it stands */
    enum page_stage gone_then; /* what comes after STAGE_GONE */

    int64_t rows_read;
};

/* From the table that was looked up: whose versions are watched. */
void changelog_name_watched(struct changelog *c);

/* Looks everything up anew: table, triggers, statements. */
int changelog_prepare(struct changelog *c, struct err *err) MUST_CHECK;

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

/* The look alone, checked: ERR_STATE where reading on would be wrong, ERR_TRANSIENT with `lost` set
 * where everything has to be copied again for that. */
int changelog_look_now(struct changelog *c, struct page_look *look, struct err *err) MUST_CHECK;

/* The same before the first page, and that nothing was rewritten behind the log's back. */
int changelog_look_over(struct changelog *c, struct err *err) MUST_CHECK;

/* A member left: has a reconcile made (the page then tells that alone), or goes on after it. */
int changelog_meet_left(struct changelog *c, struct err *err) MUST_CHECK;

void changelog_clear_page(struct changelog *c);

/* Before a page: its kind, nothing read. */
void changelog_clear(struct changelog *c);

/* Sends what an open page reads, and sets where it will end. */
int changelog_send_page(struct changelog *c, struct err *err) MUST_CHECK;

/* Begins a page of the kind that was set: with the look alone checked, or as one of the copy or the
 * log, for which the table must not have been rewritten behind the log's back either. */
int changelog_read_page(struct changelog *c, struct err *err) MUST_CHECK;
int changelog_open_page(struct changelog *c, struct err *err) MUST_CHECK;

/* Sets *any where a table is not quite as its consumer's row says. */
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

/* ERR_REJECTED where the last key of a page is the one after which it began. */
int changelog_expect_later(const struct position *at, const char *last, struct err *err) MUST_CHECK;

/* Sends the first statement of a page of rows by ctid, by key or by the keys of the set. Nothing to
 * read: goes straight to the end of the page. */
int changelog_send_blocks(struct changelog *c, uint64_t from, uint64_t end,
                          struct err *err) MUST_CHECK;
int changelog_send_range(struct changelog *c, struct err *err) MUST_CHECK;
int changelog_send_keys(struct changelog *c, struct err *err) MUST_CHECK;

/* A change log that is one connection. */
struct changelog *changelog_new(struct pg *pg, const struct changelog_options *options);

/* Another one for the same table, with a connection of its own, to help with a copy. */
int changelog_helper(struct changelog **out, const struct changelog *c, struct err *err) MUST_CHECK;

/* Like begin, for the range of a copy at which it stands; 1 where it cannot help now, because
 * somebody waits for a lock or something is new. */
int changelog_help(struct changelog *c, struct err *err) MUST_CHECK;

/* Goes straight to the end of the page. */
int changelog_send_nothing(struct changelog *c, struct err *err) MUST_CHECK;

/* After the last row of a statement: the next one's turn, the one after it is sent. First follow
 * the keys of the chunk that had no row, and a mark. */
int changelog_send_next(struct changelog *c, struct err *err) MUST_CHECK;

/* Writes the consumer's row, then notes where a copy of everything begins. */
int changelog_note_position(struct changelog *c, struct err *err) MUST_CHECK;
/* Of the first snapshot: nothing that comes after it may be pruned. */
int changelog_check_first(const struct changelog *c, const struct page_look *look,
                          struct err *err) MUST_CHECK;

/* At a position that was resumed, its consumer's row read: whether reading may go on there, from
 * the mirror, or everything is to be copied again in place (capture.again says why). */
int changelog_go_on(struct changelog *c, bool expired, struct err *err) MUST_CHECK;
/* A page of the log: whether it is to tell that a reconcile is due, and nothing else. */
bool changelog_begins_sweep(struct changelog *c);
bool changelog_tells_sweep(struct changelog *c, struct change *change);

/* The end of the text of a position of now. */
void changelog_print_history(const struct changelog *c, struct buf *out);

/* From time to time: this consumer is here, and those that are not expire. */
int changelog_attend(struct changelog *c, struct err *err) MUST_CHECK;

/* Writes what was released to the source: at most once in a while, or at once. */
int changelog_mirror_pending(struct changelog *c, bool at_once, struct err *err) MUST_CHECK;

/* Before a page of the log hands anything out: whether it is to look ahead (then the page is part
 * of that), and whether the look is over before it begins: then the page ends at once. */
bool changelog_looks_ahead(struct changelog *c);
bool changelog_ends_look(struct changelog *c);
/* At the end of a page of a look ahead: fills the change, moves on or back. */
void changelog_end_look(struct changelog *c, struct change *change);
/* Back to where the look began. */
void changelog_look_again(struct changelog *c);
/* A window ends, or reading begins somewhere. */
void changelog_forget_look(struct changelog *c);

/* capture_ops.release */
int changelog_release(struct capture *capture, const struct mirror *mirror, bool now,
                      struct err *err);

/* Once it is known where to read: who writes may call from now on, where the triggers do. */
int changelog_listen(struct changelog *c, struct err *err) MUST_CHECK;

/* capture_ops.news */
int changelog_news(struct capture *capture, bool *any, struct err *err);

/* capture_ops.waiting, capture_ops.hold */
int changelog_waiting(struct capture *capture, int64_t *changes, struct err *err);
int changelog_hold(struct capture *capture, struct hold *out, struct err *err);

/* capture_ops.next */
int changelog_next(struct capture *capture, struct change *change, struct err *err);

#endif
