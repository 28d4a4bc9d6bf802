/* SPDX-License-Identifier: Apache-2.0 */
/* Checks the dimensions of vectors, and whether searches find the nearest ones. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "validate/validate_private.h"

#define VECTORS_MAX_BYTES ((size_t)16 << 20)
#define DIMENSION_MOST 16384
#define ASKED_MOST 20
#define NEIGHBOURS 10
#define RECALL_LEAST 0.9

struct vectors {
    struct validating *v;
    const struct property *property;
    size_t dimension; /* from the mapping; 0: unspecified */
    float *one;       /* the current vector */
    float *numbers;   /* vectors of the indexed rows, back to back */
    size_t *rows;
    size_t count;
    size_t capacity;
    size_t wrong; /* number of vectors with another dimension */
    size_t seen;  /* dimension of the first wrong one */
    size_t wrong_row;
};

static bool validate_vectors_is_vector(const struct property *p)
{
    return strcmp(p->type, "dense_vector") == 0 || strcmp(p->type, "knn_vector") == 0;
}

static void validate_vectors_take_vector(void *context, size_t row, int64_t rank, const char *text)
{
    struct vectors *s = context;
    size_t n = judge_vector(text, s->one, DIMENSION_MOST);
    (void)rank;
    s->dimension = s->dimension == 0 ? n : s->dimension;
    if (n == 0 || n > DIMENSION_MOST) {
        return;
    }
    if (n != s->dimension) {
        s->seen = s->wrong++ == 0 ? n : s->seen;
        s->wrong_row = row;
        return;
    }
    size_t bytes = s->dimension * sizeof(float);
    if (!s->v->indexed[row] || (s->count + 1) * bytes > VECTORS_MAX_BYTES) {
        return;
    }
    if (s->count == s->capacity) {
        s->capacity = s->capacity == 0 ? 16 : s->capacity * 2;
        s->numbers = mem_grow(s->numbers, s->capacity, bytes);
        s->rows = mem_grow(s->rows, s->capacity, sizeof(*s->rows));
    }
    memcpy(s->numbers + s->count * s->dimension, s->one, bytes);
    s->rows[s->count++] = row;
}

static int validate_vectors_load(struct validating *v, const struct plan_step *step,
                                 const struct property *p, struct vectors *s, struct err *err)
{
    *s = (struct vectors){.v = v, .property = p, .dimension = (size_t)p->dimension};
    s->one = mem_zero(DIMENSION_MOST, sizeof(float));
    size_t most = VECTORS_MAX_BYTES / ((s->dimension > 0 ? s->dimension : 1024) * sizeof(float));
    int rc = sample_texts(v->sample, step, 0, most, validate_vectors_take_vector, s, err);
    if (rc == 0 && s->wrong > 0) {
        char remedy[256];
        bool dense = strcmp(p->type, "dense_vector") == 0;
        snprintf(remedy, sizeof(remedy),
                 "write \"%s\": %zu in to.mappings if the rows are right; otherwise store vectors "
                 "of one model",
                 dense ? "dims" : "dimension", s->seen);
        validate_note(v, VALIDATE_FAIL, remedy,
                      "field \"%s\": %zu rows have vectors of a dimension other than %zu, for "
                      "example \"%s\" with %zu",
                      p->name, s->wrong, s->dimension, sample_key(v->sample, s->wrong_row).data,
                      s->seen);
    }
    return rc;
}

/* --- neighbours ------------------------------------------------------------------------------ */

static const float *validate_vectors_vector_of(const struct vectors *s, size_t i)
{
    return s->numbers + i * s->dimension;
}

static enum metric validate_vectors_metric_of(const struct vectors *s)
{
    bool dense = strcmp(s->property->type, "dense_vector") == 0;
    const char *element = s->property->element_type;
    bool floats =
        element == NULL || strcmp(element, "float") == 0 || strcmp(element, "bfloat16") == 0;
    return floats ? judge_metric(s->property->similarity, dense ? METRIC_COSINE : METRIC_L2)
                  : METRIC_NONE;
}

