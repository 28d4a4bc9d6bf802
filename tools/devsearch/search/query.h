/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Queries: compiled for one index into a tree, then asked of one document after the other.
 */
#ifndef DEVSEARCH_QUERY_H
#define DEVSEARCH_QUERY_H

#include "index/catalogue.h"

/* A field's value in the form in which it is compared. */
struct value {
    bool number;
    long double n;
    char *text;
    size_t len;
};

struct values {
    struct value *list;
    size_t count;
    size_t capacity;
};

enum node_kind {
    NODE_ALL,
    NODE_NONE,
    NODE_TERMS,
    NODE_IDS,
    NODE_TEXT,
    NODE_RANGE,
    NODE_EXISTS,
    NODE_PATTERN,
    NODE_BOOL,
    NODE_NEAREST,
};

enum clause { CLAUSE_MUST, CLAUSE_FILTER, CLAUSE_SHOULD, CLAUSE_MUST_NOT };

struct scored_row {
    int64_t row;
    double score;
};

struct node {
    enum node_kind kind;
    size_t slot; /* of the field, in the plan */
    struct values values;
    bool has_low, low_open, has_high, high_open;
    struct value low, high;
    struct scored_row *rows; /* sorted, for NODE_TEXT */
    size_t row_count;
    struct node **children;
    enum clause *clauses;
    size_t child_count;
    float *vector; /* of NODE_NEAREST */
    size_t vector_len;
    bool cosine;            /* else l2 */
    int64_t minimum_should; /* -1: the rule of the service */
};

struct plan {
    const struct index *index;
    const struct field **fields; /* whose values a document is asked for */
    struct values *slots;
    size_t field_count;
    size_t clauses; /* that the query has so far */
    size_t nearest; /* how many a search for neighbours has; 0: it is none */
    struct refusal *refusal;
    struct node *root;
};

/* A value as the field's type compares it; false where the text is none of that type. */
bool value_of(const struct field *field, struct span text, struct value *out);
void value_release(struct value *v);
void values_sort(struct values *v); /* those of NODE_TERMS and NODE_IDS are sorted */
int value_compare(const struct value *a, const struct value *b);

void plan_init(struct plan *p, const struct index *ix, struct refusal *refusal);
void plan_release(struct plan *p);
/* The slot of a field whose values are wanted. */
size_t plan_slot(struct plan *p, const struct field *field);

/* Counts clauses, words among them: -1 and the refusal if they are more than a query may have. */
int plan_count(struct plan *p, size_t clauses);

/* Reads the wanted values of a document. */
int plan_load(struct plan *p, struct span source);
/* Whether the loaded document matches; score is added to. */
bool plan_matches(const struct plan *p, const struct node *n, const struct stored *doc,
                  double *score);

struct node *node_new(enum node_kind kind);
void node_free(struct node *n);
/* Takes the child. */
void node_add(struct node *parent, enum clause clause, struct node *child);

/* The query of a search body, or null and the refusal. */
struct node *query_compile(struct plan *p, struct json_object *query);

/* Neighbours (nearest.c): OpenSearch's query [knn], Elasticsearch's [knn] beside the query; only as
 * the whole of a search. */
struct node *nearest_compile(struct plan *p, struct json_object *body);
struct node *nearest_compile_top(struct plan *p, struct json_object *body);
bool nearest_matches(const struct plan *p, const struct node *n, double *score);

/* The text of `q=`. */
struct node *query_string_compile(struct plan *p, const char *text);

/* Leaves, shared by both languages. lenient: a value of a wrong type matches nothing. */
struct node *leaf_term(struct plan *p, const struct field *f, struct span text, bool lenient);
/* Any of a list's values; not for a text field. */
struct node *leaf_terms(struct plan *p, const struct field *f, struct json_object *list);
struct node *leaf_match(struct plan *p, const struct field *f, struct span text, bool all_words);
struct node *leaf_phrase(struct plan *p, const struct field *f, struct span text);
struct node *leaf_exists(struct plan *p, const char *path);
struct node *leaf_pattern(struct plan *p, const struct field *f, struct span pattern);
/* One bound: "gt", "gte", "lt" or "lte". */
int leaf_bound(struct plan *p, struct node *range, const struct field *f, const char *name,
               struct span text);

#endif
