/* SPDX-License-Identifier: Apache-2.0 */
/* Judges at which rank searches find their documents. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "validate/validate_private.h"

#define ENOUGH 0.8 /* required share of generated searches with a hit within the first k */

static const char weigh[] =
    "weigh the fields (boosts, multi_match), check their analysis, or expect "
    "another hit";

/* Returns the length of the text without its last word if the text was truncated. */
static size_t validate_relevance_whole_words(const char *text)
{
    size_t len = strlen(text);
    if (len < VALIDATE_CHARACTERS) {
        return len;
    }
    while (len > 0 && text[len - 1] != ' ') {
        len--;
    }
    return len;
}

/* A single document that is not found is no failure: see ENOUGH. */
static void validate_relevance_add_match(struct validating *v, const char *field, struct span text,
                                         size_t row, size_t rank)
{
    char asked[512];
    char expected[160];
    snprintf(asked, sizeof(asked), "%s: %.*s", field, (int)text.len, text.data);
    snprintf(expected, sizeof(expected), "row \"%.100s\" among the first %lld",
             validate_key(v, row), (long long)v->options->k);
    validate_case(v, rank > 0 ? VALIDATE_PASS : VALIDATE_WARN, asked, expected,
                  rank > 0 ? "at place %zu" : "not among them", rank);
}

static int validate_relevance_ask_match(struct validating *v, const char *field, const char *text,
                                        size_t row, size_t *asked, struct err *err)
{
    struct buf body;
    size_t len = validate_relevance_whole_words(text);
    if (!v->indexed[row] || len == 0) {
        return 0;
    }
    buf_init(&body, VALIDATE_TEXT_BYTES);
    buf_push_literal(&body, "{\"query\":{\"match\":{");
    text_json(&body, field, strlen(field));
    buf_push_char(&body, ':');
    text_json(&body, text, len);
    buf_push_literal(&body, "}}}");
    int rc = validate_search(v, buf_text(&body), (size_t)v->options->k, err);
    if (rc == 0) {
        size_t rank = judge_rank(v->places, v->hits.ids.count, row);
        judge_relevance_add(&v->report->figures.relevance, rank);
        *asked += rank > 0 ? 1 : 0;
        validate_relevance_add_match(v, field, span_make(text, len), row, rank);
    }
    buf_release(&body);
    return rc;
}

/* --- configured searches --------------------------------------------------------------------- */

static void validate_relevance_rank_query(struct validating *v, size_t i)
{
    char text[128];
    const struct trial_query *q = &v->options->queries[i];
    size_t k = (size_t)(q->k > 0 ? q->k : v->options->k);
    size_t best = 0;
    for (size_t e = 0; e < q->expect_count; e++) {
        size_t rank = validate_query_rank(v, q->expect[e]);
        best = rank > 0 && (best == 0 || rank < best) ? rank : best;
    }
    bool late = best == 0 || best > k;
    judge_relevance_add(&v->report->figures.relevance, late ? 0 : best);
    snprintf(text, sizeof(text), best > 0 ? "at place %zu" : "not among the hits", best);
    validate_query_case(v, i, late ? VALIDATE_FAIL : VALIDATE_PASS, k, text);
    if (late) {
        validate_query_name(text, sizeof(text), v, i);
        validate_note(v, VALIDATE_FAIL, weigh,
                      best == 0
                          ? "search \"%s\" has no expected hit among the first %zu"
                          : "search \"%s\" has its first expected hit after place %zu, at %zu",
                      text, k, best);
    }
}

double validate_query_ndcg(const struct validating *v, const struct trial_query *q)
{
    int64_t hits[NDCG_HITS] = {0};
    int64_t *all = mem_zero(q->judgement_count, sizeof(*all));
    for (size_t j = 0; j < q->judgement_count; j++) {
        size_t rank = validate_query_rank(v, q->judgements[j].id);
        all[j] = q->judgements[j].grade;
        if (rank > 0 && rank <= NDCG_HITS) {
            hits[rank - 1] = all[j];
        }
    }
    double ndcg = judge_ndcg(hits, NDCG_HITS, all, q->judgement_count, NDCG_HITS);
    free(all);
    return ndcg;
}

