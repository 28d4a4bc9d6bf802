/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Requests of a trial: an index of its own, searches on it, what its analysis makes of a text, how
 * much it stores. The index bears a token in `_meta.rowferry.creator`; only one that bears it is
 * removed.
 */
#ifndef ROWFERRY_SERVICE_TRIAL_H
#define ROWFERRY_SERVICE_TRIAL_H

#include "rowferry/service/http/product.h"
#include "rowferry/service/index/index.h"

#define TRIAL_MOST 10000 /* hits of a search: index.max_result_window */

struct trial {
    char index[256];
    char token[32]; /* of _meta.rowferry.creator */
    const char *pipeline;
    char write_alias[INDEX_WRITE_ALIAS_BYTES];
    bool asked; /* it may be there */
};

/* mappings: with `_meta.rowferry` naming pipeline and token. ERR_REJECTED where the service refuses
 * mapping or settings. */
int trial_create(struct service *s, struct trial *t, const char *mappings, const char *settings,
                 struct err *err) MUST_CHECK;

/* Removes it where it is there and ours; does nothing where it was not asked for. */
int trial_remove(struct service *s, struct trial *t, struct err *err) MUST_CHECK;

/* The ids of hits, in their order. */
struct hits {
    struct buf ids; /* each with its NUL */
    size_t *offsets;
    size_t count;
    int64_t total; /* all that match */
};

void hits_init(struct hits *h);
void hits_release(struct hits *h);
struct span hits_id(const struct hits *h, size_t i); /* NUL-terminated */

/* POST _search with the body's query, sort and so on; size, _source and track_total_hits are set
 * here. */
int trial_search(struct service *s, const char *index, const char *body, size_t size,
                 struct hits *out, struct err *err) MUST_CHECK;

/* GET _search?q=text; no quotation is added. */
int trial_search_text(struct service *s, const char *index, const char *q, size_t size,
                      struct hits *out, struct err *err) MUST_CHECK;

/* The fields that a search's body sorts by, each borrowed during the call. */
typedef void (*trial_each)(void *context, const char *name);
void trial_sorted_by(const char *body, trial_each each, void *context);

/* The terms of _analyze: of a field as it indexes, or by an analyzer of the index where that is not
 * null. Each is borrowed during the call. */
int trial_analyze(struct service *s, const char *index, const char *field, const char *analyzer,
                  const char *text, trial_each each, void *context, struct err *err) MUST_CHECK;

/* The body of a search for the nearest by a vector, in the product's words. */
void trial_push_nearest(struct buf *out, const struct product_info *product, const char *field,
                        const float *vector, size_t dimension, size_t k);

/* What the segments of the primary shards take on disk; unlike _stats never an older figure. */
int trial_bytes(struct service *s, const char *index, int64_t *bytes, struct err *err) MUST_CHECK;

/* How many copies of its documents the index keeps, the primary's among them. */
int trial_copies(struct service *s, const char *index, int64_t *copies, struct err *err) MUST_CHECK;

#endif
