/* SPDX-License-Identifier: Apache-2.0 */
/* The keys of differences, kept until they are sent. */
#include "rowferry/daemon/repairs.h"

#include <string.h>

#define REPAIR_MAX_BYTES ((size_t)4 << 20) /* for each kind of key */
#define RESTORED_LEAST 10
#define RESTORED_US INT64_C(60000000)

void repairs_init(struct repairs *r)
{
    *r = (struct repairs){0};
    buf_init(&r->changed.bytes, REPAIR_MAX_BYTES);
    buf_init(&r->extra.bytes, REPAIR_MAX_BYTES);
}

void repairs_release(struct repairs *r)
{
    buf_release(&r->changed.bytes);
    buf_release(&r->extra.bytes);
}

void repairs_reset(struct repairs *r)
{
    buf_reset(&r->changed.bytes);
    buf_reset(&r->extra.bytes);
    r->changed.left_out = r->extra.left_out = r->impossible = r->fixed = 0;
}

static void repairs_keep(struct repair_keys *k, struct span key)
{
    size_t before = k->bytes.len;
    buf_push(&k->bytes, (const char *)&key.len, sizeof(key.len));
    buf_push(&k->bytes, key.data, key.len);
    if (k->bytes.failed) {
        buf_truncate(&k->bytes, before);
        k->left_out++;
    }
}

void repairs_add(struct repairs *r, bool stream, const struct verify_found *found)
{
    if (stream && found->kind != VERIFY_LETTER && found->kind != VERIFY_MISSING) {
        r->fixed++;
        return;
    }
    r->impossible += found->impossible;
    if (found->kind != VERIFY_LETTER && !found->impossible) {
        repairs_keep(found->kind == VERIFY_EXTRA ? &r->extra : &r->changed, found->key);
    }
}

bool repairs_keys_next(const struct repair_keys *k, size_t *at, struct span *key)
{
    size_t len;
    if (*at >= k->bytes.len) {
        return false;
    }
    memcpy(&len, k->bytes.data + *at, sizeof(len));
    *key = span_make(k->bytes.data + *at + sizeof(len), len);
    *at += sizeof(len) + len;
    return true;
}

bool repairs_guard_passes(const struct delete_guard_config *guard, const struct verify_result *r)
{
    int64_t extra = r->found[VERIFY_EXTRA];
    bool few = extra <= guard->count || (double)extra <= guard->share * (double)r->documents;
    return extra == 0 || (few && !r->halted);
}

bool repairs_look_restored(const struct verify_result *r)
{
    return r->found[VERIFY_MISSING] + r->found[VERIFY_ALTERED] >= RESTORED_LEAST &&
           r->newest_us > 0 && r->settled_us - r->newest_us > RESTORED_US;
}
