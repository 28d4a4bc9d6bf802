/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Copies JSON to one line. PostgreSQL has validated it, so only what would harm other documents is
 * detected: bytes that break the request's lines, and its depth.
 *
 * The services refuse content that does not fit the mapping with the item's own status; the other
 * documents of the request arrive. Measured with OpenSearch 2.19 and Elasticsearch 8.19: wrong
 * types, numbers out of range, unknown and empty names, names of 5 MB, terms over 32,766 bytes,
 * NUL, lone surrogates, invalid UTF-8, control characters and depth. Only a line break among the
 * bytes made them refuse the whole request.
 */
#include "convert/converters.h"

#include <string.h>

#include "rowferry/base/buf.h"
#include "json/json_unique.h"
#include "json/quote.h"

/* Both services' parser (Jackson) reads 1,000 levels; the document is the first. */
#define JSON_MAX_DEPTH 999
/* OpenSearch 2.19 parses a flat_object by recursion. From 900 levels on, this overflowed the stack
 * of its thread in some of the trials; the bulk request with all its documents was never answered.
 */
#define FLAT_OBJECT_MAX_DEPTH 400

static const char not_json[] = "not valid JSON";

enum part { PART_OTHER, PART_STRING, PART_BLANK, PART_OPEN, PART_CLOSE };

static const unsigned char parts[256] = {
    ['\t'] = PART_BLANK, ['\n'] = PART_BLANK, ['\r'] = PART_BLANK,
    [' '] = PART_BLANK,  ['{'] = PART_OPEN,   ['['] = PART_OPEN,
    ['}'] = PART_CLOSE,  [']'] = PART_CLOSE,  ['"'] = PART_STRING,
};

struct json_copy {
    char *to;
    const char *from;
    const char *end;
};

/* Copies a string from its opening quote to its closing one. Returns false if it is
 * unterminated. */
static inline bool convert_json_copy_string(struct json_copy *c)
{
    char *to = c->to;
    const char *from = c->from;
    *to++ = *from++;
    while (from < c->end) {
        size_t plain = quote_copy_plain(to, from, (size_t)(c->end - from));
        to += plain;
        from += plain;
        if (from == c->end || (unsigned char)*from < 0x20) {
            return false;
        }
        char mark = *from++;
        *to++ = mark;
        if (mark == '"') {
            c->to = to;
            c->from = from;
            return true;
        }
        if (from == c->end || (unsigned char)*from < 0x20) {
            return false;
        }
        *to++ = *from++;
    }
    return false;
}

/* c->to has room for the whole text. */
static type_refusal convert_json_copy(struct json_copy *c, int *deepest)
{
    int depth = 0;
    *deepest = 0;
    while (c->from < c->end) {
        unsigned char part = parts[(unsigned char)*c->from];
        if (part == PART_STRING) {
            if (!convert_json_copy_string(c)) {
                return not_json;
            }
            continue;
        }
        char byte = *c->from++;
        if (part == PART_BLANK) {
            continue;
        }
        *c->to++ = byte;
        if (part == PART_OTHER) {
            if ((unsigned char)byte < 0x20) {
                return not_json;
            }
            continue;
        }
        depth += part == PART_OPEN ? 1 : -1;
        if (depth < 0) {
            return not_json;
        }
        *deepest = depth > *deepest ? depth : *deepest;
    }
    return depth == 0 ? NULL : not_json;
}

static type_refusal convert_json_refuse_depth(int depth, const struct property *p)
{
    if (depth > JSON_MAX_DEPTH) {
        return "JSON that is nested more than 999 deep";
    }
    return depth > FLAT_OBJECT_MAX_DEPTH && strcmp(p->type, "flat_object") == 0
               ? "a flat_object that is nested more than 400 deep"
               : NULL;
}

static void convert_json_drop_repeated_names(struct buf *out, size_t start)
{
    size_t len = out->len - start;
    if (!json_unique(out->data + start, &len)) {
        out->failed = true; /* memory is exhausted: not the row's fault */
        return;
    }
    out->len = start + len;
    out->data[out->len] = '\0';
}

type_refusal convert_jsonb(struct buf *out, const char *text, size_t len,
                           const struct type_pair *pair)
{
    if (!buf_reserve(out, len)) {
        return NULL;
    }
    struct json_copy copy = {out->data + out->len, text, text + len};
    int depth;
    type_refusal refusal = convert_json_copy(&copy, &depth);
    if (refusal != NULL || copy.to == out->data + out->len) {
        return refusal != NULL ? refusal : not_json;
    }
    *copy.to = '\0';
    out->len = (size_t)(copy.to - out->data);
    return convert_json_refuse_depth(depth, pair->property);
}

type_refusal convert_json(struct buf *out, const char *text, size_t len,
                          const struct type_pair *pair)
{
    size_t start = out->len;
    type_refusal refusal = convert_jsonb(out, text, len, pair);
    if (refusal == NULL && !out->failed) {
        convert_json_drop_repeated_names(out, start);
    }
    return refusal;
}
