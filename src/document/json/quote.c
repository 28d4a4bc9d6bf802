/* SPDX-License-Identifier: Apache-2.0 */
/* JSON strings: copies in steps of eight bytes or more until an escape is needed. */
#include "json/quote.h"

#include "rowferry/base/buf.h"

#define SLACK 8 /* the longest escape, and the closing quote */

/* Writes the escape of one special byte, at most six bytes. Returns its end. */
static char *quote_push_escape(char *to, char byte)
{
    static const char hex[] = "0123456789abcdef";
    static const char letters[0x20] = {
        ['\b'] = 'b', ['\t'] = 't', ['\n'] = 'n', ['\f'] = 'f', ['\r'] = 'r'};
    unsigned char c = (unsigned char)byte;
    char letter = c >= 0x20 ? byte : letters[c];
    *to++ = '\\';
    if (letter != 0) {
        *to++ = letter;
        return to;
    }
    memcpy(to, "u00", 3);
    to[3] = hex[c >> 4];
    to[4] = hex[c & 15];
    return to + 5;
}

/* Continues behind the opening quote and `done` plain bytes, at a byte that needs an escape. A
 * separate function, which keeps quote_push small for the common case. */
static __attribute__((noinline)) void quote_push_escaped(struct buf *out, const char *text,
                                                         size_t len, size_t done)
{
    const char *end = text + len;
    char *to = out->data + out->len + 1 + done;
    text += done;
    while (text < end) {
        to = quote_push_escape(to, *text++);
        out->len = (size_t)(to - out->data);
        if (!buf_reserve(out, (size_t)(end - text) + SLACK)) {
            return;
        }
        to = out->data + out->len;
        size_t plain = quote_copy_plain(to, text, (size_t)(end - text));
        to += plain;
        text += plain;
    }
    *to++ = '"';
    *to = '\0';
    out->len = (size_t)(to - out->data);
}

void quote_push(struct buf *out, const char *text, size_t len)
{
    if (!buf_reserve(out, len + SLACK)) {
        return;
    }
    char *to = out->data + out->len;
    to[0] = '"';
    size_t plain = quote_copy_plain(to + 1, text, len);
    if (plain < len) {
        quote_push_escaped(out, text, len, plain);
        return;
    }
    memcpy(to + 1 + len, "\"", 2);
    out->len += len + 2;
}
