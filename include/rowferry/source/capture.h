/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The capture: the engine's interface to the source, which finds changes.
 *
 * Changes are read in pages. A page is one read: one transaction, one snapshot, bounded in size.
 * The engine takes a version, calls `begin`, then `next` until the page ends. Each change is an
 * operation with that version. When all operations of this page and of earlier pages are settled,
 * the page's position may become the checkpoint. Resuming at a position yields everything after it.
 *
 *     start | resume  ->  ( begin -> next* until CHANGE_PAGE )*
 *
 * CHANGE_SAFEPOINT is a safepoint within a page: the changes before it may be settled separately,
 * and then its position is reached. After a crash only unsettled changes are repeated, not the
 * page.
 *
 * If `guarded` is set, a stretch of the log with more than `harmless` keys is prescanned before any
 * of it is delivered. The pages of the prescan contain only CHANGE_PRESCAN_DELETE, one for each key
 * without a row. After CHANGE_PRESCAN_END the next `begin` returns to the start of the stretch,
 * which is delivered up to the end of the prescan. A TRUNCATE ends the prescan at once and is
 * reported even if the capture is not guarded; only the index knows which documents it affects. A
 * member that left the table is also reported before the next page.
 *
 * An initial load is read in the same way. Its positions contain the progress of the load and the
 * position of the log before the load; later positions are those of the log. Positions are text,
 * opaque to all but the capture that wrote them.
 *
 * Implementations: the change log (source/changelog/changelog.h), the cursor
 * (source/cursor/cursor.h), and the one of the simulation.
 */
#pragma once

#include "rowferry/base/buf.h"
#include "rowferry/base/err.h"
#include "rowferry/base/text.h"
#include "rowferry/document/model/row.h"
#include "rowferry/source/catalog/xmin_holder.h"

enum change_kind {
    CHANGE_WAIT,           /* nothing yet: wait until fd is readable, then call next again */
    CHANGE_UPSERT,         /* the current content of a row */
    CHANGE_DELETE,         /* a key without a row */
    CHANGE_PRESCAN_DELETE, /* the same, found by a prescan; nothing must be sent for it */
    CHANGE_SAFEPOINT,      /* the changes before it are complete, and the page continues */
    CHANGE_PAGE,           /* end of the page; call begin for the next one */
    CHANGE_PRESCAN_END,    /* end of the page and of a prescan */
};

struct change {
    enum change_kind kind;

    /* UPSERT, DELETE, PRESCAN_DELETE */
    struct span key; /* its text; borrowed until the next call, as is the row */
    struct row row;  /* UPSERT */
    bool key_null;   /* UPSERT: a part of the key is NULL, so the row can only be a dead letter */
    bool key_cut;    /* only the beginning of a key that is too long for any document */

    /* SAFEPOINT, PAGE: reached when all before it is settled; borrowed until the next call; null
     * after a prescan and after requested keys */
    const char *position;

    /* PAGE */
    bool copying; /* it was part of an initial load */
    bool drained; /* its snapshot contains no further changes */
    bool ahead;   /* it was part of a prescan */
    bool whole;   /* it ends a stretch of the log, or was not part of one */

    /* PRESCAN_END: its reason, if not the end of the stretch */
    bool truncated; /* the table was truncated */
    bool left;      /* a member has left the table, and its rows with it */
    bool again;     /* a re-snapshot is complete; rows deleted in between must be found */
};

/* Progress of an initial load, for people. */
struct capture_progress {
    int64_t rows_estimated; /* of the whole table; -1 if unknown */
    int64_t rows_read;      /* by the load, over all runs as far as known */
    double share;           /* of the load, 0 to 1; 1 after it */
};

/* Checkpoint backup in the source, which makes the loss of the state file harmless. */
struct mirror {
    const char *position; /* of the checkpoint */
    int64_t clock;        /* durable upper limit of the versions */
    const char *letters;  /* the open dead letters, as one text */
};

