/* SPDX-License-Identifier: Apache-2.0 */
/* Sorts the keys when their object ends, so that a file with very many keys is not slow. */
#include "syntax/scan_keys.h"

#include <stdlib.h>
#include <string.h>

#include "rowferry/document/json/json_compare.h"

struct scan_key {
    struct span text;
    bool escaped;
};

static bool scan_keys_push_meaning(struct buf *path, struct span key)
{
    char *meaning = mem_zero(key.len, 1);
    size_t len = json_name_decode(meaning, key);
    bool good = true;
    for (size_t at = 0, n; good && at < len; at += n) {
        n = text_character(meaning + at, len - at);
        good = n > 0 && meaning[at] != '\0';
    }
    buf_push(path, meaning, len);
    free(meaning);
    return good;
}

bool scan_keys_push(struct scan_keys *keys, struct buf *path, struct span key)
{
    bool escaped = key.len > 0 && memchr(key.data, '\\', key.len) != NULL;
    if (keys->count == keys->room) {
        keys->room = keys->room * 2 + 16;
        keys->items = mem_grow(keys->items, keys->room, sizeof(*keys->items));
    }
    keys->items[keys->count++] = (struct scan_key){key, escaped};
    if (escaped) {
        return scan_keys_push_meaning(path, key);
    }
    buf_push(path, key.data, key.len);
    return true;
}

static int scan_keys_compare(const struct scan_key *a, const struct scan_key *b)
{
    if (a->escaped || b->escaped) {
        return json_name_compare(a->text, b->text);
    }
    size_t shared = a->text.len < b->text.len ? a->text.len : b->text.len;
    int order = shared > 0 ? memcmp(a->text.data, b->text.data, shared) : 0;
    return order != 0 ? order : (a->text.len > b->text.len) - (a->text.len < b->text.len);
}

/* Orders equal keys by their position in the text. */
static int scan_keys_by_meaning(const void *a, const void *b)
{
    const struct scan_key *one = a;
    const struct scan_key *other = b;
    int order = scan_keys_compare(one, other);
    return order != 0 ? order
                      : (one->text.data > other->text.data) - (one->text.data < other->text.data);
}

const char *scan_keys_end(struct scan_keys *keys, size_t first)
{
    size_t count = keys->count - first;
    const char *twice = NULL;
    keys->count = first;
    if (count < 2) {
        return NULL;
    }
    struct scan_key *items = keys->items + first;
    qsort(items, count, sizeof(*items), scan_keys_by_meaning);
    for (size_t i = 1; i < count; i++) {
        const char *again = items[i].text.data;
        if (scan_keys_compare(&items[i - 1], &items[i]) == 0 && (twice == NULL || again < twice)) {
            twice = again;
        }
    }
    return twice;
}
