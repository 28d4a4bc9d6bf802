/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Positions of a cursor as text: parse and print. Pure.
 *
 *     cursor                                   nothing was read yet
 *     cursor "<value>" after <key>             all rows up to this one were read
 *     cursor copy ...                          within the initial load
 *     cursor copy until "<value>" ...          rows below that value were never delivered before
 *     cursor copy ... null [after <key>]       among the rows without a value, which come first
 *     cursor [copy] in <oid> ...               position in the table with this oid
 *
 * A value is PostgreSQL's text, which has no quote in it; the key is the rest of the line.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "rowferry/base/buf.h"
#include "rowferry/base/err.h"

struct cursor_position {
    bool copy;
    bool nulls;
    uint32_t table; /* its oid; 0: unknown, in positions of earlier versions */
    char *until;    /* null: unknown */
    char *value;    /* null: at the beginning */
    char *key;      /* null: at the beginning */
};

void cursor_position_release(struct cursor_position *p);
void cursor_position_copy(struct cursor_position *to, const struct cursor_position *from);

/* Moves to a row; null for the beginning. */
void cursor_position_move(struct cursor_position *p, const char *value, const char *key);

/* Returns ERR_STATE if the text is not a position of a cursor; *out is then unchanged. */
int cursor_position_parse(struct cursor_position *out, const char *text,
                          struct err *err) MUST_CHECK;
void cursor_position_print(struct buf *out, const struct cursor_position *p);
