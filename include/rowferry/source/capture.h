/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The capture: how changes are found. The engine's port to the source.
 *
 * Reading goes in pages. A page is one read: one transaction, one snapshot, bounded in size. The
 * engine takes a version tick, calls begin, then next until the page ends; each change is an
 * operation of that version. When all operations of a page and of those before it are settled, the
 * page's position may become the checkpoint; resume at that position gives everything after it.
 *
 *     start | resume  ->  ( begin -> next* until CHANGE_PAGE )*
 *
 * Within a page CHANGE_MARK says that what came before it may be settled by itself: a crash then
 * repeats what is unsettled, and not the page. Settling up to a mark reaches the mark's position.
 *
 * A window of the log whose deletes might be too many is looked through before any of it is handed
 * out, where the capture is guarded: its pages come with CHANGE_FORESEEN for each key without a row
 * and nothing else, then comes CHANGE_JUDGE, and with the next begin the window itself, up to where
 * the look ahead came. A TRUNCATE ends the look at once, and is told in any case: what it removed
 * is for the index to say. So are a member that left and its rows, before the next page.
 *
 * A first load is the same walk: its positions are those of the copy ("where the copy stands, and
 * the position of the log noted before it began"), then those of the log. Positions are text,
 * opaque outside the capture that wrote them.
 *
 * Implementations: the change log (source/changelog/changelog.h), the cursor
 * (source/cursor/cursor.h), and the simulation's.
 */
#ifndef ROWFERRY_SOURCE_CAPTURE_H
#define ROWFERRY_SOURCE_CAPTURE_H

#include "rowferry/base/buf.h"
#include "rowferry/base/err.h"
#include "rowferry/base/text.h"
#include "rowferry/document/model/row.h"
#include "rowferry/source/catalog/xmin_holder.h"

enum change_kind {
    CHANGE_WAIT,     /* nothing yet: wait until fd is readable, then call next again */
    CHANGE_ROW,      /* a row as it is now: an upsert */
    CHANGE_GONE,     /* a key without a row: a delete */
    CHANGE_FORESEEN, /* the same, in a look ahead: nothing is to be sent for it yet */
    CHANGE_MARK,     /* the page goes on; all before is complete by itself */
    CHANGE_PAGE,     /* the page has ended; call begin for the next */
    CHANGE_JUDGE,    /* the same, and with it a look ahead at the rest of a window */
};

struct change {
    enum change_kind kind;
    struct span key;      /* ROW, GONE, FORESEEN: the key's text; borrowed until the next call */
    bool key_null;        /* ROW: a part of the key is NULL: it can only be a dead letter */
    struct row row;       /* ROW: borrowed until the next call */
    const char *position; /* MARK, PAGE: reached when all before is settled; borrowed until the next
                             call */
    bool copying;         /* PAGE: the page was part of a first load's copy */
    bool drained;         /* PAGE: it held the last of what its snapshot could see */
    bool ahead;           /* PAGE: of a look ahead; its position is null */
    bool whole;           /* PAGE: a window ends with it, or it is none of a window */
    bool truncated;       /* JUDGE: the table was truncated within the window */
    bool left;            /* JUDGE: a member is no longer part of the table, nor are its rows */
    bool again; /* JUDGE: everything was copied again: what went meanwhile is to be found */
};

/* How far a copy is, for people. */
struct capture_progress {
    int64_t rows_estimated; /* of the whole table; -1 unknown */
    int64_t rows_read;      /* by the copy, over all runs as far as known */
    double share;           /* 0 to 1 of the copy; 1 after it */
};

/* What the source keeps of a state file, so that one that is lost costs nothing. */
struct mirror {
    const char *position; /* of the checkpoint */
    int64_t clock;        /* the versions' durable ceiling */
    const char *letters;  /* the open dead letters, as one text */
};

/* The same read back; the texts are owned by who asked. */
struct mirrored {
    bool usable;    /* reading can go on from there */
    struct err why; /* it is not */
    int order;      /* against the position that was asked with: above 0 where it is ahead */
    char *position;
    int64_t clock;
    char *letters;
};

struct capture;

struct capture_ops {
    /* A pipeline without a position: registers it with the source, notes where the log stands and
     * gives the position at which a copy of everything begins. */
    int (*start)(struct capture *c, struct buf *position, struct err *err);

    /* Goes on at a position of this capture. ERR_STATE where it cannot (not a position of this
     * source any more: restored, pruned, table rewritten by another definition). */
    int (*resume)(struct capture *c, const char *position, struct err *err);

    /* Begins the next page; may wait for short answers of the source. After an error the capture
     * must be resumed before it is used again. */
    int (*begin)(struct capture *c, struct err *err);

    /* Begins a page that reads these keys again (rows, and GONE for those without one); its
     * position is null: settling it reaches nothing. The keys are copied. Works without start or
     * resume too: a look at some rows that leaves no trace in the source. only_gone: rows are not
     * told, which costs the server less. */
    int (*begin_keys)(struct capture *c, const struct span *keys, size_t count, bool only_gone,
                      struct err *err);

    /* The next change of the page; never waits. */
    int (*next)(struct capture *c, struct change *change, struct err *err);

    /* The descriptor to wait for after CHANGE_WAIT; and between pages that were drained, where it
     * gets readable when the source calls (or has ended the connection). */
    int (*fd)(const struct capture *c);

    void (*progress)(const struct capture *c, struct capture_progress *out);

    /* Tells the source where the checkpoint stands, so that it may forget what lies behind, and
     * keep the rest in case that the state file is lost. Called between pages, after the position
     * and the letters are durable. One before an earlier call is not told. now: do not put it off.
     */
    int (*release)(struct capture *c, const struct mirror *mirror, bool now, struct err *err);

    /* Another consumer of ours is gone for good: what only it needed may be forgotten. ERR_HELD
     * where somebody works as it. Between pages. */
    int (*forget)(struct capture *c, const char *consumer, struct err *err);

    void (*free)(struct capture *c);

    /* After a drained page: whether the next one may hold anything. One short question, which
     * leaves unseen what changes the table without an entry: begin a page now and then all the
     * same. Null: only a page can tell. */
    int (*news)(struct capture *c, bool *any, struct err *err);

    /* Between pages: how many changes are there that no page has handed out yet, about; a short
     * question, of a long queue an estimate. Null: it cannot be told. */
    int (*waiting)(struct capture *c, int64_t *changes, struct err *err);

    /* Between pages: who holds the source's watermark. A short question. Null: nobody can. */
    int (*hold)(struct capture *c, struct hold *out, struct err *err);
};

struct capture {
    const struct capture_ops *ops;
    const char *again; /* after resume: why everything is read again in place; null: it goes on */
    const char *unpruned; /* why the source refused to forget what was read; null: it did not */
    bool wiser; /* after begin or next failed with ERR_TRANSIENT: nothing is away, and this capture
                   resumed gets further */
    bool guarded;      /* set by who uses it: windows of more keys than */
    uint64_t harmless; /* this are looked through first */
};

#endif
