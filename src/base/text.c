/* SPDX-License-Identifier: Apache-2.0 */
/* Text helpers, and the allocation functions that abort. */
#include "rowferry/base/text.h"
#include "rowferry/base/ascii.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rowferry/base/buf.h"

#define NEAREST_BYTES 64 /* no suggestion for longer words */

bool span_equal(struct span a, struct span b)
{
    return a.len == b.len && (a.len == 0 || memcmp(a.data, b.data, a.len) == 0);
}

bool span_is(struct span a, const char *text)
{
    return span_equal(a, span_make(text, strlen(text)));
}

bool span_contains(struct span a, const char *part)
{
    return a.len > 0 && memmem(a.data, a.len, part, strlen(part)) != NULL;
}

uint64_t text_hash(const char *bytes, size_t len)
{
    uint64_t h = 0xcbf29ce484222325;
    for (size_t i = 0; i < len; i++) {
        h = (h ^ (unsigned char)bytes[i]) * 0x100000001b3;
    }
    /* FNV-1a alone mixes the high bits of short keys badly */
    h = (h ^ (h >> 33)) * 0xff51afd7ed558ccd;
    h = (h ^ (h >> 33)) * 0xc4ceb9fe1a85ec53;
    h ^= h >> 33;
    return h != 0 ? h : 1;
}

size_t text_cut(const char *bytes, size_t len, size_t max_bytes)
{
    if (len <= max_bytes) {
        return len;
    }
    size_t kept = max_bytes;
    while (kept > 0 && max_bytes - kept < 3 && ((unsigned char)bytes[kept] & 0xc0) == 0x80) {
        kept--;
    }
    return kept;
}

static size_t text_utf8_len(const unsigned char *s, size_t len)
{
    size_t n = s[0] < 0x80 ? 1 : s[0] < 0xc2 ? 0 : s[0] < 0xe0 ? 2 : s[0] < 0xf0 ? 3 : 4;
    if (n == 0 || n > len || s[0] > 0xf4) {
        return 0;
    }
    for (size_t i = 1; i < n; i++) {
        if ((s[i] & 0xc0) != 0x80) {
            return 0;
        }
    }
    /* overlong forms, surrogates, beyond U+10FFFF */
    bool wrong = (s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xed && s[1] > 0x9f) ||
                 (s[0] == 0xf0 && s[1] < 0x90) || (s[0] == 0xf4 && s[1] > 0x8f);
    return wrong ? 0 : n;
}

size_t text_character(const char *bytes, size_t len)
{
    return len > 0 ? text_utf8_len((const unsigned char *)bytes, len) : 0;
}

uint32_t text_code_point(const char *bytes, size_t len)
{
    uint32_t code = (unsigned char)bytes[0] & (len > 1 ? 0xffU >> (len + 1) : 0x7fU);
    for (size_t i = 1; i < len; i++) {
        code = code << 6 | ((unsigned char)bytes[i] & 0x3fU);
    }
    return code;
}

unsigned text_hidden(const char *bytes, size_t len, size_t *used)
{
    const unsigned char *s = (const unsigned char *)bytes;
    *used = len > 0 && s[0] >= 0xc2 && s[0] <= 0xef ? text_utf8_len(s, len) : 0;
    unsigned number = *used > 0 ? text_code_point(bytes, *used) : 0;
    bool hidden = (number >= 0x80 && number <= 0x9f) || number == 0xad || number == 0x61c ||
                  (number >= 0x200b && number <= 0x200f) ||
                  (number >= 0x2028 && number <= 0x202e) ||
                  (number >= 0x2060 && number <= 0x206f) || number == 0xfeff ||
                  (number >= 0xfff9 && number <= 0xfffb);
    return hidden ? number : 0;
}

void text_valid(struct buf *out, const char *bytes, size_t len)
{
    size_t at = 0;
    while (at < len) {
        size_t n = text_utf8_len((const unsigned char *)bytes + at, len - at);
        if (n == 0) {
            buf_push_literal(out, "\xef\xbf\xbd");
            at++;
        } else {
            buf_push(out, bytes + at, n);
            at += n;
        }
    }
}

/* The letter after the backslash, or 0. */
static char text_short_escape(unsigned char c)
{
    switch (c) {
    case '\n':
        return 'n';
    case '\r':
        return 'r';
    case '\t':
        return 't';
    case '\\':
        return '\\';
    default:
        return 0;
    }
}

size_t text_escape_character(char *out, const char *bytes, size_t len, size_t *used)
{
    static const char hex[] = "0123456789abcdef";
    unsigned char c = (unsigned char)bytes[0];
    char letter = text_short_escape(c);
    unsigned hidden = text_hidden(bytes, len, used);
    if (hidden != 0) {
        const char escaped[TEXT_ESCAPED_BYTES] = {'\\',
                                                  'u',
                                                  hex[hidden >> 12],
                                                  hex[(hidden >> 8) & 15],
                                                  hex[(hidden >> 4) & 15],
                                                  hex[hidden & 15]};
        memcpy(out, escaped, sizeof(escaped));
        return sizeof(escaped);
    }
    *used = text_character(bytes, len);
    if (*used > 0 && c >= 0x20 && c != 0x7f && letter == 0) {
        memcpy(out, bytes, *used);
        return *used;
    }
    *used = 1;
    out[0] = '\\';
    if (letter != 0) {
        out[1] = letter;
        return 2;
    }
    out[1] = 'x';
    out[2] = hex[c >> 4];
    out[3] = hex[c & 15];
    return 4;
}

