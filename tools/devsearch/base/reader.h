/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A strict pull reader over JSON bytes: no tree, numbers stay text, duplicate keys are noticed.
 *
 * Every function returns -1 after the first problem; `problem` then says which, in the words and
 * with the line and column that the service's own parser gives.
 */
#ifndef DEVSEARCH_READER_H
#define DEVSEARCH_READER_H

#include "rowferry/base/buf.h"
#include "rowferry/base/text.h"

#include <stdbool.h>
#include <stdint.h>

enum token {
    TOKEN_END,
    TOKEN_OBJECT,
    TOKEN_ARRAY,
    TOKEN_STRING,
    TOKEN_NUMBER,
    TOKEN_TRUE,
    TOKEN_FALSE,
    TOKEN_NULL,
    TOKEN_BAD,
};

struct reader {
    const char *start;
    const char *at;
    const char *end;
    const char *problem_type; /* null: none */
    struct buf problem;
    struct buf key; /* scratch of keys that hold escapes */
    uint64_t *seen; /* a hash table of the keys of all objects so far; 0: a free place */
    size_t seen_count;
    size_t seen_capacity;
    size_t objects; /* so far */
    size_t values;
    bool checked; /* by an earlier reader: duplicate keys are not looked for */
    unsigned depth;
};

void reader_init(struct reader *r, struct span bytes);
void reader_release(struct reader *r);

/* What comes next (white space is passed over). */
enum token reader_peek(struct reader *r);

/* Into the object or array that comes next. */
int reader_enter(struct reader *r);

/* The next member of the open object: 1 and its key (borrowed until the next call), 0 at its end.
 * mark: set to zero by the caller, kept for each object; a key that comes twice is a problem. */
struct members {
    bool begun;
    size_t object; /* which one it is */
};
int reader_member(struct reader *r, struct members *mark, struct span *key);

/* The next element of the open array: 1, or 0 at its end. */
int reader_element(struct reader *r, bool *begun);

/* A string, decoded into scratch where it holds escapes, else borrowed from the bytes. */
int reader_string(struct reader *r, struct buf *scratch, struct span *text);

/* A number or literal as it is written. */
int reader_scalar(struct reader *r, struct span *raw);

/* A string's content or a scalar's text; arrays and objects are not taken. */
int reader_text(struct reader *r, struct buf *scratch, struct span *text);

/* Over any value, checking it; raw may be null. */
int reader_skip(struct reader *r, struct span *raw);

/* Nothing but white space may be left. */
int reader_finish(struct reader *r);

/* Line and column (from 1) of a place. */
void reader_place(const struct reader *r, const char *at, size_t *line, size_t *column);

/* The parser's suffix "\n at [Source: ..; line: 1, column: n]". */
void reader_push_source(const struct reader *r, const char *at, struct buf *out);

/* Appends the code point as UTF-8. */
void push_utf8(struct buf *out, uint32_t code);

#endif
