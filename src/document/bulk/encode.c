/* SPDX-License-Identifier: Apache-2.0 */
/* The hot path: writes a row's action line and document straight into the batch's bytes. */
#include "rowferry/document/bulk/encode.h"

#include <inttypes.h>
#include <string.h>

#include "rowferry/base/buf.h"
#include "rowferry/base/clock.h"
#include "rowferry/document/model/key.h"
#include "json/quote.h"

#define ACTION_END ",\"version_type\":\"external\"}}\n"
#define DOCUMENT_START "{\"source_id\":"
#define TOO_LONG "a key of more than 8192 bytes"       /* KEY_LONG_MAX_BYTES */
#define TOO_LONG_FOR_ID "a key of more than 512 bytes" /* KEY_MAX_BYTES */
#define VERSION_BYTES 20                               /* maximum length of an int64 as text */

struct quoted_id {
    size_t offset; /* in the batch's bytes */
    size_t len;
};

static char *encode_put(char *to, const char *bytes, size_t len)
{
    memcpy(to, bytes, len);
    return to + len;
}

#define PUT(to, literal) encode_put((to), "" literal, sizeof(literal) - 1)

/* Writes a non-negative number. */
static char *encode_put_number(char *to, int64_t number)
{
    static const char pairs[] = "00010203040506070809101112131415161718192021222324252627282930"
                                "31323334353637383940414243444546474849505152535455565758596061"
                                "62636465666768697071727374757677787980818283848586878889909192"
                                "93949596979899";
    char digits[VERSION_BYTES];
    char *first = digits + VERSION_BYTES;
    uint64_t left = number < 0 ? 0 : (uint64_t)number;
    while (left >= 100) {
        first -= 2;
        memcpy(first, pairs + left % 100 * 2, 2);
        left /= 100;
    }
    if (left >= 10) {
        first -= 2;
        memcpy(first, pairs + left * 2, 2);
    } else {
        *--first = (char)('0' + left);
    }
    return encode_put(to, first, (size_t)(digits + VERSION_BYTES - first));
}

static void encode_set_beginning(struct refusal *refusal, const char *text, size_t len)
{
    char escaped[TEXT_ESCAPED_BYTES];
    size_t room = sizeof(refusal->beginning) - 1;
    size_t out = 0;
    for (size_t in = 0, used; in < len; in += used) {
        size_t n = text_escape_character(escaped, text + in, len - in, &used);
        if (n > room - out) {
            break;
        }
        memcpy(refusal->beginning + out, escaped, n);
        out += n;
    }
    refusal->beginning[out] = '\0';
}

static bool encode_refuse(struct refusal *refusal, const char *column, const char *reason,
                          const struct value *value)
{
    *refusal = (struct refusal){.column = column, .reason = reason};
    if (value != NULL && !value->null) {
        encode_set_beginning(refusal, value->text, value->len);
    }
    return false;
}

static bool encode_refuse_room(struct refusal *refusal)
{
    *refusal = (struct refusal){.reason = "no room in the batch", .no_room = true};
    return false;
}

static bool encode_key_fits(const struct key_routing *routing, const struct value *key,
                            struct refusal *refusal)
{
    if (key->null) {
        return encode_refuse(refusal, NULL, "a key with a part that is null", NULL);
    }
    if (key->len == 0) {
        return encode_refuse(refusal, NULL, "a key that is empty", NULL);
    }
    if (key->len > key_max_bytes(routing)) {
        return encode_refuse(refusal, NULL, routing->hashed ? TOO_LONG : TOO_LONG_FOR_ID, key);
    }
    return true;
}

static void encode_push_routing(struct buf *out, const struct key_routing *routing, struct span key)
{
    char text[KEY_LONG_MAX_BYTES];
    size_t len = key_route(text, routing, key.data, key.len);
    if (len > 0) {
        buf_push_literal(out, ",\"routing\":");
        quote_push(out, text, len);
    }
}

/* Appends the action line for a data stream, `{"create":{"_id":"42"}}`. */
static struct quoted_id encode_push_create(struct batch *b, struct span id)
{
    struct buf *out = &b->bytes;
    buf_push_literal(out, "{\"create\":{\"_id\":");
    struct quoted_id quoted = {.offset = out->len};
    quote_push(out, id.data, id.len);
    quoted.len = out->len - quoted.offset;
    buf_push_literal(out, "}}\n");
    return quoted;
}

/* Appends the action line, `{"index":{"_id":"42","version":1,"version_type":"external"}}`. Returns
 * offset and length of the quoted id. */
static struct quoted_id encode_push_action(struct batch *b, enum operation_kind kind,
                                           struct span key, struct span id, int64_t version)
{
    struct buf *out = &b->bytes;
    if (kind == OPERATION_DELETE) {
        buf_push_literal(out, "{\"delete\":{\"_id\":");
    } else {
        buf_push_literal(out, "{\"index\":{\"_id\":");
    }
    struct quoted_id quoted = {.offset = out->len};
    quote_push(out, id.data, id.len);
    quoted.len = out->len - quoted.offset;
    if (b->routing.count > 0) {
        encode_push_routing(out, &b->routing, key);
    }
    if (buf_reserve(out, sizeof(",\"version\":" ACTION_END) + VERSION_BYTES)) {
        char *to = PUT(out->data + out->len, ",\"version\":");
        to = encode_put_number(to, version);
        to = PUT(to, ACTION_END);
        *to = '\0';
        out->len = (size_t)(to - out->data);
    }
    return quoted;
}

