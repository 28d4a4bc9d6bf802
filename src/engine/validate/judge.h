/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Judging what a search answers: ranks, orders, neighbours, sizes. Pure; documents are their places
 * in a sample, JUDGE_STRANGER is one that is not in it.
 */
#ifndef ROWFERRY_ENGINE_JUDGE_H
#define ROWFERRY_ENGINE_JUDGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rowferry/base/text.h"
#include "rowferry/engine/validate/validate.h"

#define JUDGE_STRANGER SIZE_MAX

/* The place, from 1 on, of the first hit that was expected; 0: none is among them. */
size_t judge_rank(const size_t *hits, size_t count, const size_t *expected, size_t expected_count);

/* Counts a search whose expected hit has this rank, 0: none within the first k. */
void relevance_add(struct relevance *r, size_t rank);
/* The mean of 1 / rank; 0 where nothing was asked. */
double relevance_mrr(const struct relevance *r);

/* The first hit that stands wrong, by the ranks of their values in the order of the hits: they must
 * not fall (descending: not rise), and 0, no value, comes last. count: they are in order. */
size_t judge_order(const int64_t *ranks, size_t count, bool descending);

enum metric { METRIC_NONE, METRIC_L2, METRIC_L1, METRIC_LINF, METRIC_COSINE, METRIC_DOT };

/* By what the products call it; fallback where it is unsaid (null). METRIC_NONE: not ours to
 * compute. */
enum metric judge_metric(const char *similarity, enum metric fallback);

/* Smaller is nearer. */
double judge_distance(enum metric metric, const float *a, const float *b, size_t dimension);

/* How much of the k nearest was found: distances of all documents in any order (it is sorted here),
 * and of the hits. What is as near as the k-th counts as well. */
double judge_recall(double *all, size_t count, const double *hits, size_t hit_count, size_t k);

/* Reads "[1,2.5]" or "{1,2.5}" into at most `most` numbers; how many there are, 0: it is no vector.
 */
size_t judge_vector(const char *text, float *out, size_t most);

/* The next word of a text from *at on: letters, digits and what is beyond ASCII, at least three
 * bytes. False at the end. */
bool judge_word(const char *text, size_t *at, struct span *word);

/* What all rows take of something of which so many documents by chance took `some`; 0 where there
 * is nothing to go by. */
int64_t judge_whole(int64_t some, int64_t documents, int64_t rows);

#endif
