/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Walks JSON that arrives in pieces of any size, in constant memory, and tells what it passes.
 *
 * Strings come unescaped, as UTF-8, at most WALK_TEXT_BYTES of them (the rest is dropped); what is
 * not a character becomes U+FFFD and a control character a blank, so that every text is one line,
 * unless the walk is exact.
 */
#ifndef ROWFERRY_SERVICE_WALK_H
#define ROWFERRY_SERVICE_WALK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rowferry/base/text.h"

#define WALK_MAX_DEPTH 64
#define WALK_TEXT_BYTES 1024

/* Each returns false to end the walk as broken. depth: of the container itself, the first is 1. */
struct walk_events {
    bool (*open)(void *context, unsigned depth, bool array);
    bool (*close)(void *context, unsigned depth);
    bool (*key)(void *context, unsigned depth, struct span text);
    bool (*string)(void *context, unsigned depth, struct span text);
    bool (*scalar)(void *context, unsigned depth, struct span text); /* number, true, false, null */
    /* Null, or asked where a value of an array may begin: it may know the bytes at hand as one
     * whole value and take them, so that they are not walked. Returns how many it took; 0 = none.
     */
    size_t (*take)(void *context, unsigned depth, struct span bytes);
};

enum walk_state {
    WALK_VALUE,       /* a value has to come */
    WALK_FIRST_VALUE, /* after '[': a value or its end */
    WALK_KEY,
    WALK_FIRST_KEY, /* after '{': a key or its end */
    WALK_COLON,
    WALK_AFTER, /* after a value: a comma or an end */
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
    bool in_key; /* the string that is being read is a key */
    bool exact;  /* control characters stay what they are; set after walk_begin */
    unsigned depth;
    uint64_t arrays; /* bit n: the container of depth n + 1 is an array */
    unsigned hex_digits;
    unsigned code_unit;
    unsigned high_surrogate; /* 0 = none waits for its other half */
    size_t passed;           /* bytes read, for messages */
    size_t text_len;
    char text[WALK_TEXT_BYTES];
};

void walk_begin(struct walk *w, const struct walk_events *events, void *context);
/* False where it is no JSON or an event refused it; further bytes are ignored. */
bool walk_feed(struct walk *w, const char *bytes, size_t len);
/* True where exactly one whole value has passed. */
bool walk_whole(const struct walk *w);

#endif
