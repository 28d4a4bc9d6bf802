/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The blocks of a page of the manual, and a reader who follows its instructions.
 *
 * A comment in the lines directly above a block's fence is for the tests alone:
 *
 *     <!-- test: after SHELL -->    SHELL is run before the block ($ADMIN_URL: a superuser's)
 *     <!-- test: not here, WHY -->  the block is parsed, but not run
 *     <!-- test: ends with N -->    exit code of each of its commands
 */
#pragma once

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
    char *cut;  /* a copy, split into blocks */
    struct page_block blocks[PAGE_BLOCKS_MOST];
    size_t count;
};

void page_read(struct page *p, const char *path);
void page_release(struct page *p);

/* Returns the rest of the comment above the block that begins with these words (may be ""), or
 * null. The caller frees it. */
char *page_told(const struct page_block *block, const char *words);

/* Returns the next command of a block, its lines joined, and steps *at behind it; null at the end.
 * Comments are skipped. */
char *page_command(char **at);

#define READER_PASSWORD "canary-reader"

/* A reader with rowferry on the path, a role that owns the tables and may create a schema in its
 * database, and $DATABASE_URL, $SEARCH_URL, $PGPASSWORD and $ROWFERRY_API_KEY. */
struct reader {
    const char *folder;
    char *role;
    char *uri;
    char *settings[6];
};

void reader_enter(struct reader *r, const struct world *w, const char *folder);
void reader_leave(struct reader *r);

/* Runs a command in the folder, as a user would type it; the caller releases the result. */
void reader_run(const struct reader *r, const char *command, struct program_result *result);

/* Runs a command that ends only on a signal, which is sent after it has written the text. */
void reader_run_until(const struct reader *r, const char *command, const char *text,
                      struct program_result *result);
