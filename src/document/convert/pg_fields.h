/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of composites, ranges and hstores: read without their quotes, and named in refusals. */
#ifndef ROWFERRY_DOCUMENT_PG_FIELDS_H
#define ROWFERRY_DOCUMENT_PG_FIELDS_H

#include <stdbool.h>

#include "rowferry/base/buf.h"
#include "rowferry/base/text.h"
#include "rowferry/document/convert/type.h"

struct cursor {
    const char *at;
    const char *end;
    struct buf *out;     /* fails where the scratch does */
    struct buf *scratch; /* for what stands in the text with escapes */
};

/* Whether the next byte is this one; it is then passed. */
static inline bool cursor_takes(struct cursor *c, char byte)
{
    bool there = c->at < c->end && *c->at == byte;
    c->at += there;
    return there;
}

/*
 * Reads up to one of the bytes of `stops` or the end, or one part in quotes, in which a quote or
 * backslash stands doubled or behind a backslash. *quoted false and *part empty: NULL. part lies in
 * the text, or in the scratch until the next read. False where the quotes do not end, or where the
 * scratch failed.
 */
bool part_read(struct span *part, bool *quoted, struct cursor *c, const char *stops);

/* A part's refusal with its name in front of the path, `... in "address.zip"`: written behind the
 * value, valid until the next append to c->out. Takes the scratch. */
type_refusal part_refuse(struct cursor *c, type_refusal reason, struct span name);

#endif
