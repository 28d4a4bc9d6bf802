/* SPDX-License-Identifier: Apache-2.0 */
/* The invariants of the window. A violation aborts the process; the committed checkpoint is still
 * correct. */
#include "core/window.h"

#include <stdio.h>
#include <stdlib.h>

#include "rowferry/base/text.h"

#define LAW(condition)                                                                             \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            window_broken(#condition);                                                             \
        }                                                                                          \
    } while (0)

static void window_broken(const char *law)
{
    fprintf(stderr, "rowferry: a law of the window is broken: %s\n", law);
    abort();
}

static struct window_page *window_page(struct window *w, uint64_t number)
{
    LAW(number >= w->first && number < w->next);
    return &w->pages[number % WINDOW_PAGES];
}

void window_init(struct window *w, size_t max_bytes)
{
    *w = (struct window){.max_bytes = max_bytes, .first = 1, .next = 1};
    hashset_init(&w->keys);
}

void window_release(struct window *w)
{
    for (uint64_t number = w->first; number < w->next; number++) {
        free(window_page(w, number)->position);
    }
    hashset_release(&w->keys);
    free(w->reached);
}

bool window_pages_full(const struct window *w)
{
    return w->next - w->first >= WINDOW_PAGES;
}

bool window_full(const struct window *w)
{
    return w->bytes >= w->max_bytes || window_pages_full(w);
}

bool window_empty(const struct window *w)
{
    return w->first == w->next && w->read == w->settled;
}

uint64_t window_open(struct window *w)
{
    LAW(w->next - w->first < WINDOW_PAGES);
    w->pages[w->next % WINDOW_PAGES] = (struct window_page){0};
    return w->next++;
}

/* Advances `first` past the pages that are reached. */
static void window_advance(struct window *w)
{
    while (w->first < w->next) {
        struct window_page *page = window_page(w, w->first);
        if (!page->closed || page->unsettled > 0) {
            return;
        }
        if (page->position != NULL) {
            free(w->reached);
            w->reached = page->position;
            page->position = NULL;
        }
        w->first++;
    }
}

void window_close(struct window *w, uint64_t number, const char *position)
{
    struct window_page *page = window_page(w, number);
    LAW(!page->closed);
    page->closed = true;
    page->position = position != NULL ? text_copy(position) : NULL;
    window_advance(w);
}

bool window_holds(const struct window *w, uint64_t key_hash)
{
    return hashset_has(&w->keys, key_hash);
}

void window_admit(struct window *w, uint64_t number, uint64_t key_hash, size_t bytes)
{
    struct window_page *page = window_page(w, number);
    LAW(!page->closed);
    LAW(hashset_add(&w->keys, key_hash));
    page->unsettled++;
    w->bytes += bytes;
    w->read++;
}

void window_replace(struct window *w, size_t old_bytes, size_t new_bytes)
{
    LAW(w->bytes >= old_bytes);
    w->bytes += new_bytes - old_bytes;
}

void window_settle(struct window *w, uint64_t number, uint64_t key_hash, size_t bytes)
{
    struct window_page *page = window_page(w, number);
    LAW(page->unsettled > 0);
    LAW(hashset_remove(&w->keys, key_hash));
    LAW(w->bytes >= bytes);
    page->unsettled--;
    w->bytes -= bytes;
    w->uncommitted += bytes;
    w->settled++;
    LAW(w->read >= w->settled);
    window_advance(w);
}

bool window_pages_settled(const struct window *w, uint64_t from, uint64_t to)
{
    for (uint64_t number = from > w->first ? from : w->first; number <= to; number++) {
        if (w->pages[number % WINDOW_PAGES].unsettled > 0) {
            return false;
        }
    }
    return true;
}

uint64_t window_unsettled_before_reached(const struct window *w)
{
    uint64_t after = 0;
    for (uint64_t number = w->first; number < w->next; number++) {
        after += w->pages[number % WINDOW_PAGES].unsettled;
    }
    return w->read - w->settled - after;
}

char *window_take_reached(struct window *w)
{
    char *reached = w->reached;
    w->reached = NULL;
    if (reached != NULL) {
        w->committed = w->settled;
        w->uncommitted = 0;
    }
    return reached;
}
