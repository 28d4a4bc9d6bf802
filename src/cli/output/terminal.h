/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What people see: results on stdout, errors on stderr, colours only on a terminal and never with
 * NO_COLOR.
 */
#ifndef ROWFERRY_CLI_TERMINAL_H
#define ROWFERRY_CLI_TERMINAL_H

#include <stdbool.h>

#include "rowferry/base/buf.h"
#include "rowferry/base/err.h"

enum colour { COLOUR_GREEN, COLOUR_YELLOW, COLOUR_RED, COLOUR_BOLD };

/* Writes the whole buffer to stdout at once, to a terminal as terminal_push_shown makes it.
 * ERR_TRANSIENT if it cannot be written. */
int terminal_result(const struct buf *out, struct err *err) MUST_CHECK;
/* The same as it is: what is on the screen is moved by sequences of ours. */
int terminal_screen(const struct buf *out, struct err *err) MUST_CHECK;

/* Appends a result as a terminal may have it: lines, tabs and the colours of terminal_push stay;
 * other controls and what is hidden become \uNNNN, which leaves JSON what it is, and bytes that are
 * not UTF-8 become U+FFFD. */
void terminal_push_shown(struct buf *out, const char *bytes, size_t len);

/* The one block of an error for people: message, detail, hint; pipeline may be null. */
void terminal_error(const char *pipeline, const struct err *e);

/* A line of advice on stderr: "rowferry: text". */
void terminal_say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Whether fd is a terminal that may show colours. */
bool terminal_colours(int fd);

/* Appends bytes of others as text_escape does, with backslashes
 * as they are: what is shown can be given back on a command line. */
void terminal_push_safe(struct buf *out, const char *bytes, size_t len);

/* Appends text, coloured where `colours`. */
void terminal_push(struct buf *out, bool colours, enum colour colour, const char *text);

#endif
