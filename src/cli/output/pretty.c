/* SPDX-License-Identifier: Apache-2.0 */
/* Inserts line breaks at structural positions of JSON. */
#include "output/pretty.h"

#include <stdbool.h>

#define INDENT 2

static void pretty_break_line(struct buf *out, size_t depth)
{
    buf_push_char(out, '\n');
    for (size_t i = 0; i < depth * INDENT; i++) {
        buf_push_char(out, ' ');
    }
}

/* Appends the text that begins at i, including quotes and escapes. Returns the index after it. */
static size_t pretty_push_text(struct buf *out, struct span json, size_t i)
{
    size_t end = i + 1;
    while (end < json.len && json.data[end] != '"') {
        end += json.data[end] == '\\' ? 2 : 1;
    }
    end = end < json.len ? end + 1 : json.len;
    buf_push(out, json.data + i, end - i);
    return end;
}

static bool pretty_is_empty_at(struct span json, size_t i)
{
    return i + 1 < json.len && (json.data[i + 1] == '}' || json.data[i + 1] == ']');
}

void pretty_push(struct buf *out, struct span json)
{
    size_t depth = 0;
    for (size_t i = 0; i < json.len;) {
        char c = json.data[i];
        if (c == '"') {
            i = pretty_push_text(out, json, i);
            continue;
        }
        if (c == '}' || c == ']') {
            depth -= depth > 0;
            pretty_break_line(out, depth);
        }
        buf_push_char(out, c);
        if ((c == '{' || c == '[') && pretty_is_empty_at(json, i)) {
            buf_push_char(out, json.data[++i]);
        } else if (c == '{' || c == '[') {
            pretty_break_line(out, ++depth);
        } else if (c == ',') {
            pretty_break_line(out, depth);
        } else if (c == ':') {
            buf_push_char(out, ' ');
        }
        i++;
    }
}
