/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Begins a page in one round trip: the transaction, the lock, the snapshot, the state of the table
 * under that lock, and the next entries of the log.
 */
#pragma once

#include "changelog/position.h"
#include "rowferry/source/catalog/catalog.h"
#include "rows/keyset.h"
#include "rows/unreadable.h"

/* State of the table at a page, for comparison with the recorded state. */
struct page_look {
    char *snapshot;
    bool in_recovery;
    bool same_table; /* the name still refers to the table that was looked up */
    uint32_t filenode;
    uint64_t blocks;
    char *triggers;
    char *definition;
    char *versions; /* of the columns that matter, in the catalogue, and the members' storage */
};

/* Place of an entry in a stretch of the log: the part of the stretch, and the entry. */
struct page_place {
    int part;
    uint64_t xid;
    int64_t seq;
};

struct places {
    struct page_place *items;
    size_t count;
    size_t capacity;
};

/* The part of a stretch of the log that a page reads. A stretch has the entries between two
 * snapshots: first those of transactions that were running in the former, then the newer ones. */
struct page_stretch {
    struct keyset *keys;    /* borrowed; the distinct keys are added */
    struct places *befores; /* borrowed; for each key the place of the entry before its first */
    size_t limit;           /* entries in each of the two parts */
    bool null_keys;         /* an entry has no key */
    bool truncated;         /* an entry is a TRUNCATE or, if `recorded`, may affect any row */
    bool unreadable;        /* an entry's key cannot be read; never if `recorded` */
    bool anything;          /* any row may have changed; never if `recorded` */
    bool recorded;          /* the keys are columns of another table: a truncated one is useless */
    bool full;              /* there is more: continue after the entry below */
    size_t taken;
    int part;
    uint64_t after_xid;
    int64_t after_seq;
    uint64_t due; /* the first of the other captures with entries in the stretch, 0 = none */
};

struct page {
    struct page_look look;
    struct page_stretch stretch;
};

/* Another table whose state is read in each page. */
struct page_other {
    const struct table *table;
    const char *capture; /* its id */
    char oid[16];
    const char *look[4]; /* parameters */
    const char *types;   /* as in page_request; set by the catalogue; null: none */
    struct page_look found;
};

struct page_request {
    const struct table *table;
    const char *capture;       /* its id; null: nothing is installed */
    const char *columns;       /* columns whose versions are read, as an array; null: all */
    const char *types;         /* types whose fields and labels are read, as an array; null: none */
    const struct position *at; /* the log position whose entries are read; null: none */
    const char *lock;          /* locks all tables that are read; null: only the table is locked */
    bool nowait;               /* fail with 55P03 instead of waiting for the lock */
    const char *entries;       /* the capture whose entries are read; null: the table's */
    const struct unreadable *unreadable; /* characters that keys may contain; null: none */
    const char *due; /* captures that may have entries in the stretch; null: none */
    struct page_other *const *others;
    size_t other_count;
};

/* Leaves the transaction open. After an error its state is unknown (pg_recover). */
int page_open(struct page *out, struct pg *pg, const struct page_request *request,
              struct err *err) MUST_CHECK;
void page_look_release(struct page_look *l);

/* Fills the parameters in; table and capture are borrowed. */
void page_other_set(struct page_other *o, const struct table *table, const char *capture);

/* Reads only the state of the table, in a transaction of its own. */
int page_look_now(struct page_look *out, struct pg *pg, const struct page_request *request,
                  struct err *err) MUST_CHECK;
