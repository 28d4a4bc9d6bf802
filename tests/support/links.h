/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checks the links of a page.
 */
#ifndef ROWFERRY_TESTS_LINKS_H
#define ROWFERRY_TESTS_LINKS_H

/* Checks a page in Markdown at `path`. Returns the first link without an existing file or heading,
 * or null. Web addresses are not checked. The caller frees it. */
char *links_fault(const char *path, const char *text);

#endif
