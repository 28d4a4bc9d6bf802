/* SPDX-License-Identifier: Apache-2.0 */
/* The text form of a PostgreSQL array of one dimension: {"a","b"}. Pure. */
#pragma once

#include <stddef.h>

struct buf;

/* Appends one item with its quotes; not the comma and the braces. */
void sqlarray_push_item(struct buf *out, const char *text);

/* Appends the whole array. */
void sqlarray_push(struct buf *out, const char *const *items, size_t count);
