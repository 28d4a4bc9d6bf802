/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The reading side of a pipeline: pages of the capture, one after the other, and what happens when
 * the source goes away in the middle of one.
 *
 * A page that breaks off stays open in the window: the source is opened again, resumed at the last
 * position that was read to its end, and what comes is counted to the same page. Keys whose
 * operations were outrun by a higher version are read again between pages, or are replaced by the
 * page that reads them anyway; until the newer operation is settled the old one counts as
 * unsettled, so that no checkpoint passes it.
 */
#ifndef ROWFERRY_ENGINE_SOURCE_READER_H
#define ROWFERRY_ENGINE_SOURCE_READER_H

#include "pipeline/retry_budget.h"
#include "pipeline/window.h"
#include "rowferry/document/model/version.h"
#include "rowferry/engine/counters.h"
#include "rowferry/engine/port.h"
#include "rowferry/state/store.h"

enum intake_state {
    INTAKE_CLOSED,  /* no capture: open it again when patience allows */
    INTAKE_IDLE,    /* between pages */
    INTAKE_PAGE,    /* in a page */
    INTAKE_DRAINED, /* between pages, and the last one held all that its snapshot could see */
};

/* An operation that was outrun, and has to be replaced by a newer read of its key. */
struct again {
    struct span key; /* owned */
    uint64_t page;   /* where it counts as unsettled */
    size_t bytes;
    bool replaced;
};

struct intake {
    struct source_port source;
    struct state *state;
    struct clock clock;
    struct window *window;
    struct patience *patience;
    const char *consumer;
    char *identity;    /* owned: what the source was at the first connection */
    char *fingerprint; /* owned: of its table, the same */
    struct capture *capture;
    bool connected; /* the port has a connection that no capture has taken yet */
    bool opened;    /* this run has had a capture before */
    bool unpruned;  /* it was logged that the source is not pruned */
    int64_t loaded; /* operations of the generation that were settled before this run */
    enum intake_state reading;
    char *position;  /* owned: where reading goes on after a loss; null before a start */
    uint64_t page;   /* the open page of the window; 0 = none */
    int64_t version; /* the open page's tick */
    struct version_clock ticks;
    struct again *again;
    size_t again_count;
    struct span *asked; /* owned: keys that a request wants to be read */
    size_t asked_count;
    size_t asking;        /* how many of them the open page reads */
    uint64_t asked_first; /* the pages of the request; 0 = none was begun */
    uint64_t asked_last;
    char *asked_error; /* owned: why the source would not read them; null = it did */
    bool only_asked;   /* nothing else is read */
    bool guarded;      /* see source/capture.h */
    uint64_t harmless;
    const struct span *sift; /* borrowed: keys to be asked for their lack of a row */
    size_t sift_count;
    bool sifting;     /* the open page is of those */
    size_t rereading; /* how many of them the open page reads; 0 = an ordinary page */
};

/* The port is connected, and gave these facts. Copies position (may be null) and what of the facts
 * has to be the same after a loss: the port writes over its own at the next connection. */
void intake_init(struct intake *r, const struct source_facts *facts, const char *position,
                 int64_t clock_ceiling);
void intake_release(struct intake *r);

/* After the last tick, however the run ended: the reserve above it is durable no more, so that the
 * next process begins at the time it is. A failure is not an error. */
void intake_end_ticks(struct intake *r);

/* Windows of more keys than `harmless` are looked through first, from the next one on. */
void intake_guard(struct intake *r, bool guarded, uint64_t harmless);

/*
 * The next change, with the window's page and the version that it belongs to in r. Opens and begins
 * as needed. CHANGE_MARK and CHANGE_PAGE are handled here and returned as news; CHANGE_WAIT also
 * where the source is away (fd is then -1: wait for patience).
 */
int intake_next(struct intake *r, struct change *change, struct err *err) MUST_CHECK;

/* The descriptor to wait for, or -1. */
int intake_fd(const struct intake *r);

/* What the source calls on between pages, once it was drained; or -1. */
int intake_idle_fd(const struct intake *r);

/* After a drained page: whether another one is to be begun (intake_next does it). A short question,
 * unless *any is set already. A source that is away is no error: intake_next waits for it. */
int intake_poll(struct intake *r, bool *any, struct err *err) MUST_CHECK;

/* True during a first load's copy. */
bool intake_copies(const struct intake *r);

/* The operation of this key was outrun by version `seen`: read the key again with a newer tick. */
void intake_again(struct intake *r, const struct again *outrun, int64_t seen);

/* Whether this key's change replaces an operation that was outrun: then *outrun is that one (its
 * key is not to be used) and it is off the list. */
bool intake_replaces(struct intake *r, struct span key, struct again *outrun);

/* These keys are read next, in a page of their own that tells those without a row. Borrowed until
 * it has ended. */
void intake_sift(struct intake *r, const struct span *keys, size_t count);

/* More is to be read though the last page held all that there was. */
void intake_more(struct intake *r);

/* A request wants this key to be read, in pages of its own. Copies the key. */
void intake_ask(struct intake *r, struct span key);

/* Whether the page is one of the request that was asked last. */
bool intake_was_asked(const struct intake *r, uint64_t page);

/* True while a page is open: a transaction, and its lock on the table. */
static inline bool intake_holds(const struct intake *r)
{
    return r->reading == INTAKE_PAGE;
}

/* Gives the open page up, and its connection. What was read of it stays; the rest is read again
 * on another one. */
void intake_let_go(struct intake *r);

/* True where nothing is left to be read: drained, and no key waits to be read again. */
bool intake_done(const struct intake *r);

/* Between pages: who holds the source's watermark, and how many changes are not read yet (-1: not
 * known). False where there is no answer now; *never where there will be none. */
bool intake_hold(struct intake *r, struct hold *out, bool *never);
bool intake_waiting(struct intake *r, int64_t *changes, bool *never);

/* Whether the open page is of the log, and not of keys that were asked for. */
bool intake_reads_log(const struct intake *r);

/* Between pages: another consumer of ours is gone for good. A failure is not an error: the next
 * `check` shows who keeps entries. */
bool intake_forget_consumer(struct intake *r, const char *consumer);

/* Between pages: tells the source how far the checkpoint is, and the open dead letters. now: do not
 * put it off. A failure is not an error. */
void intake_release_source(struct intake *r, const char *position, const char *letters, bool now);

#endif
