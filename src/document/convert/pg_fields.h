/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the parts of composites, ranges and hstores without their quotes, and names them in
 * refusals. */
#pragma once

#include <stdbool.h>

#include "rowferry/base/buf.h"
#include "rowferry/base/text.h"
#include "rowferry/document/convert/type.h"

struct field_cursor {
    const char *at;
    const char *end;
    struct buf *out;     /* set to failed if the scratch fails */
    struct buf *scratch; /* for parts with escapes */
};

/* Returns true if the next byte is `byte`, and steps over it. */
static inline bool cursor_takes(struct field_cursor *c, char byte)
{
    bool there = c->at < c->end && *c->at == byte;
    c->at += there;
    return there;
}

/*
 * Reads up to one of the bytes of `stops` or the end, or one quoted part. In quotes, a quote or
 * backslash is doubled or follows a backslash. If *quoted is false and *part empty, the part is
 * NULL. The part is in the text, or in the scratch until the next read. Returns false if the quotes
 * are unterminated or the scratch failed.
 */
bool pg_fields_read(struct span *part, bool *quoted, struct field_cursor *c, const char *stops);

/* Adds the part's name to the path of a refusal, `... in "address.zip"`. The result is written
 * behind the value and is valid until the next append to c->out. Overwrites the scratch. */
type_refusal pg_fields_refuse(struct field_cursor *c, type_refusal reason, struct span name);