/* A checkpoint backup that was read back. The caller owns the texts. */
struct mirrored {
    bool usable;    /* reading can continue at `position` */
    struct err why; /* why it is not usable */
    int order;      /* compared with the caller's position: above 0 if the backup is ahead */
    char *position;
    int64_t clock;
    char *letters;
};

struct capture;

struct capture_ops {
    /* For a pipeline without a position: registers the consumer with the source, records the
     * position of the log and returns the position at which an initial load begins. */
    int (*start)(struct capture *c, struct buf *position, struct err *err);

    /* Continues at a position of this capture. Returns ERR_STATE if the position is not valid any
     * more: the source was restored, the log was pruned, or the definition of the table changed. */
    int (*resume)(struct capture *c, const char *position, struct err *err);

    /* Begins the next page; may wait for short replies of the source. After an error the capture
     * must be resumed before it is used again. */
    int (*begin)(struct capture *c, struct err *err);

    /* Begins a page that reads the given keys again: their rows, and CHANGE_DELETE for keys without
     * a row.
     * Its position is null, because it advances nothing. The keys are copied. It also works without
     * start or resume and then leaves no trace in the source. If `only_gone` is set, rows are left
     * out, which is cheaper for the server. */
    int (*begin_keys)(struct capture *c, const struct span *keys, size_t count, bool only_gone,
                      struct err *err);

    /* Returns the next change of the page; never waits. */
    int (*next)(struct capture *c, struct change *change, struct err *err);

    /* Returns the descriptor to wait for after CHANGE_WAIT. After a drained page it becomes
     * readable when the source sends a notification or has ended the connection. */
    int (*fd)(const struct capture *c);

    void (*progress)(const struct capture *c, struct capture_progress *out);

    /* Reports the checkpoint to the source, which may then prune older entries and stores the
     * checkpoint backup. Called between pages, after the position and the dead letters are durable.
     * A position before that of an earlier call is ignored. now: do not defer. */
    int (*release)(struct capture *c, const struct mirror *mirror, bool now, struct err *err);

    /* Removes another of our consumers for good, with the entries that only it needed. Returns
     * ERR_HELD if a session works as that consumer. Call it between pages. */
    int (*forget)(struct capture *c, const char *consumer, struct err *err);

    void (*free)(struct capture *c);

    /* After a drained page: finds out with one short query if the next page may have changes. It
     * does not notice changes of the table that have no log entry, so begin a page from time to
     * time anyway. Null if only a page can find out. */
    int (*news)(struct capture *c, bool *any, struct err *err);

    /* Between pages: counts the changes that no page has delivered yet. A short query; the result
     * is an estimate if the queue is long. Null if the count is unavailable. */
    int (*waiting)(struct capture *c, int64_t *changes, struct err *err);

    /* Between pages: finds the xmin holder with a short query. Null if unsupported. */
    int (*hold)(struct capture *c, struct xmin_holder *out, struct err *err);
};

/* Why start, resume, begin or next failed with ERR_TRANSIENT although the source is reachable: the
 * capture gets further after a resume, at once. */
enum capture_adapted {
    CAPTURE_ADAPTED_NOT,
    CAPTURE_ADAPTED_CHARACTER, /* it has learned a character that UTF8 does not have */
    CAPTURE_ADAPTED_MEMBER,    /* a member joined the table, and gets triggers and entries */
    CAPTURE_ADAPTED_MISSED,    /* changes may have been missed: an opening finds out what follows */
};

struct capture {
    const struct capture_ops *ops;
    const char *again;    /* after resume: reason for a re-snapshot in place; null if not needed */
    const char *unpruned; /* why the source refused to prune read entries; null if it did not */
    enum capture_adapted adapted;
    bool guarded;      /* set by the engine: prescan stretches of the log with more keys than */
    uint64_t harmless; /* this limit */
};
