/* SPDX-License-Identifier: Apache-2.0 */
/* Quotes and escapes of composites and ranges, which PostgreSQL writes alike. */
#include "part.h"

/* From behind the opening quote, `plain` bytes of which need no look. */
static bool read_escaped(struct span *part, struct cursor *c, size_t plain)
{
    struct buf *scratch = c->scratch;
    buf_reset(scratch);
    buf_push(scratch, c->at, plain);
    c->at += plain;
    while (c->at < c->end) {
        char byte = *c->at++;
        bool doubled = byte == '"' && c->at < c->end && *c->at == '"';
        if (byte == '"' && !doubled) {
            *part = span_make(buf_text(scratch), scratch->len);
            c->out->failed = c->out->failed || scratch->failed;
            return !scratch->failed;
        }
        if ((doubled || byte == '\\') && c->at < c->end) {
            byte = *c->at++;
        }
        buf_push_char(scratch, byte);
    }
    return false;
}

static bool read_quoted(struct span *part, struct cursor *c)
{
    const char *p = c->at;
    while (p < c->end && *p != '"' && *p != '\\') {
        p++;
    }
    bool ends = p < c->end && *p == '"' && (p + 1 == c->end || p[1] != '"');
    if (!ends) {
        return read_escaped(part, c, (size_t)(p - c->at));
    }
    *part = span_make(c->at, (size_t)(p - c->at));
    c->at = p + 1;
    return true;
}

bool part_read(struct span *part, bool *quoted, struct cursor *c, const char *stops)
{
    *quoted = cursor_takes(c, '"');
    if (*quoted) {
        return read_quoted(part, c);
    }
    const char *start = c->at;
    while (c->at < c->end && (*c->at == '\0' || strchr(stops, *c->at) == NULL)) {
        c->at++;
    }
    *part = span_make(start, (size_t)(c->at - start));
    return true;
}
