/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two values that differ, shortened so that the difference is visible.
 */
#pragma once

#include "rowferry/base/buf.h"
#include "rowferry/base/text.h"

/* Appends `value`, compared with `other`; null data prints "nothing". A long value is cut to the
 * part around the first difference, with its offset in bytes. Non-ASCII characters of the
 * difference are printed by number, because they may look the same. */
void value_diff_push(struct buf *out, struct span value, struct span other);
