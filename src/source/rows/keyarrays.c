/* SPDX-License-Identifier: Apache-2.0 */
/* Keys of a set as arrays. */
#include "rows/keyarrays.h"

#include "pg/pg_private.h"
#include "sql/sqlquote.h"

#define ARRAY_MAX_BYTES ((size_t)256 << 20)

static int keyarrays_push_key(struct keyarrays *a, struct buf *parts, struct span key, bool first,
                              struct err *err)
{
    size_t offsets[KEY_MAX_PARTS];
    buf_reset(parts);
    int rc = key_split(parts, offsets, key.data, key.len, a->count, err);
    for (size_t p = 0; p < a->count && rc == 0; p++) {
        buf_push_text(&a->arrays[p], first ? "" : ",");
        sqlquote_item(&a->arrays[p], buf_text(parts) + offsets[p]);
    }
    return rc;
}

int keyarrays_make(struct keyarrays *a, const struct keyset *keys, size_t from, size_t to,
                   size_t parts, struct err *err)
{
    struct buf split;
    int rc = 0;
    a->count = parts;
    buf_init(&split, ARRAY_MAX_BYTES);
    for (size_t i = 0; i < parts; i++) {
        buf_init(&a->arrays[i], ARRAY_MAX_BYTES);
        buf_push_literal(&a->arrays[i], "{");
    }
    bool first = true;
    for (size_t i = from; i < to && rc == 0; i++) {
        if (!keys->items[i].strange && keys->items[i].cut == KEYSET_WHOLE) {
            rc = keyarrays_push_key(a, &split, keyset_get(keys, i), first, err);
            first = false;
        }
    }
    for (size_t i = 0; i < parts; i++) {
        buf_push_literal(&a->arrays[i], "}");
        a->params[i] = buf_text(&a->arrays[i]);
        if (rc == 0 && a->arrays[i].failed) {
            rc = err_set(err, ERR_REJECTED, "the keys of one page are too long");
        }
    }
    buf_release(&split);
    return rc;
}

void keyarrays_release(struct keyarrays *a)
{
    for (size_t i = 0; i < a->count; i++) {
        buf_release(&a->arrays[i]);
    }
}
