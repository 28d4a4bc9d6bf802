/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Quotes names and values for SQL. Pure.
 *
 * Doubling the quotation mark is enough: our sessions use client_encoding UTF8, in which no byte of
 * a longer character is a quotation mark, and the server refuses a statement that is not UTF-8.
 */
#pragma once

#include "rowferry/base/buf.h"

/* Appends a name in double quotes. */
void sqlquote_identifier(struct buf *out, const char *name);

/* Appends a string constant. If it has backslashes, it is an E'' constant with a blank before it,
 * so that it does not depend on standard_conforming_strings. */
void sqlquote_literal(struct buf *out, const char *text);

/* Appends one item of an array's text form, {"a","b"}; not the comma and the braces. */
void sqlquote_item(struct buf *out, const char *text);

/* Appends a whole array of one dimension. */
void sqlquote_array(struct buf *out, const char *const *items, size_t count);
