/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The window: changes that are read and not yet settled, and the invariants about them, asserted
 * here.
 *
 *   read >= settled >= committed; at most one operation of a key is unsettled;
 *   unsettled bytes <= max_bytes while reading (one operation may exceed it).
 *
 * Pages are numbered from 1 in reading order. A page is reached when it is closed and all
 * operations of it and of the earlier pages are settled. Its position may then become the
 * checkpoint.
 */
#pragma once

#include "core/hashset.h"

#define WINDOW_PAGES 256 /* maximum number of unsettled pages */

struct window_page {
    uint64_t unsettled;
    char *position; /* owned; null: the page does not advance the checkpoint */
    bool closed;
};

struct window {
    size_t max_bytes;
    size_t bytes;
    struct hashset keys;
    struct window_page pages[WINDOW_PAGES];
    uint64_t first;     /* number of the oldest page that is not reached */
    uint64_t next;      /* number of the next page */
    char *reached;      /* owned: the last position that was reached and not taken; null = none */
    size_t uncommitted; /* bytes settled since a reached position was last taken */
    uint64_t read, settled, committed; /* numbers of operations since the start */
};

void window_init(struct window *w, size_t max_bytes);
void window_release(struct window *w);

/* Returns true if nothing more may be read. */
bool window_full(const struct window *w);
/* Returns true if no further page may be opened. */
bool window_pages_full(const struct window *w);
/* Returns true if nothing is unsettled and every page is closed. */
bool window_empty(const struct window *w);

/* Opens the next page and returns its number. Not allowed while window_full. */
uint64_t window_open(struct window *w);
/* Closes a page to further operations. position: copied; null: it does not advance the
 * checkpoint. */
void window_close(struct window *w, uint64_t number, const char *position);

/* Returns true if an operation of this key is unsettled. */
bool window_holds(const struct window *w, uint64_t key_hash);
void window_admit(struct window *w, uint64_t number, uint64_t key_hash, size_t bytes);
/* Replaces the size of a conflicting operation by that of a newer one in the same page. */
void window_replace(struct window *w, size_t old_bytes, size_t new_bytes);
void window_settle(struct window *w, uint64_t number, uint64_t key_hash, size_t bytes);

/* Returns true if no operation of these pages is unsettled. Reached pages count as settled. */
bool window_pages_settled(const struct window *w, uint64_t from, uint64_t to);

/* Returns the number of unsettled operations at or before a reached position: 0, or a bug. */
uint64_t window_unsettled_before_reached(const struct window *w);
/* Returns the last position reached (malloc'ed), or null, and counts it as committed. */
char *window_take_reached(struct window *w);
