/* SPDX-License-Identifier: Apache-2.0 */
/* JSON strings, written straight into the buffer: most of the encoder's work. */
#ifndef ROWFERRY_DOCUMENT_QUOTE_H
#define ROWFERRY_DOCUMENT_QUOTE_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct buf;

#define QUOTE_ONES UINT64_C(0x0101010101010101)

static inline uint64_t quote_load(const char *from)
{
    uint64_t word;
    memcpy(&word, from, sizeof(word));
    return word;
}

/* Not 0 where one of eight bytes cannot stand in a JSON string as it is: below 0x20, '"' or '\'. */
static inline uint64_t quote_special(uint64_t word)
{
    uint64_t mark = word ^ (QUOTE_ONES * '"');
    uint64_t slash = word ^ (QUOTE_ONES * '\\');
    uint64_t low = (word - QUOTE_ONES * 0x20) & ~word;
    uint64_t found = low | ((mark - QUOTE_ONES) & ~mark) | ((slash - QUOTE_ONES) & ~slash);
    return found & (QUOTE_ONES * 0x80);
}

/* Copies bytes up to the first special one (see above) and returns how many; `to` has room for
 * len. */
size_t quote_copy_plain(char *to, const char *from, size_t len);

/* Appends text as a JSON string with its quotes. Valid UTF-8 passes; U+2028 stays as it is. */
void quote_push(struct buf *out, const char *text, size_t len);

#endif
