/* SPDX-License-Identifier: Apache-2.0 */
/* Converts keys of a set to the parameters of rowsql.again: one array of texts per part of the
 * key. */
#pragma once

#include "rowferry/base/err.h"
#include "rowferry/document/model/key.h"
#include "rows/keyset.h"

struct keyarrays {
    struct buf arrays[KEY_MAX_PARTS];
    const char *params[KEY_MAX_PARTS]; /* borrowed until the release */
    size_t count;
};

/* Converts the keys from index `from` to before `to`. Release it after an error too. */
int keyarrays_make(struct keyarrays *a, const struct keyset *keys, size_t from, size_t to,
                   size_t parts, struct err *err) MUST_CHECK;
void keyarrays_release(struct keyarrays *a);
