/* SPDX-License-Identifier: Apache-2.0 */
/* Compares the start of an answer's bytes with what is expected there. */
#pragma once

#include <stdbool.h>
#include <string.h>

#include "rowferry/base/text.h"

/* Removes a text from the start of the bytes. Returns false if they start with another one. */
static inline bool skip(struct span *bytes, const char *text, size_t len)
{
    if (bytes->len < len || memcmp(bytes->data, text, len) != 0) {
        return false;
    }
    *bytes = span_make(bytes->data + len, bytes->len - len);
    return true;
}

#define SKIP(bytes, literal) skip(bytes, "" literal, sizeof(literal) - 1)
