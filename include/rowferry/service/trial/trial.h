/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Requests of validate's trial: creates a separate index, searches it, analyzes texts and measures
 * its size. The index carries a token in `_meta.rowferry.creator`; only an index with this token is
 * removed.
 */
#pragma once

#include "rowferry/document/mapping/mapping.h"
#include "rowferry/service/http/product.h"
#include "rowferry/service/index/index.h"
#include "rowferry/service/index/scan.h"

#define TRIAL_IDS_BYTES ((size_t)8 << 20)
#define TRIAL_MOST 10000 /* hits of a search: index.max_result_window */

struct trial {
    char index[256];
    char token[32]; /* value of _meta.rowferry.creator */
    const char *pipeline;
    char write_alias[INDEX_WRITE_ALIAS_BYTES];
    bool asked; /* creation was requested, so the index may exist */
};

/* Names the index of a trial, `<alias>-<purpose>-<random>`, and its token. */
int trial_name(struct trial *t, const char *pipeline, const char *alias, const char *purpose,
               uint64_t random, struct err *err) MUST_CHECK;
/* Appends the mapping with the `_meta` that marks the index as the trial's. */
void trial_push_mappings(struct buf *out, const struct trial *t, const struct mapping *m);

/* Creates the index. mappings has `_meta.rowferry` with pipeline and token. ERR_REJECTED if the
 * service refuses the mapping or settings. */
int trial_create(struct service *s, struct trial *t, const char *mappings, const char *settings,
                 struct err *err) MUST_CHECK;

/* Removes the index if it exists and is ours; does nothing if its creation was never requested. */
int trial_remove(struct service *s, struct trial *t, struct err *err) MUST_CHECK;

/* Ids of search hits, in order. */
struct hits {
    struct scan_list ids;
    int64_t total; /* number of all matches */
};

/* Sends POST _search with the query, sort and so on from body. Sets size, _source and
 * track_total_hits itself. pipeline: a search pipeline of OpenSearch; null: none. */
int trial_search(struct service *s, const char *index, const char *body, size_t size,
                 const char *pipeline, struct hits *out, struct err *err) MUST_CHECK;

/* Sends GET _search?q=text; adds no quotation marks. */
int trial_search_text(struct service *s, const char *index, const char *q, size_t size,
                      const char *pipeline, struct hits *out, struct err *err) MUST_CHECK;

struct trial_terms {
    char **items;
    size_t count;
};

/* Lists the terms that _analyze makes of the text, as the field does, or with the named analyzer of
 * the index unless it is null. The caller releases *out, also after an error. */
int trial_analyze(struct service *s, const char *index, const char *field, const char *analyzer,
                  const char *text, struct trial_terms *out, struct err *err) MUST_CHECK;
void trial_terms_release(struct trial_terms *t);

/* Appends the body of a nearest neighbour search for the vector, in the product's syntax. */
void trial_push_nearest(struct buf *out, const struct product_info *product, const char *field,
                        const float *vector, size_t dimension, size_t k);

/* Reports the bytes on disk of the primary shards' segments. Unlike _stats, never a stale
 * figure. */
int trial_bytes(struct service *s, const char *index, int64_t *bytes, struct err *err) MUST_CHECK;

/* Reports the number of copies of each document: the primary and its replicas. */
int trial_copies(struct service *s, const char *index, int64_t *copies, struct err *err) MUST_CHECK;
