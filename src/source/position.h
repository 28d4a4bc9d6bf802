/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Positions of the change log as text: parse, print, compare. Pure.
 *
 *     copy <filenode> <block>/<blocks> from <snapshot>       a copy by block ranges
 *     copy keys nulls|first|after <key> from <snapshot>      a copy by key ranges
 *     log <snapshot>                                         all that the snapshot saw is read
 *     log <last> to <target> after <part> <xid> <seq>        within the window between two
 *     log ... of <capture>                                   there, in another table's entries
 *
 * A snapshot is PostgreSQL's own text, xmin:xmax:xip,xip. A key is escaped so that it is one word.
 */
#ifndef ROWFERRY_SOURCE_POSITION_H
#define ROWFERRY_SOURCE_POSITION_H

#include <stdbool.h>
#include <stdint.h>

#include "rowferry/base/buf.h"
#include "rowferry/base/err.h"

struct snapshot {
    uint64_t xmin;
    uint64_t xmax;
    size_t running; /* transactions in its list */
};

enum position_kind { POSITION_BLOCKS, POSITION_KEYS, POSITION_LOG };
enum key_range { KEY_RANGE_NULLS, KEY_RANGE_FIRST, KEY_RANGE_AFTER };

struct position {
    enum position_kind kind;
    char *last; /* the snapshot whose view of the log is read, or from which it will be replayed */

    uint32_t filenode; /* BLOCKS */
    uint64_t block;    /* the next one */
    uint64_t blocks;

    enum key_range range; /* KEYS */
    char *key;            /* AFTER: the last key read */

    char *target; /* LOG: null outside a window */
    int part;     /* 1 or 2 */
    uint64_t after_xid;
    int64_t after_seq;
    uint64_t of; /* the capture of a dependency; 0: the table's own, which comes first */
};

void position_release(struct position *p);
void position_copy(struct position *to, const struct position *from);

/* ERR_STATE where the text is not a position of a change log. */
int position_parse(struct position *out, const char *text, struct err *err) MUST_CHECK;
void position_print(struct buf *out, const struct position *p);

/* Negative where a is before b. Snapshots of one server are ordered. */
int position_compare(const struct position *a, const struct position *b);

/* False where the text is not a snapshot. */
bool snapshot_parse(struct snapshot *out, const char *text);

#endif
