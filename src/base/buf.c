/* SPDX-License-Identifier: Apache-2.0 */
/* The byte buffer: growth, formatting and detaching. */
#include "rowferry/base/buf.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "rowferry/base/text.h"

#define FIRST_CAPACITY 64

void buf_init(struct buf *b, size_t max_bytes)
{
    *b = (struct buf){.max_bytes = max_bytes};
}

void buf_release(struct buf *b)
{
    free(b->data);
    buf_init(b, b->max_bytes);
}

void buf_reset(struct buf *b)
{
    buf_truncate(b, 0);
}

void buf_truncate(struct buf *b, size_t len)
{
    b->failed = false;
    if (b->data != NULL && len <= b->len) {
        b->len = len;
        b->data[len] = '\0';
    }
}

/* Doubles the capacity, so that n appends take O(n) time; the last step is limited to the maximum
 * plus the NUL. */
static size_t buf_grown_capacity(const struct buf *b, size_t wanted, size_t most)
{
    size_t capacity = b->capacity < FIRST_CAPACITY ? FIRST_CAPACITY : b->capacity;
    while (capacity < wanted) {
        capacity = capacity > most / 2 ? most : capacity * 2;
    }
    return capacity < most ? capacity : most;
}

bool buf_reserve_slow(struct buf *b, size_t n)
{
    size_t limit = b->max_bytes < SIZE_MAX ? b->max_bytes : SIZE_MAX - 1;
    if (b->failed || n > limit - b->len) {
        b->failed = true;
        return false;
    }
    if (b->capacity - b->len > n) {
        return true;
    }
    size_t capacity = buf_grown_capacity(b, b->len + n + 1, limit + 1);
    char *data = realloc(b->data, capacity);
    if (data == NULL) {
        mem_exhausted(); /* `failed` would make the row look too large, and a dead letter */
    }
    data[b->len] = '\0';
    b->data = data;
    b->capacity = capacity;
    return true;
}

void buf_printf(struct buf *b, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    va_list again;
    va_copy(again, args);
    int n = vsnprintf(NULL, 0, format, args);
    if (n < 0) {
        b->failed = true;
    } else if (buf_reserve(b, (size_t)n)) {
        vsnprintf(b->data + b->len, (size_t)n + 1, format, again);
        b->len += (size_t)n;
    }
    va_end(again);
    va_end(args);
}

char *buf_detach(struct buf *b)
{
    char *data = b->data != NULL ? b->data : text_copy("");
    buf_init(b, b->max_bytes);
    return data;
}
