/* SPDX-License-Identifier: Apache-2.0 */
/* Quotes and escapes of composites and ranges, which have the same syntax. */
#include "convert/pg_fields.h"

#include <stdint.h>
#include <string.h>

/* Starts behind the opening quote; the first `plain` bytes contain no escape. */
static bool pg_fields_read_escaped(struct span *part, struct field_cursor *c, size_t plain)
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

static bool pg_fields_read_quoted(struct span *part, struct field_cursor *c)
{
    const char *p = c->at;
    while (p < c->end && *p != '"' && *p != '\\') {
        p++;
    }
    bool ends = p < c->end && *p == '"' && (p + 1 == c->end || p[1] != '"');
    if (!ends) {
        return pg_fields_read_escaped(part, c, (size_t)(p - c->at));
    }
    *part = span_make(c->at, (size_t)(p - c->at));
    c->at = p + 1;
    return true;
}

bool pg_fields_read(struct span *part, bool *quoted, struct field_cursor *c, const char *stops)
{
    *quoted = cursor_takes(c, '"');
    if (*quoted) {
        return pg_fields_read_quoted(part, c);
    }
    const char *start = c->at;
    while (c->at < c->end && (*c->at == '\0' || strchr(stops, *c->at) == NULL)) {
        c->at++;
    }
    *part = span_make(start, (size_t)(c->at - start));
    return true;
}

/* Returns the start of the path in a reason that was written behind a value, or null if it names
 * none. */
static const char *pg_fields_path_in(const struct buf *out, const char *reason)
{
    static const char mark[] = " in \"";
    const char *path = NULL;
    uintptr_t begin = (uintptr_t)out->data;
    if ((uintptr_t)reason < begin || (uintptr_t)reason > begin + out->len) {
        return NULL;
    }
    for (const char *p = strstr(reason, mark); p != NULL; p = strstr(p + 1, mark)) {
        path = p + sizeof(mark) - 1;
    }
    return path;
}

type_refusal pg_fields_refuse(struct field_cursor *c, type_refusal reason, struct span name)
{
    const char *path = pg_fields_path_in(c->out, reason);
    size_t head = path != NULL ? (size_t)(path - reason) : strlen(reason);
    struct buf *text = c->scratch;
    buf_reset(text);
    buf_push(text, reason, head);
    buf_push_text(text, path != NULL ? "" : " in \"");
    buf_push(text, name.data, name.len);
    buf_push_text(text, path != NULL ? "." : "\"");
    buf_push_text(text, path != NULL ? path : "");
    size_t start = c->out->len;
    if (!text->failed) {
        buf_push(c->out, buf_text(text), text->len);
    }
    return text->failed || c->out->failed ? reason : c->out->data + start;
}
