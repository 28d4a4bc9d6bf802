/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Snapshot ranges: the unread rest of an initial load, in parts that several snapshot workers take.
 * These are the ranges in progress, and for a load by blocks also the blocks after them. Pure.
 */
#ifndef ROWFERRY_SOURCE_SNAPSHOT_RANGES_H
#define ROWFERRY_SOURCE_SNAPSHOT_RANGES_H

#include "changelog/position.h"

#define PARTS_NONE SIZE_MAX

struct part {
    struct copy_range range;
    bool taken;
    bool done;
};

struct parts {
    enum position_kind kind; /* LOG: no initial load, or complete */
    uint32_t filenode;       /* BLOCKS */
    uint64_t block;          /* first block that is not in items yet */
    uint64_t blocks;
    struct part *items; /* each keeps its index until drop_done */
    size_t count;
};

void parts_release(struct parts *p);

/* Sets the ranges to those of a position; none is taken. */
void parts_set(struct parts *p, const struct position *at);

/* Divides the only range, which is one of keys, after these values. */
void parts_divide(struct parts *p, const char *const *values, size_t count);

/* Returns the index of a range that is not taken, else of a new range of the next `most` blocks. If
 * nothing is left, returns PARTS_NONE, or an empty range if nothing_too. */
size_t parts_take(struct parts *p, uint64_t most, bool nothing_too);
void parts_give_back(struct parts *p, size_t part);

/* Makes a position of this range alone, for its worker. */
void parts_position(const struct parts *p, size_t part, const char *last, struct position *out);

/* Records how far the range was read; LOG: to its end. */
void parts_move(struct parts *p, size_t part, const struct position *to);

/* Appends the position of the load. `last` is the snapshot from which the log is read afterwards.
 * Returns false if the load is complete. */
bool parts_print(const struct parts *p, const char *last, struct buf *out);

/* Removes the finished ranges and marks the others as not taken. */
void parts_drop_done(struct parts *p);

uint64_t parts_blocks_left(const struct parts *p);

#endif
