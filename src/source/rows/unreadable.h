/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows that the server cannot hand out: a text in them has a character of the database's encoding
 * that UTF8 does not have (0x81 of WIN1252), and the statement that meets one fails as a whole.
 *
 * The failure names the character. From then on each statement has the server say of every row
 * whether it holds one that is known, and such a row comes without its values.
 */
#ifndef ROWFERRY_SOURCE_UNREADABLE_H
#define ROWFERRY_SOURCE_UNREADABLE_H

#include "rows/reader.h"

struct unreadable {
    char known[32 * 1024]; /* such characters, each as hexadecimal digits between blanks */
    char words[96];        /* why a row of them is refused */
};

/* Of a failure whose transaction is over: whether it met a character that was not known, so that
 * reading again gets further. Asks the server. */
bool unreadable_learn(struct unreadable *u, struct pg *pg, const struct err *why) MUST_CHECK;

/* After reader_next failed: both. Then the page's transaction is over. */
bool unreadable_end(struct unreadable *u, struct reader *r, const struct err *why) MUST_CHECK;

/* Appends a statement that reads entries of the log (page_newer), in which a key that cannot be
 * read is NULL and its entry's letter UNREADABLE_ENTRY. */
#define UNREADABLE_ENTRY 'X'
void unreadable_push_entries(struct buf *out, const struct unreadable *u, const char *sql);

/* reader_send of a statement whose first column is a key's text and whose next `columns` ones are a
 * row's values. */
int unreadable_send(const struct unreadable *u, struct reader *r, struct reader_form form,
                    size_t columns, const char *sql, const char *const *params, size_t count,
                    struct err *err) MUST_CHECK;

/* Makes of what came the row of `columns` columns that was asked for. One that cannot be read says
 * so, its values are NULL, and its key is where that is what cannot be read. */
void unreadable_take(const struct unreadable *u, size_t columns, struct row *row);

#endif
