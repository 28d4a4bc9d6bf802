/* SPDX-License-Identifier: Apache-2.0 */
/* Characters of ASCII, the same in every locale. Inline, because the encoder asks for each byte. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

static inline bool ascii_is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static inline char ascii_lower(char c)
{
    return (char)(c >= 'A' && c <= 'Z' ? c + ('a' - 'A') : c);
}

static inline bool ascii_is_letter(char c)
{
    return ascii_lower(c) >= 'a' && ascii_lower(c) <= 'z';
}

/* White space as JSON and HTTP have it. */
static inline bool ascii_is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

/* Returns the value of a hexadecimal digit, or -1. */
static inline int ascii_hex(char c)
{
    char lower = ascii_lower(c);
    return ascii_is_digit(c) ? c - '0' : lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

/* Returns the byte that the first two of len bytes write in hexadecimal, or -1. */
static inline int ascii_hex_byte(const char *text, size_t len)
{
    int high = len >= 2 ? ascii_hex(text[0]) : -1;
    int low = high >= 0 ? ascii_hex(text[1]) : -1;
    return low >= 0 ? high * 16 + low : -1;
}

/* Writes the base64 of the upper `bytes` (1 to 3) bytes of a number of 24 bits. */
static inline void ascii_base64(char to[4], uint32_t triple, size_t bytes)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    to[0] = digits[triple >> 18];
    to[1] = digits[triple >> 12 & 63];
    to[2] = bytes > 1 ? digits[triple >> 6 & 63] : '=';
    to[3] = bytes > 2 ? digits[triple & 63] : '=';
}

/* Writes the character in UTF-8 and returns its length. */
static inline size_t ascii_utf8(char to[4], uint32_t code)
{
    static const unsigned char leads[] = {0, 0, 0xc0, 0xe0, 0xf0};
    size_t len = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    for (size_t i = len - 1; i > 0; i--) {
        to[i] = (char)(0x80 | (code & 0x3f));
        code >>= 6;
    }
    to[0] = (char)(leads[len] | code);
    return len;
}