static void validate_relevance_grade_query(struct validating *v, size_t i)
{
    char name[128];
    char expected[64];
    const struct trial_query *q = &v->options->queries[i];
    struct validate_figures *f = &v->report->figures;
    struct validate_judged g = {.ndcg = validate_query_ndcg(v, q), .least = q->min_ndcg};
    bool low = g.ndcg < g.least;
    validate_query_name(name, sizeof(name), v, i);
    snprintf(expected, sizeof(expected), "nDCG@%d of at least %.3f", NDCG_HITS, g.least);
    validate_case(v, low ? VALIDATE_FAIL : VALIDATE_PASS, name, expected, "%.3f", g.ndcg);
    if (low) {
        validate_note(v, VALIDATE_FAIL, weigh, "search \"%s\" has nDCG@%d %.3f, less than %.3f",
                      name, NDCG_HITS, g.ndcg, g.least);
    }
    g.name = text_copy(name);
    f->judged = mem_grow(f->judged, f->judged_count + 1, sizeof(*f->judged));
    f->judged[f->judged_count++] = g;
}

static int validate_relevance_judge_query(struct validating *v, size_t i, struct err *err)
{
    const struct trial_query *q = &v->options->queries[i];
    int rc = validate_query_run(v, i, err);
    if (rc < 0) { /* reported by the step "queries" */
        return validate_ends(err) ? rc : 0;
    }
    if (q->expect_count > 0) {
        validate_relevance_rank_query(v, i);
    }
    if (q->judgement_count > 0) {
        validate_relevance_grade_query(v, i);
    }
    return 0;
}

/* --- the step -------------------------------------------------------------------------------- */

static void validate_relevance_conclude(struct validating *v)
{
    const struct validate_figures *f = &v->report->figures;
    const struct relevance *r = &f->relevance;
    double mean = validate_mean_ndcg(f);
    char ndcg[160] = "";
    if (f->judged_count > 0 && mean < v->options->min_ndcg) {
        validate_note(v, VALIDATE_FAIL, weigh, "the mean nDCG@%d is %.3f, less than %.3f",
                      NDCG_HITS, mean, v->options->min_ndcg);
    }
    if (r->asked == 0 && f->judged_count == 0) {
        validate_skip(v, "no text field, and no validate.queries");
        return;
    }
    if (f->judged_count > 0) {
        snprintf(ndcg, sizeof(ndcg),
                 "; nDCG@%d %.3f of %zu judged searches (1: the best documents come first)",
                 NDCG_HITS, mean, f->judged_count);
    }
    validate_set_result(v, "%zu of %zu within the first %lld, MRR %.3f%s", r->found, r->asked,
                        (long long)v->options->k, judge_relevance_mrr(r), ndcg);
}

int validate_relevance(struct validating *v, struct err *err)
{
    size_t found = 0;
    int rc = 0;
    struct relevance *r = &v->report->figures.relevance;
    for (size_t i = 0; i < v->options->query_count && rc == 0; i++) {
        rc = validate_relevance_judge_query(v, i, err);
    }
    size_t written = r->asked;
    if (rc == 0) {
        rc = validate_each_text(v, validate_relevance_ask_match, &found, err);
    }
    size_t made = r->asked - written;
    if (rc == 0 && made > 0 && (double)found < ENOUGH * (double)made) {
        validate_note(v, VALIDATE_FAIL, VALIDATE_SEARCH_REMEDY,
                      "of %zu documents that were searched for by their own text, %zu are among "
                      "the first %lld",
                      made, found, (long long)v->options->k);
    }
    if (rc == 0) {
        validate_relevance_conclude(v);
    }
    return rc;
}
