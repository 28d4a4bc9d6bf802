/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The window: what is read and not yet settled, and the laws about it, asserted here.
 *
 *     read >= settled >= committed; of one key at most one operation is unsettled;
 *     unsettled bytes <= max_bytes when reading goes on (one operation may pass it).
 *
 * Pages are numbered from 1 in the order in which they are read. A page is reached when it is
 * closed and all its operations and those of the pages before it are settled; its position may then
 * become the checkpoint.
 */
#ifndef ROWFERRY_ENGINE_WINDOW_H
#define ROWFERRY_ENGINE_WINDOW_H

#include "pipeline/hashset.h"

#define WINDOW_PAGES 256 /* unsettled pages at a time */

struct page {
    uint64_t unsettled;
    char *position; /* owned; null: settling it reaches nothing */
    bool closed;
};

struct window {
    size_t max_bytes;
    size_t bytes;
    struct hashset keys;
    struct page pages[WINDOW_PAGES];
    uint64_t first;     /* number of the oldest page that is not reached */
    uint64_t next;      /* number of the next page */
    char *reached;      /* owned: the furthest position reached and not taken; null = none */
    size_t uncommitted; /* bytes settled since a reached position was taken */
    uint64_t read, settled, committed; /* operations since the start */
};

void window_init(struct window *w, size_t max_bytes);
void window_release(struct window *w);

/* True where nothing more may be read. */
bool window_full(const struct window *w);
/* True where no further page may be opened. */
bool window_crowded(const struct window *w);
/* True where nothing at all is unsettled and every page is closed. */
bool window_empty(const struct window *w);

/* Opens the next page; returns its number. Not while window_full. */
uint64_t window_open(struct window *w);
/* No more operations of the page will come. position: copied; null: it reaches nothing. */
void window_close(struct window *w, uint64_t number, const char *position);

/* True where an operation of this key is unsettled. */
bool window_holds(const struct window *w, uint64_t key_hash);
void window_admit(struct window *w, uint64_t number, uint64_t key_hash, size_t bytes);
/* An operation that was outrun is replaced by a newer one of other size, in the same page. */
void window_replace(struct window *w, size_t old_bytes, size_t new_bytes);
void window_settle(struct window *w, uint64_t number, uint64_t key_hash, size_t bytes);

/* Whether nothing of these pages is unsettled; pages that are reached are settled. */
bool window_pages_settled(const struct window *w, uint64_t from, uint64_t to);

/* Operations at or before a reached position that are unsettled: 0, or a bug. */
uint64_t window_unsettled_before_reached(const struct window *w);
/* Gives the furthest position reached (malloc'ed), or null; counts it as committed. */
char *window_take_reached(struct window *w);

#endif
