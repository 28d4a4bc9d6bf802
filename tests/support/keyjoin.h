/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The inverse of key_split, and the counterpart of the SQL expression in source/catalog/keytext.h.
 */
#pragma once

#include "rowferry/base/buf.h"

/* Appends the joined form of `count` parts. */
static inline void key_join(struct buf *out, const char *const *parts, const size_t *lens,
                            size_t count)
{
    for (size_t i = 0; i < count; i++) {
        buf_push_text(out, i > 0 ? ":" : "");
        for (size_t k = 0; k < lens[i]; k++) {
            if (count > 1 && (parts[i][k] == '\\' || parts[i][k] == ':')) {
                buf_push_char(out, '\\');
            }
            buf_push_char(out, parts[i][k]);
        }
    }
}
