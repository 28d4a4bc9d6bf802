/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The consumer's row in the source: it keeps the entries that are still needed, and mirrors the
 * position in case that the server loses what it had not made durable.
 */
#ifndef ROWFERRY_SOURCE_CONSUMER_H
#define ROWFERRY_SOURCE_CONSUMER_H

#include <stdbool.h>

#include "changelog/page.h"
#include "changelog/position.h"
#include "rowferry/source/capture.h"
#include "rowferry/source/pg/pg.h"

struct consumer {
    struct pg *pg;          /* borrowed: where rows are written */
    struct pg *standby;     /* borrowed: its standby that is read from; null: none */
    const char *name;       /* borrowed */
    const char *capture;    /* borrowed: the id as text */
    bool known;             /* there is a row */
    struct position mirror; /* what the source knows */
    char *triggers;         /* on which the position relies; null until the row is read */
    char *definition;       /* of the table, as the index was begun with */
    char *versions;         /* of its columns in the catalogue */
    uint32_t filenode;      /* of the table */
    uint64_t life;          /* of the server: another one after each start and each recovery */
    uint32_t database;      /* its oid */
    bool keeps;             /* entries are there that only the mirror's age keeps */
    bool more;              /* pruning has more to do */
    char *unpruned;         /* why the server refused the last pruning; null: it did not */
    uint64_t horizon;       /* of the pruning */
    uint64_t timeline;      /* of the server */
    uint64_t next;          /* the server's next transaction */
    bool expired;           /* it was absent for too long: nothing was kept for it */
    uint64_t since;         /* the transaction that wrote the row; 0: unknown */
    char *written;          /* when the row was written */
    int64_t clock;          /* of the mirror; 0: there is nothing to take over */
    int64_t letters_sum;    /* of the mirror's dead letters */
};

void consumer_release(struct consumer *c);

/* Both connections for a source. */
int consumer_connect(struct consumer *c, struct pg *source, struct err *err) MUST_CHECK;

/* Writes the row as of now, and reads it back: from then on the log keeps what is needed. From a
 * standby it is read back when it has arrived there; ERR_TRANSIENT where that takes long: the next
 * try finds it then, and writes none where it says the same. */
int consumer_register(struct consumer *c, const struct page_look *look, struct err *err) MUST_CHECK;

/* Reads the row, where it is known. What it relies on is read where the table is: a standby may be
 * behind its primary. */
int consumer_look(struct consumer *c, struct err *err) MUST_CHECK;

/* Whether the table is stored elsewhere, or its columns have other versions, than the row says.
 * ALTER TABLE that writes the rows anew, without a trigger, does both; VACUUM FULL and CLUSTER only
 * the first, a new default only the second. */
enum consumer_news { CONSUMER_SAME, CONSUMER_MOVED, CONSUMER_REWRITTEN };
enum consumer_news consumer_news(const struct consumer *c, const struct page_look *look);

/* Writes both as they are now. */
int consumer_note(struct consumer *c, const struct page_look *look, struct err *err) MUST_CHECK;

/* Columns (an array's text) of the table that are mapped from now on, and the types that they are
 * made of as table_types tells them: the row's definition has them as they are now. */
int consumer_extend(struct consumer *c, uint32_t table, const char *columns, const char *types,
                    struct err *err) MUST_CHECK;

/* These members are left, of those that were noted. */
int consumer_leave(struct consumer *c, const char *left, struct err *err) MUST_CHECK;

/* Writes position, clock and letters (null: as they were), durably, unless that would be backwards;
 * then prunes. ERR_TRANSIENT where the row has gone or has expired: resuming tells what follows. */
int consumer_mirror(struct consumer *c, const struct position *p, int64_t clock,
                    const char *letters, struct err *err) MUST_CHECK;
int64_t consumer_letters_sum(const char *letters);

/* Nobody can go on from this position: a lost state file is to build its index anew. */
int consumer_spoil(struct consumer *c, struct err *err) MUST_CHECK;

/* Forgets the consumer and its rows for the tables that its query depends on. */
int consumer_drop(struct consumer *c, struct err *err) MUST_CHECK;

/* What the row holds for who has lost the state file; not usable where it holds nothing. */
int consumer_mirrored(struct pg *pg, const char *consumer, struct mirrored *out,
                      struct err *err) MUST_CHECK;

/* Forgets on what the row relies. */
void consumer_forget(struct consumer *c);

/* Says that it is here; *expired where it had been absent for too long. */
int consumer_attend(struct consumer *c, bool *expired, struct err *err) MUST_CHECK;

/* Absent consumers of the capture that nothing is kept for any more: after so long, or once the log
 * takes so much; 0: no limit. */
struct retain {
    int64_t age_ms;
    int64_t size;
};
int consumer_expire(struct consumer *c, const struct retain *retain, struct err *err) MUST_CHECK;

/* Removes entries that nobody needs any more, in small batches, for about so long. If the server
 * refuses that, nothing is lost but space: 0, and `unpruned` says why. */
#define CONSUMER_PRUNE_MS 100 /* between two polls */
int consumer_prune(struct consumer *c, int64_t most_ms, struct err *err) MUST_CHECK;

#endif
