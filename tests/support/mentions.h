/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compares a page's commands, options and configuration with the program, without executing
 * anything.
 *
 * Commands are searched in blocks of `sh`, after a "$ " in other blocks, in indented lines, and
 * between backticks. Between backticks "rowferry" may be missing if there is an option.
 */
#pragma once

/* Checks a page in Markdown. Returns the first item that the program does not know, with its error
 * message, or null. The caller frees it. */
char *mentions_fault(const char *text);

/* Fails if there is such an item. */
void mentions_expect(const char *page, const char *text);

/* Reads a whole configuration, or members of it inserted in a valid one. Returns the error, or
 * null. The caller frees it. `dir` is the folder for the file. */
char *mentions_load(const char *dir, const char *text);
