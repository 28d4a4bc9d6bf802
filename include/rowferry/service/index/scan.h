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
#define SCAN_SURE 2000  /* an answer with this number of keys of 512 bytes stays below 8 MiB */
#define SCAN_PAGE_BYTES ((size_t)256 << 10) /* approximate bytes of keys */

/* A list of keys, copied back to back. */
struct scan_list {
    struct buf bytes;
    size_t *ends;
    size_t count;
    size_t capacity;
};

void scan_list_init(struct scan_list *k, size_t max_bytes);
void scan_list_release(struct scan_list *k);
void scan_list_push(struct scan_list *k, struct span key);
void scan_list_cut(struct scan_list *k, size_t count); /* keeps the first ones */
/* Returns a key, borrowed until the next push. */
struct span scan_list_get(const struct scan_list *k, size_t i);

struct scan_page {
    struct scan_list keys;
    bool last;       /* this is the last page */
    bool ids;        /* set by the caller: list document ids (the keys of hashed ones) instead of
                        source_ids */
    struct buf next; /* with ids: source_id after which the next page starts */
    size_t window; /* index.max_result_window, if it was the reason for a refused search; else 0 */
};

void scan_page_init(struct scan_page *page);
void scan_page_release(struct scan_page *page);
void scan_page_reset(struct scan_page *page);

/* Returns index.max_result_window if the search was refused because it asked for more, else 0. */
size_t scan_window(const struct err *refusal);

/* Fills the page with the documents after the key `after`; if its data is null, from the start.
 * With page->ids, documents that share a source_id are all listed, unless they exceed a page.
 * Documents without a source_id sort last and are not listed. ERR_TRANSIENT also if a shard did not
 * answer. */
int scan_next(struct service *s, const char *index, struct span after, struct scan_page *page,
              struct err *err) MUST_CHECK;
