/* SPDX-License-Identifier: Apache-2.0 */
/* Matching retries only the last star, because it can take what an earlier star would take. */
#include "base/glob.h"

#include <string.h>

/* Returns the length of the UTF-8 character at `at`. */
static size_t character(struct span text, size_t at)
{
    size_t n = 1;
    while (at + n < text.len && ((unsigned char)text.data[at + n] & 0xc0) == 0x80) {
        n++;
    }
    return n;
}

/* Matches one pattern element other than a star. Returns the number of bytes matched, or 0. */
static size_t step(struct span pattern, size_t *p, struct span text, size_t t)
{
    if (*p >= pattern.len || t >= text.len) {
        return 0;
    }
    if (pattern.data[*p] == '?') {
        (*p)++;
        return character(text, t);
    }
    size_t at = *p + (pattern.data[*p] == '\\' && *p + 1 < pattern.len ? 1 : 0);
    if (pattern.data[at] != text.data[t]) {
        return 0;
    }
    *p = at + 1;
    return 1;
}

bool glob_matches(struct span pattern, struct span text)
{
    size_t p = 0;
    size_t t = 0;
    size_t star = SIZE_MAX; /* position after the last star of the pattern */
    size_t from = 0;        /* end of the text that this star matches */
    for (;;) {
        if (p < pattern.len && pattern.data[p] == '*') {
            star = ++p;
            from = t;
            if (star == pattern.len) {
                return true;
            }
            continue;
        }
        if (t == text.len && p == pattern.len) {
            return true;
        }
        size_t n = step(pattern, &p, text, t);
        t += n;
        if (n == 0) {
            if (star == SIZE_MAX || t >= text.len) {
                return false;
            }
            from += character(text, from);
            t = from;
            p = star;
        }
    }
}

bool glob_matches_text(const char *pattern, const char *text)
{
    return glob_matches(span_make(pattern, strlen(pattern)), span_make(text, strlen(text)));
}
