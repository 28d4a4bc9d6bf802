/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The beginning of a page, in one round trip: the transaction, the lock, then the snapshot, what
 * the table is under that lock, and the entries of the log that come next.
 */
#ifndef ROWFERRY_SOURCE_PAGE_H
#define ROWFERRY_SOURCE_PAGE_H

#include "changelog/position.h"
#include "rowferry/source/catalog/catalog.h"
#include "rows/keyset.h"
#include "rows/unreadable.h"

/* What a page finds, to be compared with what was there before. */
struct page_look {
    char *snapshot;
    bool in_recovery;
    bool same_table; /* the name still means the table that was looked up */
    uint32_t filenode;
    uint64_t blocks;
    char *triggers;
    char *definition;
    char *versions; /* of the columns that matter, in the catalogue */
};

/* An entry of a window: the part that it is read in, and where it stands there. */
struct place {
    int part;
    uint64_t xid;
    int64_t seq;
};

struct places {
    struct place *items;
    size_t count;
    size_t capacity;
};

/* The part of a window that a page takes. */
struct page_window {
    struct keyset *keys;    /* borrowed; the distinct keys are added */
    struct places *befores; /* borrowed; for each key the entry that stands before its first */
    size_t limit;           /* entries of each of the two parts */
    bool null_keys;         /* an entry without a key is among them */
    bool truncated;         /* so is one of a TRUNCATE, or, if `recorded`, of any change at all */
    bool unreadable;        /* so is one whose key cannot be read; never if `recorded` */
    bool anything;          /* any row may have changed; never if `recorded` */
    bool recorded; /* the keys are columns of another table: one that is cut says nothing */
    bool full;     /* there is more: go on after the entry below */
    size_t taken;
    int part;
    uint64_t after_xid;
    int64_t after_seq;
    uint64_t due; /* the first of the other captures with entries in the window, 0 = none */
};

struct page {
    struct page_look look;
    struct page_window window;
};

/* Another table that is looked at in each page. */
struct page_other {
    const struct table *table;
    const char *capture; /* its id */
    char oid[16];
    const char *look[3]; /* parameters */
    const char *definition[2];
    struct page_look found;
};

struct page_request {
    const struct table *table;
    const char *capture;       /* its id; null: nothing is installed */
    const char *columns;       /* whose versions are looked at, as an array; null: all */
    const char *types;         /* whose fields and labels are looked at, as an array; null: none */
    const struct position *at; /* the log position whose entries are read; null: none */
    const char *lock;    /* the statement that locks all that is read; null: the table alone */
    bool nowait;         /* 55P03 rather than to wait for the lock */
    const char *entries; /* the capture whose entries are read; null: the table's */
    const struct unreadable *unreadable; /* what keys may hold; null: none */
    const char *due; /* captures that may have entries in the window; null: none */
    struct page_other *const *others;
    size_t other_count;
};

/* Leaves the transaction open; after an error it is in an unknown state (pg_recover). */
int page_open(struct page *out, struct pg *pg, const struct page_request *request,
              struct err *err) MUST_CHECK;
void page_look_release(struct page_look *l);

/* Fills the parameters in; table and capture are borrowed. */
void page_other_set(struct page_other *o, const struct table *table, const char *capture);

/* The look alone, in a transaction of its own. */
int page_look_now(struct page_look *out, struct pg *pg, const struct page_request *request,
                  struct err *err) MUST_CHECK;

#endif
