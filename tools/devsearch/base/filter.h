/* SPDX-License-Identifier: Apache-2.0 */
/*
 * filter_path and pretty: a finished JSON answer, cut down or spread out. Values are copied as
 * they are, digit for digit.
 */
#ifndef DEVSEARCH_FILTER_H
#define DEVSEARCH_FILTER_H

#include "base/answer.h"

/* Keeps what one of the comma-separated paths names; `*` is any part of a name, `**` any depth. */
int filter_answer(struct span json, const char *paths, struct buf *out);

#endif
