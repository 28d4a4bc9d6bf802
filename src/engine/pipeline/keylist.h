/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keys as the arguments of a request: one a line, '\' and line breaks escaped.
 */
#ifndef ROWFERRY_ENGINE_KEYLIST_H
#define ROWFERRY_ENGINE_KEYLIST_H

#include <stdbool.h>

#include "rowferry/base/buf.h"

/* Reads the next key into *key and moves the cursor (at first the whole text); false at the end. */
bool keylist_next(const char **cursor, struct buf *key);

#endif
