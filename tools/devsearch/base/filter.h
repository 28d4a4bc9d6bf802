/* SPDX-License-Identifier: Apache-2.0 */
/*
 * filter_path and pretty: reduces or indents a finished JSON answer. Values are copied byte by
 * byte.
 */
#pragma once

#include "base/answer.h"

/* Keeps what the comma-separated paths match; `*` is any part of a name, `**` any depth. */
int filter_answer(struct span json, const char *paths, struct buf *out);