/* Finds the vector of a hit. Returns false if it was not kept. */
static bool validate_vectors_place_of(const struct vectors *s, size_t row, size_t *i)
{
    for (*i = 0; *i < s->count; ++*i) {
        if (s->rows[*i] == row) {
            return true;
        }
    }
    return false;
}

static double validate_vectors_recall_of(const struct vectors *s, enum metric metric, size_t asked,
                                         double *all)
{
    double hits[NEIGHBOURS];
    size_t count = 0;
    const float *wanted = validate_vectors_vector_of(s, asked);
    for (size_t i = 0; i < s->count; i++) {
        all[i] = judge_distance(metric, wanted, validate_vectors_vector_of(s, i), s->dimension);
    }
    for (size_t i = 0; i < s->v->hits.ids.count && count < NEIGHBOURS; i++) {
        size_t at;
        if (validate_vectors_place_of(s, s->v->places[i], &at)) {
            hits[count++] =
                judge_distance(metric, wanted, validate_vectors_vector_of(s, at), s->dimension);
        }
    }
    return judge_recall(all, s->count, hits, count, NEIGHBOURS);
}

/* Returns true if the nearest hit is the vector itself or an equal one. */
static bool validate_vectors_finds_itself(const struct vectors *s, enum metric metric, size_t asked)
{
    size_t at;
    if (s->v->hits.ids.count == 0 || !validate_vectors_place_of(s, s->v->places[0], &at)) {
        return false;
    }
    const float *wanted = validate_vectors_vector_of(s, asked);
    return at == asked ||
           (metric != METRIC_NONE &&
            judge_distance(metric, wanted, validate_vectors_vector_of(s, at), s->dimension) <=
                judge_distance(metric, wanted, wanted, s->dimension) + 1e-5);
}

static int validate_vectors_ask_nearest(struct vectors *s, size_t i, struct err *err)
{
    struct buf body;
    buf_init(&body, VALIDATE_TEXT_BYTES);
    trial_push_nearest(&body, &s->v->report->product, s->property->name,
                       validate_vectors_vector_of(s, i), s->dimension, NEIGHBOURS);
    int rc = validate_search(s->v, buf_text(&body), NEIGHBOURS, err);
    buf_release(&body);
    return rc;
}

static void validate_vectors_judge_field(struct vectors *s, enum metric metric,
                                         const struct validate_neighbours *n)
{
    bool inner = metric == METRIC_DOT; /* the nearest by it may be longer than the vector */
    char expected[64];
    snprintf(expected, sizeof(expected), "%zu vectors find themselves", n->asked);
    validate_case(s->v,
                  n->itself < n->asked && !inner               ? VALIDATE_FAIL
                  : n->recall >= 0 && n->recall < RECALL_LEAST ? VALIDATE_WARN
                                                               : VALIDATE_PASS,
                  n->field, expected, n->recall >= 0 ? "%zu; %.0f %% of the nearest" : "%zu",
                  n->itself, 100 * n->recall);
    if (n->itself < n->asked && !inner) {
        validate_note(s->v, VALIDATE_FAIL,
                      "compare similarity and index options of the field with the model's manual",
                      "field \"%s\": of %zu vectors %zu find themselves as the nearest", n->field,
                      n->asked, n->itself);
    }
    if (n->recall >= 0 && n->recall < RECALL_LEAST) {
        validate_note(
            s->v, VALIDATE_WARN,
            "raise m and ef_construction of the index, or num_candidates and ef_search of "
            "searches",
            "field \"%s\": %.0f %% of the %d nearest are found", n->field, 100 * n->recall,
            NEIGHBOURS);
    }
}

