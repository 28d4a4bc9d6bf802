/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Parses JSON that arrives in pieces of any size, in constant memory, and reports events.
 *
 * Strings are reported unescaped, as UTF-8, up to WALK_TEXT_BYTES; the rest is dropped. Invalid
 * characters become U+FFFD. Control characters become blanks, so that every text is a single line,
 * unless `exact` is set.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rowferry/base/text.h"

#define WALK_MAX_DEPTH 64
#define WALK_TEXT_BYTES 16384 /* more than a key can have */

/* Each event returns false to abort. depth is the depth of the container; the outermost is 1. */
struct walk_events {
    bool (*open)(void *context, unsigned depth, bool array);
    bool (*close)(void *context, unsigned depth); /* may be null */
    bool (*key)(void *context, unsigned depth, struct span text);
    bool (*string)(void *context, unsigned depth, struct span text);
    bool (*scalar)(void *context, unsigned depth, struct span text); /* number, true, false, null */
    /* May be null. Called at the possible start of an array element. If the bytes start with an
     * element that the callee recognises, it may take it as a whole. Returns the number of bytes
     * taken; 0 = none. */
    size_t (*take)(void *context, unsigned depth, struct span bytes);
};

enum walk_state {
    WALK_VALUE,       /* expects a value */
    WALK_FIRST_VALUE, /* after '[': expects a value or ']' */
    WALK_KEY,
    WALK_FIRST_KEY, /* after '{': expects a key or '}' */
    WALK_COLON,
    WALK_AFTER, /* after a value: expects a comma or an end */
    WALK_STRING,
    WALK_ESCAPE,
    WALK_HEX,
    WALK_SCALAR,
    WALK_WHOLE,
    WALK_BROKEN,
};

struct walk {
    const struct walk_events *events;
    void *context;
    enum walk_state state;
    bool in_key; /* the current string is a key */
    bool exact;  /* control characters are kept; set after walk_begin */
    unsigned depth;
    uint64_t arrays; /* bit n is set if the container of depth n + 1 is an array */
    unsigned hex_digits;
    unsigned code_unit;
    unsigned high_surrogate; /* 0 = no pending high surrogate */
    size_t passed;           /* bytes consumed, for messages */
    size_t text_len;
    char text[WALK_TEXT_BYTES];
};

void walk_begin(struct walk *w, const struct walk_events *events, void *context);
/* Returns false if the input is not JSON or an event aborted; further bytes are ignored. */
bool walk_feed(struct walk *w, const char *bytes, size_t len);
/* Returns true if exactly one complete value was consumed. */
bool walk_whole(const struct walk *w);
