/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The blocks of a page of the manual, and somebody who does as it says.
 *
 * A comment in the lines directly above a block's fence is for the tests alone:
 *
 *     <!-- test: after SHELL -->    SHELL is run before the block ($ADMIN_URL: a superuser's)
 *     <!-- test: not here, WHY -->  the block is read, and not run
 *     <!-- test: ends with N -->    each of its commands does
 */
#ifndef ROWFERRY_TESTS_PAGE_H
#define ROWFERRY_TESTS_PAGE_H

#include <stdbool.h>
#include <stddef.h>

#include "world.h"

#define PAGE_BLOCKS_MOST 64

struct page_block {
    const char *heading; /* the nearest one above, without its #; "": none */
    const char *language;
    const char *tests; /* the lines of comments above it; "": none */
    char *text;        /* may be changed */
    int line;
};

struct page {
    const char *path;
    char *text; /* of the whole page */
    char *cut;  /* the same, in blocks */
    struct page_block blocks[PAGE_BLOCKS_MOST];
    size_t count;
};

void page_read(struct page *p, const char *path);
void page_release(struct page *p);

/* What a comment above the block says behind these words, "" at least; null: nothing. The caller
 * frees it. */
char *page_told(const struct page_block *block, const char *words);

/* The next command of a block, its lines joined, and *at behind it; null at its end. Comments are
 * passed over. */
char *page_command(char **at);

#define READER_PASSWORD "canary-reader"

/* Somebody with rowferry on the path, a role that owns the tables and may make a schema in its
 * database, and $DATABASE_URL, $SEARCH_URL, $PGPASSWORD and $ROWFERRY_API_KEY. */
struct reader {
    const char *folder;
    char *role;
    char *uri;
    char *settings[6];
};

void reader_enter(struct reader *r, const struct world *w, const char *folder);
void reader_leave(struct reader *r);

/* As a person types it, in the folder; result is for the caller to release. */
void reader_run(const struct reader *r, const char *command, struct program_result *result);

/* One that ends when it is told to, once it has said the text. */
void reader_run_until(const struct reader *r, const char *command, const char *text,
                      struct program_result *result);

#endif
