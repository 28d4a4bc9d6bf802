/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Documents of an index by their ids, as they are now: what was written a moment ago is seen
 * without a refresh. Of a data stream (options.stream) they are searched for, after a refresh.
 */
#ifndef ROWFERRY_SERVICE_DOCUMENTS_H
#define ROWFERRY_SERVICE_DOCUMENTS_H

#include "rowferry/base/buf.h"
#include "rowferry/base/err.h"
#include "rowferry/document/compare/compare.h"
#include "rowferry/service/http/http.h"
#include "rowferry/service/index/scan.h"

struct document {
    bool found;
    int64_t version;
    struct span source; /* JSON as the service gives it back; empty where it was not asked for */
};

struct documents {
    struct http_answer answer; /* what the spans point into */
    struct document *items;
    size_t count;
    size_t capacity;
};

void documents_init(struct documents *d);
void documents_release(struct documents *d);

#define DOCUMENTS_TOO_LARGE 1 /* no error: ask for fewer at a time */

/* One for each key, in their order. max_bytes: of the answer, at least what one document takes. */
int documents_get(struct service *s, const char *index, const struct span *keys, size_t count,
                  bool with_source, size_t max_bytes, struct documents *out,
                  struct err *err) MUST_CHECK;

/* In which form the index gives sources back; ERR_REJECTED where it keeps none. */
int documents_form(struct service *s, const char *index, enum source_form *form,
                   struct err *err) MUST_CHECK;

/* The ids of documents without a source_id, which no listing by it shows; the first of them where
 * they are many. Seen from the last refresh on. */
int documents_nameless(struct service *s, const char *index, struct scan_page *page,
                       struct err *err) MUST_CHECK;

#endif
