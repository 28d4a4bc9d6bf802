/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether the document of a bulk item went to the index that the request was meant for.
 *
 * An ingest pipeline may drop a document or set its "_index". A generation is written by an alias
 * and a stream by its own name, but the item of a written document names the concrete index
 * (service/index/index.h, stream.h). If a document was dropped, its item repeats the name that the
 * request was sent to (OpenSearch 2.19.4 and 3.4.0, Elasticsearch 8.19.21 and 9.5.3).
 */
#pragma once

#include <string.h>

#include "rowferry/base/buf.h"
#include "rowferry/service/bulk/outcome.h"

/* Removes a text from the start of the bytes. Returns false if they start with another one. */
static inline bool skip(struct span *bytes, const char *text, size_t len)
{
    if (bytes->len < len || memcmp(bytes->data, text, len) != 0) {
        return false;
    }
    *bytes = span_make(bytes->data + len, bytes->len - len);
    return true;
}

#define SKIP(bytes, literal) skip(bytes, "" literal, sizeof(literal) - 1)

struct written_index {
    struct buf sent_to; /* the name that the request was sent to; empty: not checked */
    struct buf plain;   /* how the member "_index" of a written item begins */
    struct buf at;      /* "_index" of the item that is read; empty: it has none */
    bool stream;        /* the number of a backing index follows */
};

void written_index_init(struct written_index *w);
void written_index_release(struct written_index *w);

/* index: a write alias, or the name of a stream if `stream`; null: not checked. */
void written_index_expect(struct written_index *w, bool stream, const char *index);

/* Returns how many bytes belong to the number of a backing index: "000001", "2026.11.23-000001". */
size_t written_index_number(struct span text);

/* Removes the expected member from the start of the bytes. Returns false if the item must be parsed
 * in full. If the bytes start with another index, neither id nor status follows. */
static inline bool written_index_skip(const struct written_index *w, struct span *bytes)
{
    if (w->plain.len == 0 || !skip(bytes, w->plain.data, w->plain.len)) {
        return true;
    }
    if (w->stream) {
        size_t len = written_index_number(*bytes);
        *bytes = span_make(bytes->data + len, bytes->len - len);
    }
    return SKIP(bytes, "\",");
}

/* Sets dropped and moved by w->at. Pipelines see no deletes, and an item with an error counts only
 * if another index has a newer document. */
void written_index_look(const struct written_index *w, enum operation_kind kind, struct item *item);

/* Writes type and reason of the dead letter. */
void written_index_explain(const struct written_index *w, const struct item *item, struct buf *type,
                           struct buf *reason);
