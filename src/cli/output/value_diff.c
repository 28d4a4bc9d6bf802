/* SPDX-License-Identifier: Apache-2.0 */
/* Shortens a value to its difference from another one. */
#include "output/value_diff.h"

#include "output/terminal.h"

#define VALUE_DIFF_BYTES 80 /* of a value */
#define BEFORE_BYTES 32     /* equal bytes kept before the difference if the start is cut */

/* The bytes of a value that differ: from..end. */
struct middle {
    size_t from;
    size_t end;
};

static bool value_diff_is_inside(struct span s, size_t at)
{
    return at < s.len && ((unsigned char)s.data[at] & 0xc0) == 0x80;
}

static struct middle value_diff_differing(struct span value, struct span other)
{
    struct middle m = {0, value.len};
    size_t least = value.len < other.len ? value.len : other.len;
    size_t from = 0;
    size_t same = 0; /* number of equal bytes at the end */
    if (other.data == NULL) {
        return (struct middle){value.len, value.len};
    }
    while (from < least && value.data[from] == other.data[from]) {
        from++;
    }
    while (from > 0 && (value_diff_is_inside(value, from) || value_diff_is_inside(other, from))) {
        from--;
    }
    while (same < least - from &&
           value.data[value.len - same - 1] == other.data[other.len - same - 1]) {
        same++;
    }
    m.from = from;
    m.end = value.len - same;
    while (value_diff_is_inside(value, m.end)) {
        m.end++;
    }
    return m;
}

/* Appends the differing bytes: ASCII unchanged, other characters by number. */
static void value_diff_push_numbered(struct buf *out, struct span part)
{
    for (size_t i = 0; i < part.len;) {
        size_t len = text_character(part.data + i, part.len - i);
        if (len > 1) {
            uint32_t number = text_code_point(part.data + i, len);
            buf_printf(out, number > 0xffff ? "\\u{%x}" : "\\u%04x", number);
        } else if (len == 1) {
            terminal_push_safe(out, part.data + i, 1);
        } else {
            buf_printf(out, "\\x%02x", (unsigned)(unsigned char)part.data[i]);
        }
        i += len > 0 ? len : 1;
    }
}

static size_t value_diff_clamp(size_t at, size_t least, size_t most)
{
    return at < least ? least : at > most ? most : at;
}

void value_diff_push(struct buf *out, struct span value, struct span other)
{
    if (value.data == NULL) {
        buf_push_literal(out, "nothing");
        return;
    }
    struct middle m = value_diff_differing(value, other);
    size_t begin = 0;
    if (other.data != NULL && m.from + BEFORE_BYTES > VALUE_DIFF_BYTES) {
        begin = m.from - BEFORE_BYTES;
        while (value_diff_is_inside(value, begin)) {
            begin++;
        }
        buf_printf(out, "(differs at byte %zu) ...", m.from);
    }
    size_t end = begin + text_cut(value.data + begin, value.len - begin, VALUE_DIFF_BYTES);
    size_t from = value_diff_clamp(m.from, begin, end);
    size_t until = value_diff_clamp(m.end, from, end);
    terminal_push_safe(out, value.data + begin, from - begin);
    value_diff_push_numbered(out, span_make(value.data + from, until - from));
    terminal_push_safe(out, value.data + until, end - until);
    buf_push_text(out, end < value.len ? "..." : "");
}
