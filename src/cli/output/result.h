/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The result of a sync of one pipeline, as text and as JSON. Pure.
 */
#pragma once

#include "rowferry/base/buf.h"
#include "rowferry/daemon/run_record.h"

/* Appends the lines for people. */
void result_push_text(struct buf *out, const struct sync_outcome *o);

/* Appends one JSON object and a newline. */
void result_push_json(struct buf *out, const struct sync_outcome *o);

/* Appends "1 document", "2,000 documents". */
void result_push_count(struct buf *out, int64_t n, const char *noun);

/* Writes "0.03 s", "4.1 s" or "2m 5s" into out[UNITS_BYTES]; returns out. */
char *result_duration(char *out, int64_t ms);
