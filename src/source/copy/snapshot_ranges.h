/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a copy has still to read, in parts that several readers take: ranges that were begun, and of
 * a copy by blocks the rest behind them. Pure.
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
    enum position_kind kind; /* LOG: there is no copy, or no more */
    uint32_t filenode;       /* BLOCKS */
    uint64_t block;          /* where the rest begins that is not in parts */
    uint64_t blocks;
    struct part *items; /* each keeps its index until drop_done */
    size_t count;
};

void parts_release(struct parts *p);

/* As the position says; nothing is taken. */
void parts_set(struct parts *p, const struct position *at);

/* Divides the only part, of keys, after these values. */
void parts_divide(struct parts *p, const char *const *values, size_t count);

/* The index of a part that nobody has taken, else of the next `most` blocks; PARTS_NONE where
 * nothing is left, unless nothing is to be read as well. */
size_t parts_take(struct parts *p, uint64_t most, bool nothing_too);
void parts_give_back(struct parts *p, size_t part);

/* The part alone, for who reads it. */
void parts_position(const struct parts *p, size_t part, const char *last, struct position *out);

/* Reading the part has come to there; LOG: to its end. */
void parts_move(struct parts *p, size_t part, const struct position *to);

/* Appends where the copy stands, `last` being the snapshot from which the log is read after it;
 * false where the copy is over. */
bool parts_print(const struct parts *p, const char *last, struct buf *out);

/* Forgets what is done; nothing is taken. */
void parts_drop_done(struct parts *p);

uint64_t parts_blocks_left(const struct parts *p);

#endif
