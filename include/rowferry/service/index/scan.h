/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An index's documents by source_id, in the order of their bytes, a page at a time.
 *
 * Each page is a search of its own that goes on after the last key seen: nothing is held open in
 * the service, so nothing expires, and a node that goes away costs one repeat. The order is that of
 * a key which no document ever changes: what is there from beginning to end is listed once; what
 * comes or goes meanwhile may be listed or not. What was written since the last refresh is not
 * seen: refresh first (service/index/index.h).
 */
#ifndef ROWFERRY_SERVICE_SCAN_H
#define ROWFERRY_SERVICE_SCAN_H

#include "rowferry/base/buf.h"
#include "rowferry/base/err.h"
#include "rowferry/base/text.h"
#include "rowferry/service/http/http.h"

#define SCAN_PAGE 10000 /* documents at most: index.max_result_window */
#define SCAN_SURE 2000  /* with the longest keys an answer of these stays below 8 MiB */
#define SCAN_PAGE_BYTES ((size_t)256 << 10) /* of keys, about */

struct scan_page {
    struct buf bytes; /* the keys, one after the other */
    size_t *ends;
    size_t count;
    bool last; /* nothing comes after it */
    bool ids;  /* the caller's: the keys are the documents' ids, whatever their source_id is; */
    struct buf next; /* then the next page comes after this source_id */
    size_t window;   /* index.max_result_window, if a search was refused for it; else 0 */
};

void scan_page_init(struct scan_page *page);
void scan_page_release(struct scan_page *page);
void scan_page_reset(struct scan_page *page);
/* For who makes a page: the next key. */
void scan_page_push(struct scan_page *page, struct span key);
/* Borrowed until the page is filled again. */
struct span scan_page_key(const struct scan_page *page, size_t i);

/* index.max_result_window, if a search was refused because it asked for more; else 0. */
size_t scan_window(const struct err *refusal);

/* Fills the page with what comes after the key `after`; data null: from the first on. Of
 * documents with one source_id ids lists all, unless they are more than a page. Documents
 * without a source_id come last in the order and are not listed. ERR_TRANSIENT also where a shard
 * did not answer. */
int scan_next(struct service *s, const char *index, struct span after, struct scan_page *page,
              struct err *err) MUST_CHECK;

#endif
