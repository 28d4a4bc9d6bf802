/* SPDX-License-Identifier: Apache-2.0 */
/* Encodes and decodes lists of keys. */
#include "pipeline/requests_private.h"

void keylist_push_key(struct buf *arguments, struct span key)
{
    for (size_t i = 0; i < key.len; i++) {
        if (key.data[i] == '\n') {
            buf_push_literal(arguments, "\\n");
        } else if (key.data[i] == '\\') {
            buf_push_literal(arguments, "\\\\");
        } else {
            buf_push_char(arguments, key.data[i]);
        }
    }
    buf_push_char(arguments, '\n');
}

bool keylist_next(const char **cursor, struct buf *key)
{
    const char *at = *cursor;
    if (*at == '\0') {
        return false;
    }
    buf_reset(key);
    for (; *at != '\0' && *at != '\n'; at++) {
        if (*at == '\\' && at[1] != '\0') {
            at++;
            buf_push_char(key, *at == 'n' ? '\n' : *at);
        } else {
            buf_push_char(key, *at);
        }
    }
    *cursor = *at == '\n' ? at + 1 : at;
    return true;
}
