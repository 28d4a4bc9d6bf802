/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Output for people: results on stdout, errors on stderr, colours only on a terminal and never with
 * NO_COLOR, or always with CLICOLOR_FORCE.
 */
#pragma once

#include <stdbool.h>

#include "rowferry/base/buf.h"
#include "rowferry/base/err.h"

enum colour { COLOUR_GREEN, COLOUR_YELLOW, COLOUR_RED, COLOUR_BOLD };

/* Writes the whole buffer to stdout at once. If stdout is a terminal, erases progress there first,
 * and escapes the buffer as terminal_push_shown does. Returns ERR_TRANSIENT if it cannot be
 * written. */
int terminal_result(const struct buf *out, struct err *err) MUST_CHECK;
/* Does the same without escaping, for a screen that is drawn with control sequences. */
int terminal_screen(const struct buf *out, struct err *err) MUST_CHECK;

/* Appends a result as a terminal may show it. Lines, tabs and the colours of terminal_push are
 * kept. Other control and invisible characters become \uNNNN, which keeps JSON equivalent. Bytes
 * that are not UTF-8 become U+FFFD. */
void terminal_push_shown(struct buf *out, const char *bytes, size_t len);

/* Prints an error for people: a line each for message, detail and hint. `pipeline` may be null. */
void terminal_error(const char *pipeline, const struct err *e);

/* Prints a line of advice on stderr: "rowferry: text". */
void terminal_print(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Returns true if fd is a terminal that may show colours. */
bool terminal_colours(int fd);

/* Appends foreign bytes as text_escape does, but leaves backslashes alone, so that the output can
 * be pasted into a command line. */
void terminal_push_safe(struct buf *out, const char *bytes, size_t len);

/* Appends text, coloured if `colours` is true. */
void terminal_push(struct buf *out, bool colours, enum colour colour, const char *text);
