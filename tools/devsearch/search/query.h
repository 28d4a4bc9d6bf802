/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Queries: compiled into a tree for one index, then evaluated for one document at a time.
 */
#pragma once

#include "index/catalogue.h"

/* A field's value in comparable form. */
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
    size_t slot; /* slot of the field in the plan */
    struct values values;
    bool has_low, low_open, has_high, high_open;
    struct value low, high;
    struct scored_row *rows; /* sorted, for NODE_TEXT */
    size_t row_count;
    struct node **children;
    enum clause *clauses;
    size_t child_count;
    float *vector; /* for NODE_NEAREST */
    size_t vector_len;
    bool cosine;            /* cosine similarity, otherwise l2 */
    int64_t minimum_should; /* -1: the service's default */
};

struct plan {
    const struct index *index;
    const struct field **fields; /* fields to load from a document */
    struct values *slots;
    size_t field_count;
    size_t clauses; /* number of clauses so far */
    size_t nearest; /* hits of a neighbour search; 0: not a neighbour search */
    struct refusal *refusal;
    struct node *root;
};

/* Converts text to a field's comparable form; returns false if the field's type does not accept
 * it. */
bool value_of(const struct field *field, struct span text, struct value *out);
void value_release(struct value *v);
void values_sort(struct values *v); /* sorts values of NODE_TERMS and NODE_IDS */
int value_compare(const struct value *a, const struct value *b);

void plan_init(struct plan *p, const struct index *ix, struct refusal *refusal);
void plan_release(struct plan *p);
/* Returns the slot of a field, adding it if needed. */
size_t plan_slot(struct plan *p, const struct field *field);

/* Counts clauses, words included. Returns -1 with the refusal if a query has too many. */
int plan_count(struct plan *p, size_t clauses);

/* Loads the needed values of a document. */
int plan_load(struct plan *p, struct span source);
/* Returns true if the loaded document matches; adds to *score. */
bool plan_matches(const struct plan *p, const struct node *n, const struct stored *doc,
                  double *score);

struct node *node_new(enum node_kind kind);
void node_free(struct node *n);
/* Adds a child and takes ownership. */
void node_add(struct node *parent, enum clause clause, struct node *child);

/* Compiles the query of a search body; returns null with the refusal on failure. */
struct node *query_compile(struct plan *p, struct json_object *query);

/* Neighbour searches (nearest.c): OpenSearch's [knn] query, and Elasticsearch's [knn] beside the
 * query. Supported only as the whole search. */
struct node *nearest_compile(struct plan *p, struct json_object *body);
struct node *nearest_compile_top(struct plan *p, struct json_object *body);
bool nearest_matches(const struct plan *p, const struct node *n, double *score);

/* Compiles the text of `q=`. */
struct node *query_string_compile(struct plan *p, const char *text);

/* Leaves, shared by both query languages. If lenient, a value of a wrong type matches nothing. */
struct node *leaf_term(struct plan *p, const struct field *f, struct span text, bool lenient);
/* Matches any value of a list; not for text fields. */
struct node *leaf_terms(struct plan *p, const struct field *f, struct json_object *list);
struct node *leaf_match(struct plan *p, const struct field *f, struct span text, bool all_words);
struct node *leaf_phrase(struct plan *p, const struct field *f, struct span text);
struct node *leaf_exists(struct plan *p, const char *path);
struct node *leaf_pattern(struct plan *p, const struct field *f, struct span pattern);
/* Adds a bound: "gt", "gte", "lt" or "lte". */
int leaf_bound(struct plan *p, struct node *range, const struct field *f, const char *name,
               struct span text);
