/* SPDX-License-Identifier: Apache-2.0 */
/* Commands that a message recommends, as they must be typed: with the -c that this process had. */
#pragma once

#include "rowferry/base/buf.h"

/* Sets the file that -c named; null: none. The text stays the caller's, and must outlive all
 * advice. is_command returns true if a text begins with a command that reads the configuration. */
void advice_use_config(const char *path, bool (*is_command)(const char *text));

/* Appends the command of a hint, "run: COMMAND; what it does", which can then be pasted. Returns
 * false if it has none. */
bool advice_push_command(struct buf *out, const char *hint);

/* Appends a text. Each "rowferry COMMAND" in it gets the -c, quoted for a shell if it must be. */
void advice_push(struct buf *out, const char *text);

/* Adds a text to an object (json/record.h) in this form; null stays null. */
void advice_record(struct buf *out, const char *name, const char *text);
