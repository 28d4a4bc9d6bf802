/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a page says of commands, options and the configuration, held against the program: nothing
 * is carried out.
 *
 * Commands are looked for in blocks of `sh`, behind a "$ " of other blocks, in lines that are
 * indented, and between backticks, there also without "rowferry" where an option stands beside
 * them.
 */
#ifndef ROWFERRY_TESTS_MENTIONS_H
#define ROWFERRY_TESTS_MENTIONS_H

/* Of a page in Markdown: the first that the program does not know, and what it says of that; null:
 * none. The caller frees it. */
char *mentions_fault(const char *text);

/* Fails where there is one. */
void mentions_expect(const char *page, const char *text);

/* Reads a whole configuration, or members of it at their places in one that is right. What is
 * wrong with it; null: nothing. The caller frees it. dir is for the file. */
char *mentions_load(const char *dir, const char *text);

#endif
