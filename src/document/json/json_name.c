/* SPDX-License-Identifier: Apache-2.0 */
/* Strings of valid JSON with their escapes resolved. */
#include "rowferry/document/json/json_name.h"
#include "rowferry/base/ascii.h"

#include <stdint.h>
#include <string.h>

const char *json_string_end(const char *from, const char *end)
{
    for (const char *p = from + 1; p < end; p++) {
        p = memchr(p, '"', (size_t)(end - p));
        if (p == NULL) {
            return NULL;
        }
        const char *back = p;
        while (back[-1] == '\\') { /* stops at the opening quote at the latest */
            back--;
        }
        if ((p - back) % 2 == 0) {
            return p;
        }
    }
    return NULL;
}

/* Returns the code unit of "\uXXXX" at p, or 0x10000 if p does not point at such an escape. */
static uint32_t json_name_code_unit(const char *p, const char *end)
{
    if (end - p < 6 || p[0] != '\\' || p[1] != 'u') {
        return 0x10000;
    }
    return (uint32_t)(ascii_hex_byte(p + 2, 2) << 8 | ascii_hex_byte(p + 4, 2)) & 0xffff;
}

/* Reads the escape at *at, which has at least two bytes, and steps behind it. */
static uint32_t json_name_read_escape(const char **at, const char *end)
{
    static const char letters[128] = {
        ['b'] = '\b', ['f'] = '\f', ['n'] = '\n', ['r'] = '\r', ['t'] = '\t'};
    uint32_t code = json_name_code_unit(*at, end);
    if (code > 0xffff) {
        unsigned char letter = (unsigned char)(*at)[1] & 127;
        *at += 2;
        return letters[letter] != 0 ? (uint32_t)letters[letter] : letter;
    }
    *at += 6;
    uint32_t low = code >> 10 == 0xd800 >> 10 ? json_name_code_unit(*at, end) : 0;
    if (low >> 10 != 0xdc00 >> 10) {
        return code;
    }
    *at += 6;
    return 0x10000 + ((code & 0x3ff) << 10) + (low & 0x3ff);
}

/* Reads a string byte by byte, with escapes resolved. */
struct reader {
    const char *at;
    const char *end;
    char bytes[4]; /* bytes of an escape; unread from `next` on */
    size_t next, count;
};

/* Returns the next byte, or -1 at the end. */
static int json_name_next_byte(struct reader *r)
{
    if (r->next < r->count) {
        return (unsigned char)r->bytes[r->next++];
    }
    if (r->at == r->end) {
        return -1;
    }
    if (*r->at != '\\' || r->end - r->at < 2) {
        return (unsigned char)*r->at++;
    }
    r->count = ascii_utf8(r->bytes, json_name_read_escape(&r->at, r->end));
    r->next = 1;
    return (unsigned char)r->bytes[0];
}

int json_name_compare(struct span a, struct span b)
{
    struct reader left = {.at = a.data, .end = a.data + a.len};
    struct reader right = {.at = b.data, .end = b.data + b.len};
    for (;;) {
        int one = json_name_next_byte(&left);
        int other = json_name_next_byte(&right);
        if (one != other || one < 0) {
            return one - other;
        }
    }
}

size_t json_name_decode(char *to, struct span text)
{
    struct reader reader = {.at = text.data, .end = text.data + text.len};
    size_t len = 0;
    for (int byte = json_name_next_byte(&reader); byte >= 0; byte = json_name_next_byte(&reader)) {
        to[len++] = (char)byte;
    }
    return len;
}
