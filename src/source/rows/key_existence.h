/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which keys of a page have a row: asked in the cheapest way that is left.
 *
 * COUNT: how many rows there are within runs of integers; a few descents of an index. As many as
 * keys: each has its row, and nothing else has to be known; else RUNS: the rows' keys within them.
 * LIST: the rows' keys, by the keys as values of their type. TEXT: by the key's text, which reads
 * the whole table, where the page holds a text that is no value of the type: a document that some
 * other hand wrote, and a key without a row like any other. The caller asks again in the next way
 * while presence_again says so.
 */
#ifndef ROWFERRY_SOURCE_KEY_EXISTENCE_H
#define ROWFERRY_SOURCE_KEY_EXISTENCE_H

#include "rows/keyset.h"
#include "rows/reader.h"
#include "rows/rowsql.h"

enum presence_way { PRESENCE_COUNT, PRESENCE_RUNS, PRESENCE_LIST, PRESENCE_TEXT };

struct presence {
    enum presence_way way;
    uint64_t asked; /* COUNT: keys, */
    uint64_t found; /* and rows */
};

/* Before that, where the rows are the table's: a page of keys is always looked up in their index.
 * Where rows are narrow the planner would rather read all of them, with several processes. */
int presence_plan(struct pg *pg, struct err *err) MUST_CHECK;

/* Sends the statement of the way, or of a later one where that one cannot be gone. */
int presence_send(struct presence *p, struct reader *r, const struct rowsql *sql,
                  struct keyset *keys, size_t parts, struct err *err) MUST_CHECK;

/* A row of COUNT. */
void presence_take(struct presence *p, const struct row *row);

/* The statement has ended well: true where the keys are marked, else the next way is due. */
bool presence_end(struct presence *p, struct keyset *keys);

/* The statement failed: true where the next way may do better; the transaction has ended then. */
bool presence_again(struct presence *p, struct reader *r, struct keyset *keys,
                    const struct err *err);

#endif
