/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Small text helpers: spans, escapes, nearest names; and allocation functions that never fail.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buf;

/* Borrowed bytes, not NUL-terminated unless a function documents it. */
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
bool span_contains(struct span a, const char *part);

/* Returns a well-mixed 64-bit hash of the bytes (FNV-1a with a finalizer), never 0. */
uint64_t text_hash(const char *bytes, size_t len);

/* Returns the length of the UTF-8 character at the start of the bytes, or 0 if they do not begin
 * with a valid one. */
size_t text_character(const char *bytes, size_t len);

/* Returns the code point of one valid UTF-8 character of len bytes. */
uint32_t text_code_point(const char *bytes, size_t len);

/* Returns the code point of the first character, and its length in *used, if it is invisible or
 * changes the text direction: C1 controls, bidirectional marks, zero-width characters. Otherwise
 * returns 0. */
unsigned text_hidden(const char *bytes, size_t len, size_t *used);

/* Writes the first character of the bytes (len >= 1) into out[TEXT_ESCAPED_BYTES], safe for a
 * terminal. Control characters and invalid UTF-8 become \xNN, \n, \r or \t, hidden characters
 * become \uNNNN, and a backslash is doubled. Sets *used to the number of bytes read. Returns the
 * number of bytes written, without a NUL. */
#define TEXT_ESCAPED_BYTES 6
size_t text_escape_character(char *out, const char *bytes, size_t len, size_t *used);

/* Appends bytes, each character escaped by text_escape_character. */
void text_escape(struct buf *out, const char *bytes, size_t len);

/* Returns how many of len bytes to keep: at most max_bytes, without splitting a UTF-8 character. */
size_t text_cut(const char *bytes, size_t len, size_t max_bytes);

/* Appends bytes; replaces each byte that is not valid UTF-8 with U+FFFD. */
void text_valid(struct buf *out, const char *bytes, size_t len);

/* Appends a JSON string with its quotes; control and hidden characters become \uNNNN. The bytes
 * must be valid UTF-8. */
void text_json(struct buf *out, const char *bytes, size_t len);

/* Appends bytes in base64. */
void text_base64(struct buf *out, const char *bytes, size_t len);

/* Appends text as it stands in one segment of a path, or in a query (RFC 3986). */
void text_percent(struct buf *out, const char *text, size_t len);

/* Returns the candidate nearest to `word`, or null. The edit distance is at most a third of the
 * word's length, limited to 1 to 3. `candidates` is null-terminated. */
const char *text_nearest(const char *word, const char *const *candidates);

/* Like strdup, but aborts if memory is exhausted; only for small data of bounded size. */
char *text_copy(const char *text);
char *text_copy_span(struct span s);
/* Copies a list of `count` texts and appends a null. */
char **text_copy_list(const char *const *items, size_t count);
void text_free_list(char **items, size_t count); /* null is allowed */
/* Like calloc and realloc, but abort if memory is exhausted or the size overflows; only for small
 * data of bounded size. */
void *mem_zero(size_t count, size_t size);
void *mem_grow(void *old, size_t count, size_t size);

/* Prints "out of memory" and aborts. */
void mem_exhausted(void) __attribute__((noreturn));

/* Overwrites a secret in a way that the compiler cannot remove. text may be null. */
void text_wipe(char *text);
