/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Evaluates search results: ranks, grades, orders, neighbours, sizes. Pure. A document is
 * represented by its index in the sample; JUDGE_STRANGER is a document outside the sample.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rowferry/base/text.h"
#include "rowferry/engine/validate/validate.h"

#define JUDGE_STRANGER SIZE_MAX

/* Returns the rank (from 1) of the expected document among the hits; 0: none. */
size_t judge_rank(const size_t *hits, size_t count, size_t expected);

/* Counts a search whose expected hit has this rank; 0: not within the first k. */
void judge_relevance_add(struct relevance *r, size_t rank);
/* Returns the mean of 1 / rank; 0 if there were no searches. */
double judge_relevance_mrr(const struct relevance *r);

/* Returns the normalized discounted cumulative gain of the first k hits, 0 to 1: the sum of
 * (2^grade - 1) / log2(1 + rank), divided by that of the best order. hits: grades of the hits; all:
 * grades of all judged documents, gets sorted. */
double judge_ndcg(const int64_t *hits, size_t hit_count, int64_t *all, size_t count, size_t k);

/* Compares two lists of hits. Returns how many of the longer one the other lacks; *place is the
 * rank of the first difference, 0 if there is none. */
size_t judge_differ(const size_t *a, size_t a_count, const size_t *b, size_t b_count,
                    size_t *place);

/* Returns the index of the first hit in wrong order, or count if all are in order. ranks: of the
 * hits' values. They must not fall (descending: not rise); 0, no value, comes last. */
size_t judge_order(const int64_t *ranks, size_t count, bool descending);

enum metric { METRIC_NONE, METRIC_L2, METRIC_L1, METRIC_LINF, METRIC_COSINE, METRIC_DOT };

/* Maps a product's name of a similarity to a metric. similarity null: returns fallback.
 * METRIC_NONE: cannot be computed here. */
enum metric judge_metric(const char *similarity, enum metric fallback);

/* Returns a distance: smaller is nearer. */
double judge_distance(enum metric metric, const float *a, const float *b, size_t dimension);

/* Returns the share of the k nearest documents that was found. all: distances of all documents,
 * gets sorted; hits: distances of the hits. A hit as near as the k-th counts as found. */
double judge_recall(double *all, size_t count, const double *hits, size_t hit_count, size_t k);

/* Reads "[1,2.5]" or "{1,2.5}" into `out`, at most `most` numbers. Returns the count; 0: not a
 * vector. */
size_t judge_vector(const char *text, float *out, size_t most);

/* Reads the next word from *at: letters, digits and non-ASCII bytes, at least three bytes. Leaves
 * out what is joined to more by a mark, as in "don't" and "example.com", because analyzers differ
 * on it. Returns false at the end. */
bool judge_word(const char *text, size_t *at, struct span *word);

/* Extrapolates to all rows: `some` is the total of that many random documents. Returns 0 if
 * nothing is known. */
int64_t judge_whole(int64_t some, int64_t documents, int64_t rows);
