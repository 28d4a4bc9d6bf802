/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Strict pull reader for JSON: builds no tree, keeps numbers as text and detects duplicate keys.
 *
 * Every function returns -1 after the first problem. `problem` then has the message of the
 * service's own parser, with line and column.
 */
#pragma once

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
    const char *problem_type; /* null if there is no problem */
    struct buf problem;
    struct buf key; /* buffer for keys with escapes */
    uint64_t *seen; /* hash table of the keys of all objects; 0: free slot */
    size_t seen_count;
    size_t seen_capacity;
    size_t objects; /* objects so far */
    size_t values;
    bool checked; /* an earlier reader checked the bytes: duplicate keys are not detected */
    unsigned depth;
};

void reader_init(struct reader *r, struct span bytes);
void reader_release(struct reader *r);

/* Returns the type of the next token, after white space. */
enum token reader_peek(struct reader *r);

/* Enters the next object or array. */
int reader_enter(struct reader *r);

/* Returns 1 and the next key of the open object (borrowed until the next call), or 0 at its end.
 * The caller keeps one zeroed mark per object. A duplicate key is a problem. */
struct members {
    bool begun;
    size_t object; /* number of the object */
};
int reader_member(struct reader *r, struct members *mark, struct span *key);

/* Returns 1 if the open array has another element, or 0 at its end. */
int reader_element(struct reader *r, bool *begun);

/* Reads a string. It is decoded into scratch if it has escapes, otherwise borrowed from the
 * bytes. */
int reader_string(struct reader *r, struct buf *scratch, struct span *text);

/* Reads a number or literal as written. */
int reader_scalar(struct reader *r, struct span *raw);

/* Reads a string's content or a scalar's text; refuses arrays and objects. */
int reader_text(struct reader *r, struct buf *scratch, struct span *text);

/* Skips and checks any value; raw may be null. */
int reader_skip(struct reader *r, struct span *raw);

/* Checks that only white space is left. */
int reader_finish(struct reader *r);

/* Returns line and column of a position, counted from 1. */
void reader_place(const struct reader *r, const char *at, size_t *line, size_t *column);

/* Appends the parser's suffix "\n at [Source: ..; line: 1, column: n]". */
void reader_push_source(const struct reader *r, const char *at, struct buf *out);

/* Appends the code point as UTF-8. */
void push_utf8(struct buf *out, uint32_t code);
