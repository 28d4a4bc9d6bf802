/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lists an index's documents by source_id in byte order, a page at a time.
 *
 * Each page is an independent search that continues after the last key. The service holds nothing
 * open, so nothing expires, and a lost node costs one retry. The key of a document never changes,
 * so a document that exists during the whole scan is listed exactly once. Documents that appear or
 * vanish during the scan may or may not be listed. Writes since the last refresh are invisible:
 * refresh first (service/index/index.h).
 */
#pragma once

#include "rowferry/base/buf.h"
#include "rowferry/base/err.h"
#include "rowferry/base/text.h"
#include "rowferry/service/http/http.h"

#define SCAN_PAGE 10000 /* maximum of documents: index.max_result_window */
#define SCAN_SURE 2000  /* an answer with this number of the longest keys stays below 8 MiB */
#define SCAN_PAGE_BYTES ((size_t)256 << 10) /* approximate bytes of keys */

struct scan_page {
    struct buf bytes; /* concatenated keys */
    size_t *ends;
    size_t count;
    bool last;       /* this is the last page */
    bool ids;        /* set by the caller: list document ids instead of source_ids */
    struct buf next; /* with ids: source_id after which the next page starts */
    size_t window; /* index.max_result_window, if it was the reason for a refused search; else 0 */
};

void scan_page_init(struct scan_page *page);
void scan_page_release(struct scan_page *page);
void scan_page_reset(struct scan_page *page);
/* Appends a key to a page that is being filled. */
void scan_page_push(struct scan_page *page, struct span key);
/* Returns a key, borrowed until the page is filled again. */
struct span scan_page_key(const struct scan_page *page, size_t i);

/* Returns index.max_result_window if the search was refused because it asked for more, else 0. */
size_t scan_window(const struct err *refusal);

/* Fills the page with the documents after the key `after`; if its data is null, from the start.
 * With page->ids, documents that share a source_id are all listed, unless they exceed a page.
 * Documents without a source_id sort last and are not listed. ERR_TRANSIENT also if a shard did not
 * answer. */
int scan_next(struct service *s, const char *index, struct span after, struct scan_page *page,
              struct err *err) MUST_CHECK;
