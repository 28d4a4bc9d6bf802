/* SPDX-License-Identifier: Apache-2.0 */
/*
 * JSON objects of answers, written member by member into a buffer. Pure.
 *
 * record_open, members, record_close; a comma is put where one is needed. Texts that are not UTF-8
 * are mended.
 */
#ifndef ROWFERRY_DOCUMENT_RECORD_H
#define ROWFERRY_DOCUMENT_RECORD_H

#include <stdbool.h>
#include <stdint.h>

#include "rowferry/base/buf.h"

void record_open(struct buf *out);
void record_close(struct buf *out);
/* The beginning of a member whose value the caller writes. */
void record_name(struct buf *out, const char *name);
void record_text(struct buf *out, const char *name, const char *text); /* null: null */
void record_span(struct buf *out, const char *name, const char *text, size_t len);
void record_int(struct buf *out, const char *name, int64_t value);
void record_seconds(struct buf *out, const char *name, int64_t ms);
void record_bool(struct buf *out, const char *name, bool value);
/* ISO 8601, UTC; 0: null. */
void record_time(struct buf *out, const char *name, int64_t wall_us);

#endif
