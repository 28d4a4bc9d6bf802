/* SPDX-License-Identifier: Apache-2.0 */
/* Writes JSON strings straight into the buffer, which is most of the encoder's work. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

struct buf;

#define QUOTE_ONES UINT64_C(0x0101010101010101)

static inline uint64_t quote_load(const char *from)
{
    uint64_t word;
    memcpy(&word, from, sizeof(word));
    return word;
}

static inline uint32_t quote_load_half(const char *from)
{
    uint32_t half;
    memcpy(&half, from, sizeof(half));
    return half;
}

/*
 * Returns a mask of the bytes that must be escaped in a JSON string: below 0x20, '"' or '\'; 0 if
 * all may be copied. XOR with 0x02 maps '"' to 0x20 and keeps the bytes below 0x20 there, so one
 * comparison finds both. The lowest marked byte is right; higher ones may be marked because of a
 * borrow.
 */
static inline uint64_t quote_special(uint64_t word)
{
    uint64_t low = word ^ (QUOTE_ONES * 0x02);
    uint64_t slash = word ^ (QUOTE_ONES * '\\');
    uint64_t found = ((low - QUOTE_ONES * 0x21) | (slash - QUOTE_ONES)) & (QUOTE_ONES * 0x80);
    return found & ~word;
}

static inline bool quote_is_special(char byte)
{
    unsigned char c = (unsigned char)byte;
    return c < 0x20 || c == '"' || c == '\\';
}

/* Returns the index of the first special one of eight bytes, at least one of them being special. */
static inline size_t quote_first_special(uint64_t found, const char *bytes)
{
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    (void)bytes;
    return (size_t)__builtin_ctzll(found) / 8;
#else
    (void)found;
    size_t i = 0;
    while (!quote_is_special(bytes[i])) {
        i++;
    }
    return i;
#endif
}

/* quote_copy_plain for less than eight bytes: two halves that overlap, or byte by byte. */
static inline size_t quote_copy_short(char *to, const char *from, size_t len)
{
    size_t i = 0;
    if (len >= 4) {
        uint32_t head = quote_load_half(from);
        uint32_t tail = quote_load_half(from + len - 4);
        if (quote_special((uint64_t)head << 32 | tail) == 0) {
            memcpy(to, &head, sizeof(head));
            memcpy(to + len - 4, &tail, sizeof(tail));
            return len;
        }
    }
    for (; i < len && !quote_is_special(from[i]); i++) {
        to[i] = from[i];
    }
    return i;
}

/* Copies eight bytes. If one of them is special, returns false and sets *at to its index from the
 * start. */
static inline bool quote_step(char *to, const char *from, size_t i, size_t *at)
{
    uint64_t word = quote_load(from + i);
    uint64_t found = quote_special(word);
    memcpy(to + i, &word, sizeof(word));
    if (__builtin_expect(found == 0, 1)) {
        return true;
    }
    *at = i + quote_first_special(found, from + i);
    return false;
}

#ifdef __SSE2__
/* The same for sixteen bytes. */
static inline bool quote_wide_step(char *to, const char *from, size_t i, size_t *at)
{
    __m128i bytes;
    memcpy(&bytes, from + i, sizeof(bytes));
    __m128i low = _mm_cmpeq_epi8(_mm_min_epu8(bytes, _mm_set1_epi8(0x1f)), bytes);
    __m128i mark = _mm_cmpeq_epi8(bytes, _mm_set1_epi8('"'));
    __m128i slash = _mm_cmpeq_epi8(bytes, _mm_set1_epi8('\\'));
    int found = _mm_movemask_epi8(_mm_or_si128(low, _mm_or_si128(mark, slash)));
    memcpy(to + i, &bytes, sizeof(bytes));
    if (__builtin_expect(found == 0, 1)) {
        return true;
    }
    *at = i + (size_t)__builtin_ctz((unsigned)found);
    return false;
}
#define QUOTE_LONG_STEP 16
#else
#define QUOTE_LONG_STEP 8
#define quote_wide_step quote_step
#endif

/*
 * Copies bytes up to the first special one and returns their number. Works in steps of fixed size;
 * the last step overlaps the one before. `to` has room for len bytes, all of which may be
 * overwritten.
 */
static inline size_t quote_copy_plain(char *to, const char *from, size_t len)
{
    size_t at = len;
    if (len < sizeof(uint64_t)) {
        return quote_copy_short(to, from, len);
    }
    if (len < QUOTE_LONG_STEP) {
        (void)(quote_step(to, from, 0, &at) && quote_step(to, from, len - sizeof(uint64_t), &at));
        return at;
    }
    size_t last = len - QUOTE_LONG_STEP;
    for (size_t i = 0; i < last; i += QUOTE_LONG_STEP) {
        if (!quote_wide_step(to, from, i, &at)) {
            return at;
        }
    }
    (void)quote_wide_step(to, from, last, &at);
    return at;
}

/* Appends text as a JSON string with its quotes. Valid UTF-8, including U+2028, is copied. */
void quote_push(struct buf *out, const char *text, size_t len);
