/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Replaces the placeholders {name} in an SQL text of migrations/source by text that is already
 * quoted.
 */
#pragma once

#include "rowferry/base/buf.h"

struct placeholder {
    const char *name; /* null ends a list */
    const char *text;
};

/* Appends the text with every {name} of the list replaced; other braces stay. A comment
 * has none, because the text that fills it may have several lines. */
void template_fill(struct buf *out, const char *text, const struct placeholder *places);
