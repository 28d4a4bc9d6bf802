/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Patterns of * (any characters) and ? (one character). Pure.
 */
#ifndef DEVSEARCH_GLOB_H
#define DEVSEARCH_GLOB_H

#include "rowferry/base/text.h"

#include <stdbool.h>

/* Whether the whole text has the form of the pattern, in which a backslash takes the meaning from
 * the character that follows. Takes time in proportion to the product of both lengths at most. */
bool glob_matches(struct span pattern, struct span text);

/* The same of texts that end with NUL. */
bool glob_matches_text(const char *pattern, const char *text);

#endif
