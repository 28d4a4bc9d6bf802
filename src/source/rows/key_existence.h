/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Key existence check: finds out which keys of a page have a row, in the cheapest way that works.
 *
 * COUNT: counts the rows within runs of integers, with a few index descents. If the number equals
 * that of the keys, each key has its row.
 * RUNS: if not, lists the keys of the rows within the runs.
 * LIST: looks the keys up as values of their type.
 * TEXT: looks them up by the key's text, which reads the whole table. It is needed if the page has
 * a text that is not a valid value of the type, from a document that another program wrote; such a
 * key has no row.
 *
 * If a statement fails and key_existence_again returns true, the caller repeats the check in the
 * next way.
 */
#pragma once

#include "rows/keyset.h"
#include "rows/reader.h"
#include "rows/rowsql.h"

enum key_existence_way {
    KEY_EXISTENCE_COUNT,
    KEY_EXISTENCE_RUNS,
    KEY_EXISTENCE_LIST,
    KEY_EXISTENCE_TEXT
};

struct key_existence {
    enum key_existence_way way;
    uint64_t asked; /* COUNT: number of keys */
    uint64_t found; /* COUNT: number of rows */
};

/* Plans lookups of the table's rows by index; call it first. If rows are narrow, the planner would
 * otherwise read the whole table, with several processes. */
int key_existence_plan(struct pg *pg, struct err *err) MUST_CHECK;

/* Sends the statement of p->way, or of a later way if p->way is impossible. */
int key_existence_send(struct key_existence *p, struct reader *r, const struct rowsql *sql,
                       struct keyset *keys, size_t parts, struct err *err) MUST_CHECK;

/* Takes the row of COUNT. */
void key_existence_take(struct key_existence *p, const struct row *row);

/* Called at the end of the statement. Returns true if the keys are marked, false if the next way
 * must be tried. */
bool key_existence_end(struct key_existence *p, struct keyset *keys);

/* Called after a failed statement. Returns true if the next way may succeed; the transaction has
 * then ended. */
bool key_existence_again(struct key_existence *p, struct reader *r, struct keyset *keys,
                         const struct err *err);
