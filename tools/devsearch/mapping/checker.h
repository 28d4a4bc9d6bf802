/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The strict check of a document against a mapping: every value as the service would judge it.
 */
#ifndef DEVSEARCH_CHECKER_H
#define DEVSEARCH_CHECKER_H

#include "base/reader.h"
#include "mapping/mapping.h"

struct checked {
    struct buf *texts; /* by text slot: the words' text of each text field */
    size_t text_count;
    struct json_object *additions; /* {"properties": ..} that a dynamic mapping gains, or null */
};

/* Refuses (400) what the mapping cannot take. Release `out` in any case. */
int check_document(const struct mapping *m, struct span source, struct span id,
                   enum product product, struct checked *out, struct refusal *refusal);
void checked_release(struct checked *c);

struct checker {
    struct reader reader;
    const struct mapping *mapping;
    enum product product;
    struct span id;
    struct buf text;    /* scratch of strings */
    struct buf preview; /* scratch of refusals */
    struct checked *out;
    struct refusal *refusal;
};

/* One scalar, object or array value of a leaf field (check_value.c). */
int check_leaf(struct checker *c, const struct field *f);

/* The next value is a range, vector, flat object or point (check_structure.c). */
int check_range(struct checker *c, const struct field *f);
int check_vector(struct checker *c, const struct field *f);
int check_flat(struct checker *c, const struct field *f);
int check_geo(struct checker *c, const struct field *f);

/* "failed to parse field [n] of type [long] ..": the caller adds the cause; returns -1. */
int check_bad(struct checker *c, const struct field *f, const char *at, struct span preview);

/* The type of a document's refusal, and its "[line:column] " where the product has it. */
const char *check_type(const struct checker *c);
void check_push_place(struct checker *c, const char *at, struct buf *out);

/* "failed to parse" with the reader's problem as its cause. */
int check_broken(struct checker *c);

#endif
