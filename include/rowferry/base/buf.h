/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A growing byte buffer with a fixed maximum size.
 *
 * An append that would exceed max_bytes appends nothing and sets `failed`. The flag stays set until
 * buf_truncate or buf_reset, so a caller may append many times and check once. If memory is
 * exhausted, the process ends (text.h). The bytes are always followed by a NUL that `len` does not
 * count. The code that declares a buffer owns it and must call buf_release. `data` is valid until
 * the next append.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

struct buf {
    char *data; /* null until the first append */
    size_t len;
    size_t capacity;
    size_t max_bytes;
    bool failed;
};

/* Initializes an empty buffer; allocates nothing yet. */
void buf_init(struct buf *b, size_t max_bytes);

/* Frees the bytes. The buffer may be used again. */
void buf_release(struct buf *b);

/* Empties the buffer, keeps its memory and clears `failed`. */
void buf_reset(struct buf *b);

/* Truncates the content to len bytes (len <= b->len) and clears `failed`. */
void buf_truncate(struct buf *b, size_t len);

/* Makes room for n more bytes. Returns false and sets `failed` if that would exceed max_bytes. */
bool buf_reserve_slow(struct buf *b, size_t n);

static inline bool buf_reserve(struct buf *b, size_t n)
{
    if (!b->failed && b->capacity - b->len > n) {
        return true;
    }
    return buf_reserve_slow(b, n);
}

static inline void buf_push(struct buf *b, const char *bytes, size_t n)
{
    if (n > 0 && buf_reserve(b, n)) {
        memcpy(b->data + b->len, bytes, n);
        b->len += n;
        b->data[b->len] = '\0';
    }
}

static inline void buf_push_char(struct buf *b, char c)
{
    buf_push(b, &c, 1);
}

static inline void buf_push_text(struct buf *b, const char *text)
{
    buf_push(b, text, strlen(text));
}

/* For string literals, whose length is known at compile time. */
#define buf_push_literal(b, literal) buf_push((b), "" literal, sizeof(literal) - 1)

void buf_printf(struct buf *b, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Returns the content, never null. It is valid until the next append. */
static inline const char *buf_text(const struct buf *b)
{
    return b->data != NULL ? b->data : "";
}

/* Returns the content (NUL-terminated, malloc'ed, never null), which the caller frees, and empties
 * the buffer. */
char *buf_detach(struct buf *b);
