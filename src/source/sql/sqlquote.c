/* SPDX-License-Identifier: Apache-2.0 */
#include "sql/sqlquote.h"

/* Appends the text with `escape` before each of the special characters; the character itself if
 * `escape` is NUL. */
static void sqlquote_push(struct buf *out, const char *text, const char *special, char escape)
{
    for (size_t len = strcspn(text, special); text[len] != '\0'; len = strcspn(text, special)) {
        buf_push(out, text, len);
        buf_push_char(out, escape != '\0' ? escape : text[len]);
        buf_push_char(out, text[len]);
        text += len + 1;
    }
    buf_push_text(out, text);
}

void sqlquote_identifier(struct buf *out, const char *name)
{
    buf_push_char(out, '"');
    sqlquote_push(out, name, "\"", '\0');
    buf_push_char(out, '"');
}

void sqlquote_literal(struct buf *out, const char *text)
{
    buf_push_text(out, strchr(text, '\\') != NULL ? " E'" : "'");
    sqlquote_push(out, text, "'\\", '\0');
    buf_push_char(out, '\'');
}

void sqlquote_item(struct buf *out, const char *text)
{
    buf_push_char(out, '"');
    sqlquote_push(out, text, "\"\\", '\\');
    buf_push_char(out, '"');
}

void sqlquote_array(struct buf *out, const char *const *items, size_t count)
{
    buf_push_char(out, '{');
    for (size_t i = 0; i < count; i++) {
        buf_push_text(out, i > 0 ? "," : "");
        sqlquote_item(out, items[i]);
    }
    buf_push_char(out, '}');
}
