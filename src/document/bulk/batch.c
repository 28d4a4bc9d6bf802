/* SPDX-License-Identifier: Apache-2.0 */
/* The batch: only complete operations and the bytes of their request. */
#include "rowferry/document/bulk/batch.h"

#include <stdlib.h>

#include "rowferry/document/model/key.h"

#define ACTION_BYTES ((size_t)64 << 10) /* more than any action line with key and routing needs */
#define REASON_BYTES 512                /* maximum size of a recorded reason */

static size_t batch_saturated_add(size_t a, size_t b)
{
    return a > SIZE_MAX - b ? SIZE_MAX : a + b;
}

static size_t batch_saturated_multiply(size_t a, size_t b)
{
    return b > 0 && a > SIZE_MAX / b ? SIZE_MAX : a * b;
}

void batch_init(struct batch *b, size_t full_bytes, size_t max_bytes, size_t max_operations)
{
    *b = (struct batch){.full_bytes = full_bytes, .max_operations = max_operations};
    buf_init(&b->bytes,
             batch_saturated_add(batch_saturated_add(full_bytes, max_bytes), ACTION_BYTES));
    buf_init(&b->keys,
             batch_saturated_multiply(batch_saturated_add(max_operations, 1), KEY_LONG_MAX_BYTES));
    buf_init(&b->reasons,
             batch_saturated_multiply(batch_saturated_add(max_operations, 1), REASON_BYTES));
}

void batch_release(struct batch *b)
{
    buf_release(&b->bytes);
    buf_release(&b->keys);
    buf_release(&b->reasons);
    free(b->operations);
    b->operations = NULL;
    b->capacity = 0;
    batch_reset(b);
}

void batch_reset(struct batch *b)
{
    buf_reset(&b->bytes);
    buf_reset(&b->keys);
    buf_reset(&b->reasons);
    b->count = 0;
    b->send_limit = 0;
    b->http_status = 0;
    b->failure.class = ERR_NONE;
}

bool batch_full(const struct batch *b)
{
    size_t memory = b->bytes.len + b->keys.len + b->count * sizeof(struct operation);
    size_t next = b->count > 0 ? b->operations[b->count - 1].len : 0; /* as the last one */
    return b->count >= b->max_operations || memory + next >= b->full_bytes;
}

struct operation *batch_begin(struct batch *b, enum operation_kind kind, struct span key,
                              int64_t version, uint64_t page)
{
    if (b->count == b->capacity) {
        b->capacity = b->capacity == 0 ? 64 : b->capacity * 2;
        b->operations = mem_grow(b->operations, b->capacity, sizeof(*b->operations));
    }
    struct operation *o = &b->operations[b->count];
    *o = (struct operation){
        .kind = kind,
        .version = version,
        .page = page,
        .offset = b->bytes.len,
        .key_offset = b->keys.len,
        .key_len = key.len,
    };
    buf_push(&b->keys, key.data, key.len);
    return o;
}

bool batch_commit(struct batch *b)
{
    struct operation *o = &b->operations[b->count];
    if (b->bytes.failed || b->keys.failed) {
        batch_rollback(b);
        return false;
    }
    o->len = b->bytes.len - o->offset;
    b->count++;
    return true;
}

void batch_rollback(struct batch *b)
{
    const struct operation *o = &b->operations[b->count];
    buf_truncate(&b->bytes, o->offset);
    buf_truncate(&b->keys, o->key_offset);
}

/* Moves an operation's bytes and key down to the end of the kept ones. */
static void batch_move_down(struct batch *b, struct operation *o)
{
    memmove(b->bytes.data + b->bytes.len, b->bytes.data + o->offset, o->len);
    memmove(b->keys.data + b->keys.len, b->keys.data + o->key_offset, o->key_len);
    o->offset = b->bytes.len;
    o->key_offset = b->keys.len;
    b->bytes.len += o->len;
    b->keys.len += o->key_len;
}

void batch_keep_unsettled(struct batch *b)
{
    size_t in_flight = batch_in_flight(b);
    size_t kept = 0;
    b->bytes.len = 0;
    b->keys.len = 0;
    for (size_t i = 0; i < b->count; i++) {
        struct operation *o = &b->operations[i];
        if (i >= in_flight || o->outcome == OUTCOME_UNKNOWN || o->outcome == OUTCOME_RETRY) {
            batch_move_down(b, o);
            o->outcome = OUTCOME_UNKNOWN;
            o->reason_len = 0;
            b->operations[kept++] = *o;
        }
    }
    b->count = kept;
    buf_truncate(&b->bytes, b->bytes.len);
    buf_truncate(&b->keys, b->keys.len);
    buf_reset(&b->reasons);
    b->failure.class = ERR_NONE;
}

void batch_truncate(struct batch *b, size_t count)
{
    if (count < b->count) {
        buf_truncate(&b->bytes, b->operations[count].offset);
        buf_truncate(&b->keys, b->operations[count].key_offset);
        b->count = count;
    }
}

/* Moves the first len bytes behind the others. */
static void batch_rotate(struct buf *buf, size_t len)
{
    char *first = text_copy_span(span_make(buf->data, len));
    memmove(buf->data, buf->data + len, buf->len - len);
    memcpy(buf->data + buf->len - len, first, len);
    free(first);
}

void batch_defer_first(struct batch *b)
{
    struct operation first = b->operations[0];
    batch_rotate(&b->bytes, first.len);
    batch_rotate(&b->keys, first.key_len);
    for (size_t i = 1; i < b->count; i++) {
        b->operations[i - 1] = b->operations[i];
        b->operations[i - 1].offset -= first.len;
        b->operations[i - 1].key_offset -= first.key_len;
    }
    first.offset = b->bytes.len - first.len;
    first.key_offset = b->keys.len - first.key_len;
    b->operations[b->count - 1] = first;
}

struct span batch_key(const struct batch *b, const struct operation *o)
{
    return span_make(buf_text(&b->keys) + o->key_offset, o->key_len);
}

struct span batch_reason(const struct batch *b, const struct operation *o)
{
    return span_make(buf_text(&b->reasons) + o->reason_offset, o->reason_len);
}

struct span batch_error_type(const struct batch *b, const struct operation *o)
{
    return span_make(buf_text(&b->reasons) + o->reason_offset, o->reason_len > 0 ? o->type_len : 0);
}

void batch_set_reason(struct batch *b, struct operation *o, struct span type, struct span reason)
{
    size_t start = b->reasons.len;
    size_t type_len = text_cut(type.data, type.len, REASON_BYTES - 2);
    buf_push(&b->reasons, type.data, type_len);
    if (type_len > 0 && reason.len > 0) {
        buf_push_literal(&b->reasons, ": ");
    }
    size_t room = REASON_BYTES - (b->reasons.len - start);
    buf_push(&b->reasons, reason.data, text_cut(reason.data, reason.len, room));
    if (b->reasons.failed) {
        buf_truncate(&b->reasons, start);
        type_len = 0;
    }
    o->reason_offset = start;
    o->reason_len = b->reasons.len - start;
    o->type_len = type_len;
}
