/* SPDX-License-Identifier: Apache-2.0 */
/* Texts as JSON strings, and other types that are written as texts. */
#include "convert/converters.h"

#include <stdint.h>
#include <string.h>

#include "rowferry/base/ascii.h"
#include "rowferry/base/buf.h"
#include "json/quote.h"

#define KEYWORD_MAX_BYTES 32766 /* Lucene's longest term; a longer one fails the document */
#define COMPLETION_UNITS 50     /* default "max_input_length": later characters are ignored */

type_refusal convert_string(struct buf *out, const char *text, size_t len,
                            const struct type_pair *pair)
{
    (void)pair;
    quote_push(out, text, len);
    return NULL;
}

static size_t convert_text_without_padding(const char *text, size_t len)
{
    while (len > 0 && text[len - 1] == ' ') {
        len--;
    }
    return len;
}

type_refusal convert_padded(struct buf *out, const char *text, size_t len,
                            const struct type_pair *pair)
{
    return convert_string(out, text, convert_text_without_padding(text, len), pair);
}

/* Returns the UTF-16 units that the byte adds. Both products count in units; a character of four
 * bytes has two. */
static inline size_t convert_text_units(char byte)
{
    return (size_t)(((unsigned char)byte & 0xc0) != 0x80) + ((unsigned char)byte >= 0xf0);
}

static size_t convert_text_count_units(const char *text, size_t len)
{
    size_t count = 0;
    for (size_t i = 0; i < len; i++) {
        count += convert_text_units(text[i]);
    }
    return count;
}

type_refusal convert_keyword(struct buf *out, const char *text, size_t len,
                             const struct type_pair *pair)
{
    if (len > KEYWORD_MAX_BYTES &&
        (pair->property->ignore_above <= 0 ||
         convert_text_count_units(text, len) <= (uint64_t)pair->property->ignore_above)) {
        return "a keyword of more than 32766 bytes";
    }
    quote_push(out, text, len);
    return NULL;
}

type_refusal convert_padded_keyword(struct buf *out, const char *text, size_t len,
                                    const struct type_pair *pair)
{
    return convert_keyword(out, text, convert_text_without_padding(text, len), pair);
}

type_refusal convert_completion(struct buf *out, const char *text, size_t len,
                                const struct type_pair *pair)
{
    size_t before = 0;
    for (size_t i = 0; i < len && before < COMPLETION_UNITS; i++) {
        if (text[i] == '\x1e' || text[i] == '\x1f') {
            return "a completion with the character U+001E or U+001F";
        }
        before += convert_text_units(text[i]);
    }
    return convert_string(out, text, len, pair);
}

type_refusal convert_padded_completion(struct buf *out, const char *text, size_t len,
                                       const struct type_pair *pair)
{
    return convert_completion(out, text, convert_text_without_padding(text, len), pair);
}

/* word + 1 is the word without quotes. */
static type_refusal convert_text_push_bool(struct buf *out, const char *text, size_t len,
                                           bool quoted)
{
    if (len != 1 || (text[0] != 't' && text[0] != 'f')) {
        return "not a boolean";
    }
    const char *word = text[0] == 't' ? "\"true\"" : "\"false\"";
    size_t word_len = text[0] == 't' ? 6 : 7;
    buf_push(out, quoted ? word : word + 1, quoted ? word_len : word_len - 2);
    return NULL;
}

type_refusal convert_bool(struct buf *out, const char *text, size_t len,
                          const struct type_pair *pair)
{
    (void)pair;
    return convert_text_push_bool(out, text, len, false);
}

type_refusal convert_bool_string(struct buf *out, const char *text, size_t len,
                                 const struct type_pair *pair)
{
    (void)pair;
    return convert_text_push_bool(out, text, len, true);
}

/* Reads up to three bytes of hex into 24 bits, the first byte highest. Returns false if they are
 * not hex. */
static bool convert_text_read_triple(const char *hex, size_t bytes, uint32_t *triple)
{
    *triple = 0;
    for (size_t i = 0; i < bytes; i++) {
        int byte = ascii_hex_byte(hex + 2 * i, 2);
        if (byte < 0) {
            return false;
        }
        *triple |= (uint32_t)byte << (16 - 8 * i);
    }
    return true;
}

type_refusal convert_bytes(struct buf *out, const char *text, size_t len,
                           const struct type_pair *pair)
{
    (void)pair;
    if (len < 2 || text[0] != '\\' || text[1] != 'x' || len % 2 != 0) {
        return "not a bytea in hex";
    }
    size_t left = (len - 2) / 2;
    if (!buf_reserve(out, (left + 2) / 3 * 4 + 2)) {
        return NULL;
    }
    char *to = out->data + out->len;
    *to++ = '"';
    for (const char *hex = text + 2; left > 0; hex += 6, to += 4) {
        size_t bytes = left < 3 ? left : 3;
        uint32_t triple;
        if (!convert_text_read_triple(hex, bytes, &triple)) {
            return "not a bytea in hex";
        }
        ascii_base64(to, triple, bytes);
        left -= bytes;
    }
    *to++ = '"';
    *to = '\0';
    out->len = (size_t)(to - out->data);
    return NULL;
}

type_refusal convert_ip(struct buf *out, const char *text, size_t len, const struct type_pair *pair)
{
    (void)pair;
    const char *mask = memchr(text, '/', len);
    quote_push(out, text, mask != NULL ? (size_t)(mask - text) : len);
    return NULL;
}

type_refusal convert_ip_range(struct buf *out, const char *text, size_t len,
                              const struct type_pair *pair)
{
    quote_push(out, text, len);
    if (memchr(text, '/', len) != NULL || out->failed) {
        return NULL;
    }
    (void)pair;
    bool six = memchr(text, ':', len) != NULL;
    buf_truncate(out, out->len - 1);
    buf_push_text(out, six ? "/128\"" : "/32\"");
    return NULL;
}
