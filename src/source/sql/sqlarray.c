/* SPDX-License-Identifier: Apache-2.0 */
#include "rowferry/source/sql/sqlarray.h"

#include <string.h>

#include "rowferry/base/buf.h"

void sqlarray_push_item(struct buf *out, const char *text)
{
    buf_push_char(out, '"');
    for (size_t len = strcspn(text, "\"\\"); text[len] != '\0'; len = strcspn(text, "\"\\")) {
        buf_push(out, text, len);
        buf_push_char(out, '\\');
        buf_push_char(out, text[len]);
        text += len + 1;
    }
    buf_push_text(out, text);
    buf_push_char(out, '"');
}

void sqlarray_push(struct buf *out, const char *const *items, size_t count)
{
    buf_push_literal(out, "{");
    for (size_t i = 0; i < count; i++) {
        buf_push_text(out, i > 0 ? "," : "");
        sqlarray_push_item(out, items[i]);
    }
    buf_push_literal(out, "}");
}
