/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes JSON objects of answers into a buffer, member by member. Pure.
 *
 * Call record_open, the members, record_close; commas are inserted automatically. Invalid UTF-8 in
 * texts is replaced.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "rowferry/base/buf.h"

void record_open(struct buf *out);
void record_close(struct buf *out);
/* Writes the name of a member whose value the caller writes. */
void record_name(struct buf *out, const char *name);
void record_text(struct buf *out, const char *name, const char *text); /* null is written as null */
void record_span(struct buf *out, const char *name, const char *text, size_t len);
void record_int(struct buf *out, const char *name, int64_t value);
/* A negative value, which means unknown, is written as null. */
void record_known(struct buf *out, const char *name, int64_t value);
void record_seconds(struct buf *out, const char *name, int64_t ms); /* null if negative */
void record_bool(struct buf *out, const char *name, bool value);
/* ISO 8601 in UTC; 0 is written as null. */
void record_time(struct buf *out, const char *name, int64_t wall_us);
