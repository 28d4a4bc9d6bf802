/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The source reader: reads pages of the capture one after the other, and recovers if the source
 * goes away in the middle of one.
 *
 * An interrupted page stays open in the window. The source is reopened at the last complete
 * position, and the rows that follow count towards the same page. Keys with a version conflict are
 * read again between pages, unless the next page contains them anyway. The old operation counts as
 * unsettled until the newer one is settled, so that no checkpoint passes it.
 */
#pragma once

#include "core/retry_budget.h"
#include "core/window.h"
#include "rowferry/document/model/version.h"
#include "rowferry/engine/counters.h"
#include "rowferry/engine/port.h"
#include "rowferry/state/store.h"

enum source_reader_state {
    SOURCE_READER_CLOSED,  /* no capture: reopen it when the retry budget allows */
    SOURCE_READER_IDLE,    /* between pages */
    SOURCE_READER_PAGE,    /* in a page */
    SOURCE_READER_DRAINED, /* between pages; the last one contained all that its snapshot could see
                            */
};

/* An operation with a version conflict, to be replaced by a newer read of its key. */
struct again {
    struct span key; /* owned */
    uint64_t page;   /* the page in which it is unsettled */
    size_t bytes;
    bool replaced;
};

/* Operations with a version conflict. */
struct source_reader_again {
    struct again *list; /* owned */
    size_t count;
    size_t reading; /* number of them in the open page; 0: an ordinary page */
};

/* Keys that a request asked to be read. */
struct source_reader_asked {
    struct span *keys; /* owned */
    size_t count;
    size_t reading; /* number of them in the open page */
    uint64_t first; /* first page of the request; 0 = not begun */
    uint64_t last;
    char *error; /* owned: why the source could not read them; null = no error */
};

/* Keys to check for missing rows. */
struct source_reader_missing {
    const struct span *keys; /* borrowed */
    size_t count;
    bool reading; /* the open page reads them */
};

struct source_reader {
    struct source_port source;
    struct state *state;
    struct clock clock;
    struct window *window;
    struct retry_budget *retry_budget;
    const char *consumer;
    char *identity;    /* owned: source identity at the first connection */
    char *fingerprint; /* owned: table fingerprint at the first connection */
    struct capture *capture;
    bool connected; /* the port has a connection that no capture has taken over yet */
    bool opened;    /* this run had a capture before */
    bool unpruned;  /* it was logged that the source is not pruned */
    int64_t loaded; /* operations of the generation that were settled before this run */
    enum source_reader_state reading;
    char *position;  /* owned: where reading resumes after a loss; null before a start */
    uint64_t page;   /* the open page of the window; 0 = none */
    int64_t version; /* version of the open page */
    int64_t read_us; /* wall-clock time at which the version was taken */
    struct version_clock ticks;
    struct source_reader_again again;
    struct source_reader_asked asked;
    struct source_reader_missing missing;
    bool only_asked; /* read only requested keys */
    bool guarded;    /* see source/capture.h */
    uint64_t harmless;
};

/* Initializes the reader of a connected port with its facts. Copies position (may be null) and the
 * facts that must be equal after a lost connection, because the port overwrites its own at the
 * next connect. */
void source_reader_init(struct source_reader *r, const struct source_facts *facts,
                        const char *position, int64_t clock_ceiling);
void source_reader_release(struct source_reader *r);

/* Releases the reserved versions after the last one was taken, so that the next process starts at
 * the current time. A failure is not an error. */
void source_reader_end_ticks(struct source_reader *r);

/* Enables the prescan of stretches of the log with more keys than `harmless`, from the next one on.
 */
void source_reader_guard(struct source_reader *r, bool guarded, uint64_t harmless);

/*
 * Returns the next change; r holds its page and the version it belongs to. Opens the
 * source and begins pages as needed. Handles CHANGE_SAFEPOINT and CHANGE_PAGE and also returns
 * them. Returns CHANGE_WAIT also if the source is unreachable; source_reader_fd is then -1, and the
 * retry budget determines the wait.
 */
int source_reader_next(struct source_reader *r, struct change *change, struct err *err) MUST_CHECK;

/* Returns the descriptor to wait for, or -1. */
int source_reader_fd(const struct source_reader *r);

/* Returns the descriptor of the source's notifications, valid between pages after it was drained;
 * or -1. */
int source_reader_idle_fd(const struct source_reader *r);

/* Called after a drained page. Finds out if another page is due (source_reader_next begins it).
 * Costs a short query unless *any is already set. An unreachable source is not an error:
 * source_reader_next waits for it. */
int source_reader_poll(struct source_reader *r, bool *any, struct err *err) MUST_CHECK;

/* Returns true during the initial load. */
bool source_reader_copies(const struct source_reader *r);

/* Schedules a key to be read again with a newer version. Its operation conflicted with version
 * `seen`. */
void source_reader_again(struct source_reader *r, const struct again *conflict, int64_t seen);

/* Returns true if the change of this key replaces an operation with a version conflict. *conflict
 * is then that operation, removed from the list; its key must not be used. */
bool source_reader_replaces(struct source_reader *r, struct span key, struct again *conflict);

/* Reads these keys next, in a page of their own that reports keys without a row. Borrowed until
 * the page has ended. */
void source_reader_find_missing(struct source_reader *r, const struct span *keys, size_t count);

/* Makes source_reader_next read more although the last page contained everything. */
void source_reader_more(struct source_reader *r);

/* Schedules a key that a request asked for, in pages of its own. Copies the key. */
void source_reader_ask(struct source_reader *r, struct span key);

/* Returns true if the page belongs to the latest request. */
bool source_reader_was_asked(const struct source_reader *r, uint64_t page);

/* Returns true while a page is open, and with it a transaction and a lock on the table. */
static inline bool source_reader_in_page(const struct source_reader *r)
{
    return r->reading == SOURCE_READER_PAGE;
}

/* Gives up the open page and its connection. Changes already read stay; the rest is read again
 * later. */
void source_reader_let_go(struct source_reader *r);

/* Returns true if nothing is left to read: drained, and no key waits to be read again. */
bool source_reader_done(const struct source_reader *r);

/* Called between pages. Returns the holder of the source's watermark, or the number of unread
 * changes (-1: unknown). Returns false if there is no answer now; sets *never if there will be
 * none. */
bool source_reader_ask_xmin_holder(struct source_reader *r, struct xmin_holder *out, bool *never);
bool source_reader_waiting(struct source_reader *r, int64_t *changes, bool *never);

/* Returns true if the open page reads the log rather than requested keys. */
bool source_reader_reads_log(const struct source_reader *r);

/* Called between pages. Drops another consumer of ours for good. A failure is not an error: the
 * next `check` reports who keeps entries. */
bool source_reader_forget_consumer(struct source_reader *r, const char *consumer);

/* Called between pages. Reports the checkpoint and the open dead letters to the source; now: do
 * not postpone it. A failure is not an error. */
void source_reader_release_source(struct source_reader *r, const char *position,
                                  const char *letters, bool now);
