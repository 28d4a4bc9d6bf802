/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Handles rows that the server cannot send: a text in them has a character of the database's
 * encoding that UTF8 does not have (0x81 of WIN1252). A statement that reads such a character fails
 * as a whole.
 *
 * The error names the character, which is remembered. All later statements have the server mark
 * rows with a known character, and such rows come without their values.
 */
#pragma once

#include "rowferry/base/buf.h"
#include "rows/reader.h"

struct unreadable {
    char known[32 * 1024]; /* such characters, each as hexadecimal digits between blanks */
    char words[96];        /* reason why such a row is rejected */
};

/* Call it after the transaction has failed with sqlstate_is_untranslatable: asks the server.
 * Returns true if the character was not known yet, so that reading again gets further. */
bool unreadable_learn(struct unreadable *u, struct pg *pg, const struct err *why) MUST_CHECK;

/* Does both after reader_next failed, and ends the page's transaction. */
bool unreadable_end(struct unreadable *u, struct reader *r, const struct err *why) MUST_CHECK;

/* Appends a statement that reads entries of the log (page_newer). If a key cannot be read, it is
 * NULL and the operation of its entry is UNREADABLE_ENTRY. */
#define UNREADABLE_ENTRY 'X'
void unreadable_push_entries(struct buf *out, const struct unreadable *u, const char *sql);

/* Calls reader_send with a statement whose first column is a key's text and whose next `columns`
 * ones are a row's values. */
int unreadable_send(const struct unreadable *u, struct reader *r, struct reader_form form,
                    size_t columns, const char *sql, const char *const *params, size_t count,
                    struct err *err) MUST_CHECK;

/* Removes the column that was added to the statement, so that `columns` columns remain. If the row
 * cannot be read, sets row->unreadable; its values are NULL, and so is its key if the key is
 * affected. */
void unreadable_take(const struct unreadable *u, size_t columns, struct row *row);
