/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where the links of a page lead.
 */
#ifndef ROWFERRY_TESTS_LINKS_H
#define ROWFERRY_TESTS_LINKS_H

/* Of a page in Markdown at path: the first link that leads to no file beside it, or to no heading
 * there; null: none. Addresses of the web are not asked. The caller frees it. */
char *links_fault(const char *path, const char *text);

#endif
