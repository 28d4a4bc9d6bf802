/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The consumer's row in the source. It keeps the entries that are still needed. It also has the
 * checkpoint backup, in case that transactions after it are lost by the server.
 */
#pragma once

#include <stdbool.h>

#include "changelog/page.h"
#include "changelog/position.h"
#include "rowferry/source/capture.h"
#include "rowferry/source/pg/pg.h"

/* The server, as the last look found it. */
struct consumer_server {
    uint64_t life;     /* changes with each start and each recovery */
    uint64_t timeline; /* grows with each promotion; 0: unknown */
    uint64_t next;     /* the next transaction */
    uint32_t database; /* its oid */
};

struct consumer {
    struct pg *pg;          /* borrowed: for writing rows */
    struct pg *standby;     /* borrowed: the standby that is read; null: none */
    const char *name;       /* borrowed */
    const char *capture;    /* borrowed: the id as text */
    bool known;             /* the row exists */
    struct position mirror; /* position of the checkpoint backup */
    char *triggers;         /* of the members, for the position; null until the row is read */
    char *definition;       /* of the table, when the index was begun */
    char *versions;         /* of its columns in the catalog */
    uint32_t filenode;      /* of the table */
    struct consumer_server server;
    bool keeps;          /* entries exist that only the age of the backup keeps */
    bool more;           /* pruning has more to do */
    char *unpruned;      /* why the server refused the last pruning; null if it did not */
    uint64_t horizon;    /* of the pruning */
    bool expired;        /* it was absent for too long, and its entries were pruned */
    uint64_t since;      /* the transaction that wrote the row; 0: unknown */
    char *written;       /* time of writing the row */
    int64_t clock;       /* of the backup; 0: nothing to restore */
    int64_t letters_sum; /* checksum of the backup's dead letters */
};

void consumer_release(struct consumer *c);

/* Sets both connections for a source. */
int consumer_connect(struct consumer *c, struct pg *source, struct err *err) MUST_CHECK;

/* Writes the row for the current state and reads it back; from then on the log keeps the entries.
 * With a standby, it waits until the row has arrived there. If that takes too long, it returns
 * ERR_TRANSIENT; the next try finds the row and does not write it again if it is unchanged. */
int consumer_register(struct consumer *c, const struct page_look *look, struct err *err) MUST_CHECK;

/* Reads the row, if it exists. Definition and triggers come from the server that is read, because a
 * standby may be behind its primary. */
int consumer_look(struct consumer *c, struct err *err) MUST_CHECK;

/* Compares storage and column versions of the table with the row. An ALTER TABLE that rewrites rows
 * without a trigger changes both. VACUUM FULL and CLUSTER change only the first, a new default
 * changes only the second. */
enum consumer_news { CONSUMER_SAME, CONSUMER_MOVED, CONSUMER_REWRITTEN };
enum consumer_news consumer_news(const struct consumer *c, const struct page_look *look);

/* Writes both as they are now. */
int consumer_note(struct consumer *c, const struct page_look *look, struct err *err) MUST_CHECK;

/* Adds to the row's definition the current state of newly mapped columns (an array's text) and of
 * their types (as returned by table_types). */
int consumer_extend(struct consumer *c, uint32_t table, const char *columns, const char *types,
                    struct err *err) MUST_CHECK;

/* Records the remaining members, of those that were recorded. */
int consumer_leave(struct consumer *c, const char *left, struct err *err) MUST_CHECK;

/* Writes position, clock and letters (null: unchanged) durably, unless the position would go
 * backwards; then prunes. Returns ERR_TRANSIENT if the row is missing or has expired; a resume then
 * finds out the consequences. */
int consumer_mirror(struct consumer *c, const struct position *p, int64_t clock,
                    const char *letters, struct err *err) MUST_CHECK;
int64_t consumer_letters_sum(const char *letters);

/* Marks the backup as unusable: after the loss of the state file the index must be built again. */
int consumer_spoil(struct consumer *c, struct err *err) MUST_CHECK;

/* Removes the consumer, and its rows for the tables that its query depends on. */
int consumer_drop(struct consumer *c, struct err *err) MUST_CHECK;

/* Reads the checkpoint backup of the row; not usable if the row has none. */
int consumer_mirrored(struct pg *pg, const char *consumer, struct mirrored *out,
                      struct err *err) MUST_CHECK;

/* Resets the definition and triggers of the row. */
void consumer_forget(struct consumer *c);

/* Marks the consumer as present; sets *expired if it was absent for too long. */
int consumer_attend(struct consumer *c, bool *expired, struct err *err) MUST_CHECK;

/* Expires absent consumers of the capture: after this age, or when the log exceeds this size in
 * bytes; 0: no limit. */
int consumer_expire(struct consumer *c, int64_t age_ms, int64_t max_size,
                    struct err *err) MUST_CHECK;

/* Removes entries that no consumer needs, in small batches, for about most_ms. If the server
 * refuses, only space is lost: it returns 0, and `unpruned` is the reason. */
#define CONSUMER_PRUNE_MS 100 /* between two polls */
int consumer_prune(struct consumer *c, int64_t most_ms, struct err *err) MUST_CHECK;
