/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checks the links of a page.
 */
#pragma once

/* Checks a page in Markdown at `path`. Returns the first link without an existing file or heading,
 * or null. Web addresses are not checked. The caller frees it. */
char *links_fault(const char *path, const char *text);