void text_escape(struct buf *out, const char *bytes, size_t len)
{
    char escaped[TEXT_ESCAPED_BYTES];
    for (size_t used; len > 0; bytes += used, len -= used) {
        buf_push(out, escaped, text_escape_character(escaped, bytes, len, &used));
    }
}

static void text_json_escape(struct buf *out, unsigned char c)
{
    char letter = c == '"' ? '"' : c == '\b' ? 'b' : c == '\f' ? 'f' : text_short_escape(c);
    if (letter != 0) {
        char pair[2] = {'\\', letter};
        buf_push(out, pair, sizeof(pair));
    } else {
        buf_printf(out, "\\u%04x", (unsigned)c);
    }
}

void text_json(struct buf *out, const char *bytes, size_t len)
{
    size_t run = 0; /* start of the bytes that need no escape */
    buf_push_char(out, '"');
    for (size_t i = 0; i < len; i++) {
        unsigned char c = (unsigned char)bytes[i];
        size_t used;
        unsigned hidden = text_hidden(bytes + i, len - i, &used);
        if (c >= 0x20 && c != 0x7f && c != '"' && c != '\\' && hidden == 0) {
            continue;
        }
        buf_push(out, bytes + run, i - run);
        if (hidden != 0) {
            buf_printf(out, "\\u%04x", hidden);
            i += used - 1;
        } else {
            text_json_escape(out, c);
        }
        run = i + 1;
    }
    if (run < len) {
        buf_push(out, bytes + run, len - run);
    }
    buf_push_char(out, '"');
}

void text_base64(struct buf *out, const char *bytes, size_t len)
{
    for (size_t i = 0; i < len; i += 3) {
        uint32_t triple = 0;
        char quad[4];
        for (size_t k = 0; k < 3; k++) {
            triple = triple << 8 | (i + k < len ? (unsigned char)bytes[i + k] : 0);
        }
        ascii_base64(quad, triple, len - i);
        buf_push(out, quad, sizeof(quad));
    }
}

static size_t text_least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Computes the edit distance; swapping two neighbours counts as one edit. Both texts have at most
 * NEAREST_BYTES bytes. */
static size_t text_distance(const char *a, size_t a_len, const char *b, size_t b_len)
{
    size_t rows[3][NEAREST_BYTES + 1];
    for (size_t j = 0; j <= b_len; j++) {
        rows[0][j] = j;
    }
    for (size_t i = 1; i <= a_len; i++) {
        size_t *row = rows[i % 3];
        const size_t *above = rows[(i + 2) % 3];
        const size_t *two_above = rows[(i + 1) % 3];
        row[0] = i;
        for (size_t j = 1; j <= b_len; j++) {
            row[j] = text_least(text_least(above[j], row[j - 1]) + 1,
                                above[j - 1] + (a[i - 1] != b[j - 1]));
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
                row[j] = text_least(row[j], two_above[j - 2] + 1);
            }
        }
    }
    return rows[a_len % 3][b_len];
}

const char *text_nearest(const char *word, const char *const *candidates)
{
    size_t len = strlen(word);
    size_t limit = len / 3 < 1 ? 1 : text_least(len / 3, 3);
    const char *nearest = NULL;
    for (; len <= NEAREST_BYTES && *candidates != NULL; candidates++) {
        size_t candidate_len = strlen(*candidates);
        if (candidate_len > NEAREST_BYTES) {
            continue;
        }
        size_t far = text_distance(word, len, *candidates, candidate_len);
        if (far < limit || (far == limit && nearest == NULL)) {
            nearest = *candidates;
            limit = far;
        }
    }
    return nearest;
}

void mem_exhausted(void)
{
    fputs("rowferry: out of memory\n", stderr);
    abort();
}

static void *text_or_abort(void *memory)
{
    if (memory == NULL) {
        mem_exhausted();
    }
    return memory;
}

char *text_copy(const char *text)
{
    return text_copy_span(span_make(text, strlen(text)));
}

char *text_copy_span(struct span s)
{
    char *copy = mem_zero(s.len + 1, 1);
    if (s.len > 0) {
        memcpy(copy, s.data, s.len);
    }
    return copy;
}

char **text_copy_list(const char *const *items, size_t count)
{
    char **copy = mem_zero(count + 1, sizeof(*copy));
    for (size_t i = 0; i < count; i++) {
        copy[i] = items[i] != NULL ? text_copy(items[i]) : NULL;
    }
    return copy;
}

void text_free_list(char **items, size_t count)
{
    for (size_t i = 0; items != NULL && i < count; i++) {
        free(items[i]);
    }
    free(items);
}

void *mem_zero(size_t count, size_t size)
{
    return text_or_abort(calloc(count > 0 ? count : 1, size > 0 ? size : 1));
}

void *mem_grow(void *old, size_t count, size_t size)
{
    return text_or_abort(reallocarray(old, count > 0 ? count : 1, size > 0 ? size : 1));
}

void text_wipe(char *text)
{
    if (text != NULL) {
        explicit_bzero(text, strlen(text));
    }
}

void text_percent(struct buf *out, const char *text, size_t len)
{
    static const char hex[] = "0123456789ABCDEF";
    for (size_t i = 0; i < len; i++) {
        unsigned char c = (unsigned char)text[i];
        bool plain = ascii_is_digit(text[i]) || ascii_is_letter(text[i]) || c == '-' || c == '_' ||
                     c == '.' || c == '~';
        if (plain) {
            buf_push_char(out, text[i]);
        } else {
            char encoded[3] = {'%', hex[c >> 4], hex[c & 15]};
            buf_push(out, encoded, sizeof(encoded));
        }
    }
}