/* Begins the document. The key is copied from the action line, where it is already escaped, unless
 * the id is its hash. */
static void encode_push_source_id(struct buf *out, struct span key, struct span id,
                                  struct quoted_id quoted)
{
    if (id.data != key.data) {
        buf_push_literal(out, DOCUMENT_START);
        quote_push(out, key.data, key.len);
    } else if (buf_reserve(out, sizeof(DOCUMENT_START) + quoted.len)) {
        char *to = PUT(out->data + out->len, DOCUMENT_START);
        to = encode_put(to, out->data + quoted.offset, quoted.len);
        out->len = (size_t)(to - out->data);
    }
}

static inline void encode_push_prefix(struct buf *out, const struct plan_step *step)
{
    if (!buf_reserve(out, step->prefix_len + PLAN_PREFIX_BLOCK)) {
        return;
    }
    char *to = out->data + out->len;
    for (size_t i = 0; i < step->prefix_len; i += PLAN_PREFIX_BLOCK) {
        memcpy(to + i, step->prefix + i, PLAN_PREFIX_BLOCK);
    }
    out->len += step->prefix_len;
}

static type_refusal encode_push_value(struct batch *b, const struct plan_step *step,
                                      const struct value *value)
{
    encode_push_prefix(&b->bytes, step);
    return type_convert(&b->bytes, value->text, value->len, &step->pair);
}

/*
 * Finds out why the buffer failed at a value. A batch that is not full has room for the largest
 * document. So either the document is larger than that, or memory was short.
 */
static bool encode_refuse_size(struct refusal *refusal, const struct plan *plan, size_t written,
                               const struct plan_step *step, const struct value *value)
{
    if (written + step->prefix_len + value->len > plan->document_bytes) {
        return encode_refuse(refusal, NULL, plan->too_large, NULL);
    }
    return encode_refuse_room(refusal);
}

static bool encode_push_steps(struct batch *b, const struct plan *plan, const struct row *row,
                              size_t start, struct refusal *refusal)
{
    const struct plan_step *end = plan->steps + plan->count;
    for (const struct plan_step *step = plan->steps; step < end; step++) {
        const struct value *value = &row->values[step->value];
        if (value->null) {
            continue;
        }
        type_refusal reason = encode_push_value(b, step, value);
        if (b->bytes.failed) {
            return encode_refuse_size(refusal, plan, b->bytes.len - start, step, value);
        }
        if (reason == type_absent) {
            buf_truncate(&b->bytes, b->bytes.len - step->prefix_len);
        } else if (reason != NULL) {
            return encode_refuse(refusal, plan->columns[step->value - 1], reason, value);
        }
    }
    return true;
}

/* Appends where the document comes from. */
static void encode_push_provenance(struct batch *b, const struct plan *plan, int64_t version)
{
    char read_at[CLOCK_ISO_BYTES];
    buf_push_text(&b->bytes, plan->provenance);
    buf_printf(&b->bytes, "%" PRId64 ",\"read_at\":\"%s\"}", version,
               clock_iso(read_at, b->read_us, 6));
}

bool encode_upsert(struct batch *b, const struct plan *plan, const struct row *row, int64_t version,
                   uint64_t page, struct refusal *refusal)
{
    const struct value *key = &row->values[0];
    if (row->unreadable != NULL) {
        return encode_refuse(refusal, NULL, row->unreadable, NULL);
    }
    if (!encode_key_fits(&b->routing, key, refusal)) {
        return false;
    }
    char hash[KEY_ID_BYTES];
    struct span source_id = span_make(key->text, key->len);
    struct span id = key_id(hash, &b->routing, source_id);
    batch_begin(b, OPERATION_UPSERT, source_id, b->creates ? OPERATION_CREATES : version, page);
    struct quoted_id quoted = b->creates
                                  ? encode_push_create(b, id)
                                  : encode_push_action(b, OPERATION_UPSERT, source_id, id, version);
    size_t start = b->bytes.len;
    encode_push_source_id(&b->bytes, source_id, id, quoted);
    if (!encode_push_steps(b, plan, row, start, refusal)) {
        batch_rollback(b);
        return false;
    }
    if (plan->provenance != NULL) {
        encode_push_provenance(b, plan, version);
    }
    buf_push_literal(&b->bytes, "}\n");
    if (!b->bytes.failed && b->bytes.len - start - 1 > plan->document_bytes) {
        batch_rollback(b);
        return encode_refuse(refusal, NULL, plan->too_large, NULL);
    }
    return batch_commit(b) || encode_refuse_room(refusal);
}

bool encode_delete(struct batch *b, struct span key, int64_t version, uint64_t page,
                   struct refusal *refusal)
{
    struct value value = {.text = key.data, .len = key.len};
    if (!encode_key_fits(&b->routing, &value, refusal)) {
        return false;
    }
    if (b->creates) {
        return encode_refuse(refusal, NULL, "the row is gone, and a data stream takes no deletes",
                             NULL);
    }
    char hash[KEY_ID_BYTES];
    batch_begin(b, OPERATION_DELETE, key, version, page);
    (void)encode_push_action(b, OPERATION_DELETE, key, key_id(hash, &b->routing, key), version);
    return batch_commit(b) || encode_refuse_room(refusal);
}

bool encode_refuse_cut(struct span key, struct refusal *refusal)
{
    return encode_refuse(refusal, NULL, TOO_LONG,
                         &(struct value){.text = key.data, .len = key.len});
}
