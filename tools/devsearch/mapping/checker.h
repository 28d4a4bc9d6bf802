/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Strict check of a document against a mapping, value by value as in the service.
 */
#pragma once

#include "base/reader.h"
#include "mapping/mapping.h"

struct checked {
    struct buf *texts; /* by text slot: words of each text field */
    size_t text_count;
    struct json_object *additions; /* {"properties": ..} added to a dynamic mapping, or null */
};

/* Refuses (400) values that the mapping does not accept. Release `out` in any case. */
int check_document(const struct mapping *m, struct span source, struct span id,
                   enum product product, struct checked *out, struct refusal *refusal);
void checked_release(struct checked *c);

struct checker {
    struct reader reader;
    const struct mapping *mapping;
    enum product product;
    struct span id;
    struct buf text;    /* buffer for strings */
    struct buf preview; /* buffer for refusals */
    struct checked *out;
    struct refusal *refusal;
};

/* Checks one scalar, object or array value of a leaf field (check_value.c). */
int check_leaf(struct checker *c, const struct field *f);

/* Check the next value as a range, vector, flat object or point (check_structure.c). */
int check_range(struct checker *c, const struct field *f);
int check_vector(struct checker *c, const struct field *f);
int check_flat(struct checker *c, const struct field *f);
int check_geo(struct checker *c, const struct field *f);

/* Refuses with "failed to parse field [n] of type [long] .."; the caller adds the cause. Returns
 * -1. */
int check_bad(struct checker *c, const struct field *f, const char *at, struct span preview);

/* Returns the type of a document's refusal; appends its "[line:column] " if the product has it. */
const char *check_type(const struct checker *c);
void check_push_place(struct checker *c, const char *at, struct buf *out);

/* Refuses with "failed to parse" and the reader's problem as cause. */
int check_broken(struct checker *c);
