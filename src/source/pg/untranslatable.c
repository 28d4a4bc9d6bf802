/* SPDX-License-Identifier: Apache-2.0 */
/* Recognises the failure by its SQLSTATE, and reads the character out of its message. */
#include "pg/untranslatable.h"

#include <string.h>

#define UNTRANSLATABLE "22P05"

/* "0x8f 0xa2 0xb7", in a message of any language. */
bool untranslatable_character(const char *words, char out[UNTRANSLATABLE_SIZE])
{
    static const char digits[] = "0123456789abcdef";
    const char *at = strstr(words, "0x");
    size_t bytes = 0;
    while (at != NULL && strncmp(at, "0x", 2) == 0 && strspn(at + 2, digits) == 2 &&
           bytes++ < UNTRANSLATABLE_BYTES) {
        *out++ = at[2];
        *out++ = at[3];
        at += at[4] == ' ' ? 5 : 4;
    }
    *out = '\0';
    return bytes > 0 && bytes <= UNTRANSLATABLE_BYTES;
}

bool untranslatable_met(const struct err *why)
{
    return strcmp(why->sqlstate, UNTRANSLATABLE) == 0;
}