static int validate_vectors_try_neighbours(struct vectors *s, struct err *err)
{
    struct validating *v = s->v;
    struct validate_figures *f = &v->report->figures;
    enum metric metric = validate_vectors_metric_of(s);
    struct validate_neighbours n = {.vectors = s->count, .recall = metric == METRIC_NONE ? -1 : 0};
    double *all = mem_zero(s->count + 1, sizeof(*all));
    size_t pace = s->count > ASKED_MOST ? s->count / ASKED_MOST : 1;
    int rc = 0;
    for (size_t i = 0; i < s->count && n.asked < ASKED_MOST && rc == 0; i += pace) {
        rc = validate_vectors_ask_nearest(s, i, err);
        if (rc == 0) {
            n.asked++;
            n.itself += validate_vectors_finds_itself(s, metric, i) ? 1 : 0;
            n.recall += metric != METRIC_NONE ? validate_vectors_recall_of(s, metric, i, all) : 0;
        }
    }
    free(all);
    if (rc == 0 && n.asked > 0) {
        n.field = text_copy(s->property->name);
        n.recall = n.recall > 0 ? n.recall / (double)n.asked : n.recall;
        validate_vectors_judge_field(s, metric, &n);
        f->neighbours = mem_grow(f->neighbours, f->neighbour_count + 1, sizeof(*f->neighbours));
        f->neighbours[f->neighbour_count++] = n;
    }
    return rc;
}

/* --- the step -------------------------------------------------------------------------------- */

static int validate_vectors_try_field(struct validating *v, const struct plan_step *step,
                                      const struct property *p, bool search, struct err *err)
{
    struct vectors s;
    int rc = validate_vectors_load(v, step, p, &s, err);
    if (rc == 0 && search && s.count > 0 && p->indexed) {
        rc = validate_vectors_try_neighbours(&s, err);
        if (rc < 0 && !validate_ends(err)) {
            err_context(err, "field \"%s\"", p->name);
            validate_note_error(v,
                                strcmp(p->type, "knn_vector") == 0
                                    ? "write \"index.knn\": true in to.settings, and a method that "
                                      "the service supports"
                                    : "index the vector, with a similarity that fits it",
                                err);
            rc = 0;
        }
    }
    free(s.one);
    free(s.numbers);
    free(s.rows);
    return rc;
}

static int validate_vectors_each_vector(struct validating *v, bool search, size_t *fields,
                                        struct err *err)
{
    const struct plan *plan = sample_plan(v->sample);
    int rc = 0;
    for (size_t i = 0; i < plan->count && rc == 0; i++) {
        const struct property *p = mapping_find(v->options->mapping, plan->steps[i].property);
        if (p != NULL && validate_vectors_is_vector(p)) {
            *fields += 1;
            rc = validate_vectors_try_field(v, &plan->steps[i], p, search, err);
        }
    }
    return rc;
}

int validate_dimensions(struct validating *v, struct err *err)
{
    size_t fields = 0;
    return validate_vectors_each_vector(v, false, &fields, err);
}

int validate_vectors(struct validating *v, struct err *err)
{
    size_t fields = 0;
    size_t asked = 0;
    size_t itself = 0;
    double recall = 0;
    const struct validate_figures *f = &v->report->figures;
    int rc = validate_vectors_each_vector(v, true, &fields, err);
    for (size_t i = 0; i < f->neighbour_count; i++) {
        asked += f->neighbours[i].asked;
        itself += f->neighbours[i].itself;
        recall += f->neighbours[i].recall > 0 ? f->neighbours[i].recall : 0;
    }
    if (rc == 0 && fields == 0) {
        validate_skip(v, "the mapping has no vector");
    } else if (rc == 0 && asked == 0) {
        validate_set_result(v, "no vector could be searched for");
    } else if (rc == 0) {
        validate_set_result(v, "%zu of %zu find themselves, recall %.3f of the %d nearest", itself,
                            asked, recall / (double)f->neighbour_count, NEIGHBOURS);
    }
    return rc;
}
