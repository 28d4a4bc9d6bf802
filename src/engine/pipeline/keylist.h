/* SPDX-License-Identifier: Apache-2.0 */
/*
 * List of keys in the arguments of a request: one key per line, '\' and line breaks escaped.
 */
#pragma once

#include <stdbool.h>

#include "rowferry/base/buf.h"

/* Reads the next key into *key and advances *cursor, which starts at the text's beginning. Returns
 * false at the end. */
bool keylist_next(const char **cursor, struct buf *key);
