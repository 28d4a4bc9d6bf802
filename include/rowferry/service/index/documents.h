/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fetches documents by id in their current state: recent writes are visible without a refresh. In a
 * data stream (options.stream) documents are searched for after a refresh.
 */
#pragma once

#include "rowferry/base/buf.h"
#include "rowferry/base/err.h"
#include "rowferry/document/compare/compare.h"
#include "rowferry/service/http/http.h"
#include "rowferry/service/index/scan.h"

struct document {
    bool found;
    int64_t version;
    struct span source; /* JSON as returned by the service; empty if not requested */
};

struct documents {
    struct http_answer answer; /* owner of the bytes of the spans */
    struct document *items;
    size_t count;
    size_t capacity;
};

void documents_init(struct documents *d);
void documents_release(struct documents *d);

#define DOCUMENTS_TOO_LARGE 1 /* not an error: ask for fewer documents at a time */

/* Fetches one document per key, in the order of keys. max_bytes limits the answer and must be at
 * least the size of one document. */
int documents_get(struct service *s, const char *index, const struct span *keys, size_t count,
                  bool with_source, size_t max_bytes, struct documents *out,
                  struct err *err) MUST_CHECK;

/* Reports the form in which the index returns sources; ERR_REJECTED if it keeps none. */
int documents_form(struct service *s, const char *index, enum source_form *form,
                   struct err *err) MUST_CHECK;

/* Lists the ids of documents without a source_id, which a scan by source_id omits; the first ones
 * if there are many. Sees the state at the last refresh. */
int documents_nameless(struct service *s, const char *index, struct scan_page *page,
                       struct err *err) MUST_CHECK;
