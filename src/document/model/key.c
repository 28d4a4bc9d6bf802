/* SPDX-License-Identifier: Apache-2.0 */
/* The source_id: splitting it into the key's parts. */
#include "rowferry/document/model/key.h"

#include <string.h>

#include "rowferry/base/ascii.h"
#include "rowferry/base/buf.h"
#include "rowferry/base/sha256.h"

#define HASH_START "sha256:"
#define HASH_START_BYTES (sizeof(HASH_START) - 1)

/* Ends part number *part and starts the next one. Returns false after the last part. */
static bool key_next_part(struct buf *out, size_t *offsets, size_t *part, size_t count)
{
    buf_push_char(out, '\0');
    if (++*part == count) {
        return false;
    }
    offsets[*part] = out->len;
    return true;
}

static bool key_split_escaped(struct buf *out, size_t *offsets, const char *text, size_t len,
                              size_t count)
{
    size_t part = 0;
    offsets[0] = out->len;
    for (size_t i = 0; i < len; i++) {
        if (text[i] == ':') {
            if (!key_next_part(out, offsets, &part, count)) {
                return false;
            }
            continue;
        }
        if (text[i] == '\\' && (++i == len || (text[i] != '\\' && text[i] != ':'))) {
            return false;
        }
        buf_push_char(out, text[i]);
    }
    buf_push_char(out, '\0');
    return part + 1 == count;
}

int key_split(struct buf *out, size_t *offsets, const char *text, size_t len, size_t count,
              struct err *err)
{
    size_t start = out->len;
    bool good = true;
    if (count == 1) {
        offsets[0] = out->len;
        buf_push(out, text, len);
        buf_push_char(out, '\0');
    } else {
        good = count > 0 && key_split_escaped(out, offsets, text, len, count);
    }
    if (out->failed) {
        buf_truncate(out, start);
        return err_set(err, ERR_TRANSIENT, "could not keep the parts of a key of %zu bytes", len);
    }
    if (!good) {
        buf_truncate(out, start);
        err_set(err, ERR_REJECTED, "a key's text does not have the %zu parts of the key", count);
        err_hint(err, "join the parts with ':' and write '\\' and ':' inside a part as '\\\\' and "
                      "'\\:'");
        err_detail(err, text, len);
        return ERR_REJECTED;
    }
    return 0;
}

bool key_is_hash(struct span text)
{
    bool is = text.len == KEY_ID_BYTES - 1 && memcmp(text.data, HASH_START, HASH_START_BYTES) == 0;
    for (size_t i = HASH_START_BYTES; is && i < text.len; i++) {
        is = ascii_is_digit(text.data[i]) || (text.data[i] >= 'a' && text.data[i] <= 'f');
    }
    return is;
}

struct span key_hash(char out[KEY_ID_BYTES], struct span key)
{
    struct digest digest = sha256(key);
    memcpy(out, HASH_START, HASH_START_BYTES);
    sha256_hex(out + HASH_START_BYTES, &digest);
    return span_make(out, KEY_ID_BYTES - 1);
}

/* Appends one part of a key with several parts to out. Returns false if the text has no such part
 * or is not a valid key. */
static bool key_take_part(char out[KEY_LONG_MAX_BYTES], size_t *used,
                          const struct key_routing *routing, const char *text, size_t len)
{
    size_t part = 0;
    for (size_t i = 0; i < len; i++) {
        bool ends = text[i] == ':';
        bool escaped = text[i] == '\\';
        if (escaped && (++i == len || (text[i] != '\\' && text[i] != ':'))) {
            return false;
        }
        part += ends;
        if (!ends && part == routing->part) {
            out[(*used)++] = text[i];
        }
    }
    return part + 1 == routing->count;
}

size_t key_route(char out[KEY_LONG_MAX_BYTES], const struct key_routing *routing, const char *text,
                 size_t len)
{
    size_t used = 0;
    if (routing->count == 0 || len > key_max_bytes(routing)) {
        return 0;
    }
    if (routing->count == 1) {
        memcpy(out, text, len);
        return len;
    }
    return key_take_part(out, &used, routing, text, len) ? used : 0;
}
