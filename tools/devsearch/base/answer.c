/* SPDX-License-Identifier: Apache-2.0 */
/* Formats answers and refusals. */
#include "base/answer.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#define REFUSAL_MAX_BYTES ((size_t)8 << 20)

void refusal_init(struct refusal *r)
{
    r->status = 0;
    r->type = "";
    buf_init(&r->reason, REFUSAL_MAX_BYTES);
    buf_init(&r->members, REFUSAL_MAX_BYTES);
    buf_init(&r->cause, REFUSAL_MAX_BYTES);
    buf_init(&r->root, REFUSAL_MAX_BYTES);
}

void refusal_release(struct refusal *r)
{
    buf_release(&r->reason);
    buf_release(&r->members);
    buf_release(&r->cause);
    buf_release(&r->root);
}

__attribute__((format(printf, 2, 0))) static void push_va(struct buf *out, const char *format,
                                                          va_list args)
{
    char *text = NULL;
    if (vasprintf(&text, format, args) >= 0) {
        buf_push_text(out, text);
        free(text);
    }
}

static void refusal_start(struct refusal *r, int status, const char *type)
{
    r->status = status;
    r->type = type;
    buf_reset(&r->reason);
    buf_reset(&r->members);
    buf_reset(&r->cause);
    buf_reset(&r->root);
}

int refuse(struct refusal *r, int status, const char *type, const char *format, ...)
{
    refusal_start(r, status, type);
    va_list args;
    va_start(args, format);
    push_va(&r->reason, format, args);
    va_end(args);
    return -1;
}

int refuse_text(struct refusal *r, int status, const char *type, struct span reason)
{
    refusal_start(r, status, type);
    buf_push(&r->reason, reason.data, reason.len);
    return -1;
}

int refuse_unknown(struct refusal *r, const char *format, ...)
{
    refusal_start(r, 400, "illegal_argument_exception");
    buf_push_literal(&r->reason, "devsearch does not know ");
    va_list args;
    va_start(args, format);
    push_va(&r->reason, format, args);
    va_end(args);
    return -1;
}

static bool is_utf8(struct span bytes)
{
    size_t at = 0;
    while (at < bytes.len) {
        size_t n = bytes.data[at] > 0 ? 1 : text_character(bytes.data + at, bytes.len - at);
        if (n == 0) {
            return false;
        }
        at += n;
    }
    return true;
}

void push_json(struct buf *out, struct span bytes)
{
    if (is_utf8(bytes)) {
        text_json(out, bytes.len > 0 ? bytes.data : "", bytes.len);
        return;
    }
    struct buf valid;
    buf_init(&valid, ANSWER_MAX_BYTES);
    text_valid(&valid, bytes.data, bytes.len);
    text_json(out, buf_text(&valid), valid.len);
    buf_release(&valid);
}

void push_json_text(struct buf *out, const char *text)
{
    push_json(out, span_make(text, strlen(text)));
}

void refusal_member(struct refusal *r, const char *name, const char *value)
{
    buf_push_char(&r->members, ',');
    push_json_text(&r->members, name);
    buf_push_char(&r->members, ':');
    push_json_text(&r->members, value);
}

void refusal_cause(struct refusal *r, const char *type, const char *format, ...)
{
    struct buf reason;
    buf_init(&reason, REFUSAL_MAX_BYTES);
    va_list args;
    va_start(args, format);
    push_va(&reason, format, args);
    va_end(args);
    buf_reset(&r->cause);
    buf_printf(&r->cause, "{\"type\":\"%s\",\"reason\":", type);
    push_json(&r->cause, span_make(reason.data, reason.len));
    buf_push_char(&r->cause, '}');
    buf_release(&reason);
}

void refusal_root_is_cause(struct refusal *r)
{
    buf_reset(&r->root);
    buf_push(&r->root, r->cause.data, r->cause.len);
}

static void push_head(const struct refusal *r, struct buf *out)
{
    buf_printf(out, "\"type\":\"%s\",\"reason\":", r->type);
    push_json(out, span_make(r->reason.data, r->reason.len));
    buf_push(out, r->members.data, r->members.len);
}

void refusal_render(const struct refusal *r, struct buf *out, bool with_root)
{
    buf_push_char(out, '{');
    if (with_root) {
        buf_push_literal(out, "\"root_cause\":[");
        if (r->root.len > 0) {
            buf_push(out, r->root.data, r->root.len);
        } else {
            buf_push_char(out, '{');
            push_head(r, out);
            buf_push_char(out, '}');
        }
        buf_push_literal(out, "],");
    }
    push_head(r, out);
    if (r->cause.len > 0) {
        buf_push_literal(out, ",\"caused_by\":");
        buf_push(out, r->cause.data, r->cause.len);
    }
    buf_push_char(out, '}');
}

void answer_refuse(struct answer *a, const struct refusal *r)
{
    a->status = r->status;
    a->content_type = NULL;
    buf_reset(&a->body);
    buf_push_literal(&a->body, "{\"error\":");
    refusal_render(r, &a->body, true);
    buf_printf(&a->body, ",\"status\":%d}", r->status);
}

void answer_plain_error(struct answer *a, int status, const char *text)
{
    a->status = status;
    a->content_type = NULL;
    buf_reset(&a->body);
    buf_push_literal(&a->body, "{\"error\":");
    push_json_text(&a->body, text);
    buf_printf(&a->body, ",\"status\":%d}", status);
}

int refuse_no_index(struct refusal *r, const char *name, const char *kind)
{
    refuse(r, 404, "index_not_found_exception", "no such index [%s]", name);
    refusal_member(r, "index", name);
    refusal_member(r, "resource.id", name);
    refusal_member(r, "resource.type", kind);
    refusal_member(r, "index_uuid", "_na_");
    return -1;
}
