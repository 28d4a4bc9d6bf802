/* SPDX-License-Identifier: Apache-2.0 */
/* Exact nearest neighbour search: compares every document. */
#include "base/tree.h"
#include "search/query.h"

#include <math.h>
#include <stdlib.h>

static bool member_is(struct json_object *body, const char *name, enum json_type type,
                      struct json_object **value)
{
    return json_object_object_get_ex(body, name, value) && json_object_is_type(*value, type);
}

static struct node *bad(struct plan *p, const char *why)
{
    refuse(p->refusal, 400, "illegal_argument_exception", "[knn] %s", why);
    return NULL;
}

/* Returns the similarity measure of the field, or the default of its type. */
static bool compares_by(struct plan *p, const struct field *f, bool *cosine)
{
    if (f->similarity == NULL) {
        *cosine = strcmp(f->type->name, "dense_vector") == 0;
        return true;
    }
    *cosine = strncmp(f->similarity, "cosine", 6) == 0;
    if (!*cosine && strncmp(f->similarity, "l2", 2) != 0) {
        refuse_unknown(p->refusal, "nearest neighbours by [%s], only l2 and cosine", f->similarity);
        return false;
    }
    return true;
}

static struct node *nearest(struct plan *p, const char *path, struct json_object *vector, int64_t k)
{
    const struct field *f = mapping_find(&p->index->mapping, path);
    bool cosine;
    if (f == NULL || f->type->family != FAMILY_VECTOR) {
        return bad(p, "queries need a field that is a vector");
    }
    if (tree_length(vector) != f->dimension) {
        return bad(p, "the query vector has another dimension than the field");
    }
    if (k < 1 || k > 10000) {
        return bad(p, "requires k to be from 1 to 10000");
    }
    if (!compares_by(p, f, &cosine)) {
        return NULL;
    }
    struct node *n = node_new(NODE_NEAREST);
    n->slot = plan_slot(p, f);
    n->vector = mem_zero(f->dimension + 1, sizeof(*n->vector));
    n->vector_len = f->dimension;
    n->cosine = cosine;
    for (size_t i = 0; i < f->dimension; i++) {
        n->vector[i] = (float)json_object_get_double(tree_item(vector, i));
    }
    p->nearest = (size_t)k;
    return n;
}

struct node *nearest_compile(struct plan *p, struct json_object *body)
{
    struct json_object *vector;
    struct json_object *k;
    tree_foreach(body, path, options)
    {
        if (tree_count(body) == 1 && member_is(options, "vector", json_type_array, &vector) &&
            member_is(options, "k", json_type_int, &k) && tree_count(options) == 2) {
            return nearest(p, path, vector, json_object_get_int64(k));
        }
    }
    refuse_unknown(p->refusal, "a [knn] query of more than [vector] and [k]");
    return NULL;
}

struct node *nearest_compile_top(struct plan *p, struct json_object *body)
{
    struct json_object *field;
    struct json_object *vector;
    struct json_object *k;
    struct json_object *candidates;
    if (!member_is(body, "field", json_type_string, &field) ||
        !member_is(body, "query_vector", json_type_array, &vector) ||
        !member_is(body, "k", json_type_int, &k) ||
        !member_is(body, "num_candidates", json_type_int, &candidates) || tree_count(body) != 4) {
        refuse_unknown(p->refusal, "a [knn] of other than field, query_vector, k, num_candidates");
        return NULL;
    }
    if (json_object_get_int64(candidates) < json_object_get_int64(k)) {
        return bad(p, "num_candidates cannot be less than k");
    }
    return nearest(p, tree_text(field), vector, json_object_get_int64(k));
}

bool nearest_matches(const struct plan *p, const struct node *n, double *score)
{
    const struct values *have = &p->slots[n->slot];
    double squares = 0;
    double dot = 0;
    double a = 0;
    double b = 0;
    for (size_t i = 0; i < n->vector_len && have->count == n->vector_len; i++) {
        double x = (double)strtof(have->list[i].text, NULL);
        double y = (double)n->vector[i];
        squares += (x - y) * (x - y);
        dot += x * y;
        a += x * x;
        b += y * y;
    }
    if (have->count != n->vector_len) {
        return false;
    }
    *score += !n->cosine ? 1 / (1 + squares) : a > 0 && b > 0 ? (1 + dot / sqrt(a * b)) / 2 : 0;
    return true;
}
