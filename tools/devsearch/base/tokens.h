/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Approximation of the standard analyzer: words of letters and digits, in lower case. The same
 * function serves the text index, the queries and _analyze.
 */
#pragma once

#include "base/answer.h"

struct sqlite3;

struct word {
    struct span text; /* lower case; borrowed until the next word */
    size_t start;     /* byte offset */
    size_t end;
    bool number;
};

struct words {
    struct span bytes;
    size_t at;
    struct buf lower;
};

void words_init(struct words *w, struct span bytes);
void words_release(struct words *w);

/* Returns the next word; false at the end. */
bool words_next(struct words *w, struct word *word);

/* Registers FTS5's tokenizer "standard"; returns SQLite's result code. */
int tokens_register(struct sqlite3 *db);
