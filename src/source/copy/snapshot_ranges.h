/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Snapshot ranges: the unread rest of an initial load, in parts that several snapshot workers take.
 * These are the ranges in progress, and for a load by blocks also the blocks after them. Pure.
 */
#pragma once

#include "changelog/position.h"

#define SNAPSHOT_RANGES_NONE SIZE_MAX

struct snapshot_range {
    struct copy_range range;
    bool taken;
    bool done;
};

struct snapshot_ranges {
    enum position_kind kind; /* LOG: no initial load, or complete */
    uint32_t filenode;       /* BLOCKS */
    uint64_t block;          /* first block that is not in items yet */
    uint64_t blocks;
    struct snapshot_range *items; /* each keeps its index until drop_done */
    size_t count;
};

void snapshot_ranges_release(struct snapshot_ranges *p);

/* Sets the ranges to those of a position; none is taken. */
void snapshot_ranges_set(struct snapshot_ranges *p, const struct position *at);

/* Divides the only range, which is one of keys, after these values. */
void snapshot_ranges_divide(struct snapshot_ranges *p, const char *const *values, size_t count);

/* Returns the index of a range that is not taken, else of a new range of the next `most` blocks. If
 * nothing is left, returns SNAPSHOT_RANGES_NONE, or an empty range if nothing_too. */
size_t snapshot_ranges_take(struct snapshot_ranges *p, uint64_t most, bool nothing_too);

/* Makes a position of this range alone, for its worker. */
void snapshot_ranges_position(const struct snapshot_ranges *p, size_t part, const char *last,
                              struct position *out);

/* Records how far the range was read; LOG: to its end. */
void snapshot_ranges_move(struct snapshot_ranges *p, size_t part, const struct position *to);

/* Appends the position of the load. `last` is the snapshot from which the log is read afterwards.
 * Returns false if the load is complete. */
bool snapshot_ranges_print(const struct snapshot_ranges *p, const char *last, struct buf *out);

/* Removes the finished ranges and marks the others as not taken. */
void snapshot_ranges_drop_done(struct snapshot_ranges *p);

uint64_t snapshot_ranges_blocks_left(const struct snapshot_ranges *p);
