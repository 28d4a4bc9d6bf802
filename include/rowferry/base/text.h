/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Small helpers on text: spans, escapes, nearest names.
 */
#ifndef ROWFERRY_BASE_TEXT_H
#define ROWFERRY_BASE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buf;

/* Borrowed bytes; not NUL-terminated unless said. */
struct span {
    const char *data;
    size_t len;
};

static inline struct span span_make(const char *data, size_t len)
{
    return (struct span){data, len};
}

bool span_equal(struct span a, struct span b);
bool span_is(struct span a, const char *text);

/* 64-bit hash of bytes, well mixed (FNV-1a with a finaliser); 0 is never returned. */
uint64_t text_hash(const char *bytes, size_t len);

/* The length of the UTF-8 character at the start of the bytes; 0 where there is none. */
size_t text_character(const char *bytes, size_t len);

/* The number of the character at the start, and its length in bytes, where it is one that is not
 * seen or turns the line around: C1 controls, marks of direction, without width. Else 0. */
unsigned text_hidden(const char *bytes, size_t len, size_t *used);

/* Writes the character at the start of the bytes, of which there is one at least, into
 * out[TEXT_ESCAPED_BYTES], safe on a terminal: control characters and bytes that are not UTF-8 as
 * \xNN, \n, \r or \t, what is hidden as \uNNNN, backslash doubled, others as they are. *used
 * becomes how many bytes that took. Returns how many were written, without a NUL. */
#define TEXT_ESCAPED_BYTES 6
size_t text_escape_character(char *out, const char *bytes, size_t len, size_t *used);

/* Appends bytes with each character escaped as above. */
void text_escape(struct buf *out, const char *bytes, size_t len);

/* How many of len bytes to keep so that at most max_bytes stay and no UTF-8 character is halved. */
size_t text_cut(const char *bytes, size_t len, size_t max_bytes);

/* Appends bytes with what is not UTF-8 replaced by U+FFFD, a byte at a time. */
void text_valid(struct buf *out, const char *bytes, size_t len);

/* Appends a JSON string with its quotes, controls and what is hidden as \uNNNN; the bytes are valid
 * UTF-8. */
void text_json(struct buf *out, const char *bytes, size_t len);

/* The candidate nearest to word (edit distance at most a third of its length, at least 1 and at
 * most 3), or null. candidates: null-terminated. */
const char *text_nearest(const char *word, const char *const *candidates);

/* strdup that aborts without memory: for small, fixed things only. */
char *text_copy(const char *text);
char *text_copy_span(struct span s);
/* A list of so many texts, with a null behind them. */
char **text_copy_list(const char *const *items, size_t count);
void text_free_list(char **items, size_t count); /* null is allowed */
/* calloc and realloc that abort without memory or on overflow: for small, fixed things only. */
void *mem_zero(size_t count, size_t size);
void *mem_grow(void *old, size_t count, size_t size);

/* What these end with: says so and aborts. */
void mem_exhausted(void) __attribute__((noreturn));

/* Overwrites secrets so that the compiler cannot drop it; text may be null. */
void text_wipe(char *text);

#endif
