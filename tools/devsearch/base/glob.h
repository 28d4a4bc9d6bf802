/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Matches patterns with * (any characters) and ? (one character). Pure.
 */
#pragma once

#include "rowferry/base/text.h"

#include <stdbool.h>

/* Returns true if the pattern matches the whole text. A backslash quotes the next character. The
 * time is at most proportional to the product of both lengths. */
bool glob_matches(struct span pattern, struct span text);

/* Like glob_matches, for NUL-terminated strings. */
bool glob_matches_text(const char *pattern, const char *text);
