/* SPDX-License-Identifier: Apache-2.0 */
/* Runs the configured searches with another definition of the pipeline too, on the same rows. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "validate/validate_private.h"

#define SAME_NDCG 0.0005 /* as it is printed */

/* The first hits of a search. */
struct first_hits {
    size_t places[NDCG_HITS];
    size_t count;
    double ndcg; /* negative: not judged */
};

/* Sets *refused, with a note, if the service refuses the search. */
static int validate_against_ask(struct validating *v, size_t i, const char *where,
                                struct first_hits *out, bool *refused, struct err *err)
{
    char name[128];
    const struct trial_query *q = &v->options->queries[i];
    int rc = validate_query_run(v, i, err);
    if (rc < 0 && !validate_ends(err)) {
        validate_query_name(name, sizeof(name), v, i);
        err_context(err, "search \"%s\", by %s", name, where);
        validate_note_error(v, NULL, err);
        *refused = true;
        return 0;
    }
    if (rc == 0) {
        out->count = v->hits.ids.count < NDCG_HITS ? v->hits.ids.count : NDCG_HITS;
        memcpy(out->places, v->places, out->count * sizeof(*out->places));
        out->ndcg = q->judgement_count > 0 ? validate_query_ndcg(v, q) : -1;
    }
    return rc;
}

static enum validate_verdict validate_against_verdict(const struct validate_compared *c)
{
    if (c->ndcg < 0) {
        return c->place == 0 ? VERDICT_TIE : VERDICT_DIFFERS;
    }
    return fabs(c->ndcg - c->other_ndcg) < SAME_NDCG ? VERDICT_TIE
           : c->ndcg > c->other_ndcg                 ? VERDICT_WIN
                                                     : VERDICT_LOSS;
}

static void validate_against_add(struct validating *v, const struct validate_compared *c)
{
    char expected[64];
    struct validate_figures *f = &v->report->figures;
    f->compared = mem_grow(f->compared, f->compared_count + 1, sizeof(*f->compared));
    f->compared[f->compared_count++] = *c;
    enum validate_status status = c->verdict == VERDICT_LOSS ? VALIDATE_WARN : VALIDATE_PASS;
    if (c->ndcg >= 0) {
        snprintf(expected, sizeof(expected), "nDCG@%d of %.3f or more", NDCG_HITS, c->other_ndcg);
        validate_case(v, status, c->name, expected, "%.3f, %s", c->ndcg,
                      validate_verdict_name(c->verdict));
    } else {
        snprintf(expected, sizeof(expected), "the same first %d hits", NDCG_HITS);
        validate_case(v, status, c->name, expected, c->place == 0 ? "the same" : "%zu differ",
                      c->differ);
    }
}

static int validate_against_compare(struct validating *v, struct validating *other, size_t i,
                                    struct err *err)
{
    char name[128];
    struct first_hits here = {0};
    struct first_hits there = {0};
    bool refused = false;
    int rc = validate_against_ask(v, i, "this definition", &here, &refused, err);
    rc = rc == 0 ? validate_against_ask(other, i, v->options->against->file, &there, &refused, err)
                 : rc;
    if (rc < 0 || refused) {
        return rc;
    }
    struct validate_compared c = {.ndcg = here.ndcg, .other_ndcg = there.ndcg};
    c.differ = judge_differ(here.places, here.count, there.places, there.count, &c.place);
    c.verdict = validate_against_verdict(&c);
    validate_query_name(name, sizeof(name), v, i);
    c.name = text_copy(name);
    validate_against_add(v, &c);
    return 0;
}

static void validate_against_conclude(struct validating *v)
{
    const struct validate_figures *f = &v->report->figures;
    size_t verdicts[VERDICT_COUNT] = {0};
    size_t judged = 0;
    double here = 0;
    double there = 0;
    char ndcg[128] = "";
    for (size_t i = 0; i < f->compared_count; i++) {
        const struct validate_compared *c = &f->compared[i];
        verdicts[c->verdict]++;
        judged += c->ndcg >= 0 ? 1 : 0;
        here += c->ndcg >= 0 ? c->ndcg : 0;
        there += c->ndcg >= 0 ? c->other_ndcg : 0;
    }
    if (judged > 0) {
        here /= (double)judged;
        there /= (double)judged;
        snprintf(ndcg, sizeof(ndcg), "; mean nDCG@%d %.3f, by the other definition %.3f", NDCG_HITS,
                 here, there);
    }
    if (here < there - SAME_NDCG) {
        validate_note(v, VALIDATE_WARN,
                      "compare the mappings of the fields that the lost searches use",
                      "the mean nDCG@%d is %.3f, and %.3f by %s", NDCG_HITS, here, there,
                      v->options->against->file);
    }
    validate_set_result(v, "%zu win%s, %zu loss%s, %zu tie%s, %zu with other hits%s",
                        verdicts[VERDICT_WIN], verdicts[VERDICT_WIN] == 1 ? "" : "s",
                        verdicts[VERDICT_LOSS], verdicts[VERDICT_LOSS] == 1 ? "" : "es",
                        verdicts[VERDICT_TIE], verdicts[VERDICT_TIE] == 1 ? "" : "s",
                        verdicts[VERDICT_DIFFERS], ndcg);
}

/* Makes the other index and fills it with the same rows of the same transaction. */
static int validate_against_build(struct validating *v, struct validating *other, struct err *err)
{
    const struct validate_options *o = v->options->against->options;
    const struct sample_options rows = {.rows = v->options->against->rows,
                                        .mapping = o->mapping,
                                        .fields = o->fields,
                                        .field_count = o->field_count,
                                        .document_bytes = o->document_bytes};
    int rc = trial_name(&other->trial, v->options->pipeline, v->options->alias, "validate",
                        clock_random(&v->ports->clock), err);
    rc = rc == 0 ? sample_redefine(v->sample, &rows, err) : rc;
    rc = rc == 0 ? validate_create(other, err) : rc;
    rc = rc == 0 ? validate_fill(other, err) : rc;
    return rc < 0 ? err_context(err, "the definition of %s", v->options->against->file) : 0;
}

int validate_against(struct validating *v, struct err *err)
{
    struct err removing = {0};
    struct validate_report *scratch = mem_zero(1, sizeof(*scratch));
    struct validate_options options = *v->options->against->options;
    options.queries = v->options->queries;
    options.query_count = v->options->query_count;
    struct validating other = {.options = &options,
                               .ports = v->ports,
                               .report = scratch,
                               .sample = v->sample,
                               .step = v->step};
    scan_list_init(&other.hits.ids, TRIAL_IDS_BYTES);
    other.indexed = mem_zero(sample_count(v->sample) + 1, sizeof(bool));
    int rc = v->options->query_count > 0 ? validate_against_build(v, &other, err) : 0;
    for (size_t i = 0; rc == 0 && i < v->options->query_count; i++) {
        rc = validate_against_compare(v, &other, i, err);
    }
    if (rc == 0 && v->options->query_count == 0) {
        validate_skip(v, "no validate.queries to compare by");
    } else if (rc == 0) {
        validate_against_conclude(v);
    }
    if (validate_drop(&other, &removing) < 0 && rc == 0) {
        *err = removing;
        rc = (int)removing.class;
    }
    scan_list_release(&other.hits.ids);
    free(other.places);
    free(other.indexed);
    free(scratch);
    return rc;
}
