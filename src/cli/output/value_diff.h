/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two values that differ, shortened so that one sees in what.
 */
#ifndef ROWFERRY_CLI_VALUE_DIFF_H
#define ROWFERRY_CLI_VALUE_DIFF_H

#include "rowferry/base/buf.h"
#include "rowferry/base/text.h"

/* Appends one of two values, data null: "nothing". Of a long one the part around the first
 * difference, with its offset in bytes; characters that make the difference and are not ASCII by
 * their number, because they may look the same. */
void shown_value(struct buf *out, struct span value, struct span other);

#endif
