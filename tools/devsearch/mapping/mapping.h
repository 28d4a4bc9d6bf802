/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Mapping of an index: its JSON as returned, and the compiled tree of fields.
 */
#pragma once

#include "mapping/value.h"

struct json_object;

enum dynamic { DYNAMIC_INHERIT, DYNAMIC_TRUE, DYNAMIC_FALSE, DYNAMIC_STRICT };

struct field {
    char *name;
    char *path;        /* dotted, with the name of a multi-field */
    char *source_path; /* path of its values in a document */
    char *format;      /* of dates */
    const struct field_type *type;
    enum dynamic dynamic;
    bool enabled;
    bool indexed;
    bool doc_values;
    bool coerce;
    bool ignore_malformed;
    size_t ignore_above; /* characters; 0: unlimited */
    size_t dimension;    /* of vectors */
    char *similarity;    /* of vectors; null: not given */
    size_t text_slot;    /* index in mapping.texts, for text */
    struct field *children;
    size_t child_count;
    struct field *subs; /* multi-fields */
    size_t sub_count;
};

struct mapping {
    struct json_object *json;
    struct field root;
    const struct field **texts;
    size_t text_count;
};

/* Compiles the value of "mappings" (may be null). The caller releases the mapping even on
 * failure. */
int mapping_parse(struct mapping *m, struct json_object *json, enum product product,
                  struct refusal *refusal);

/* Counts fields, objects and multi-fields below a mapping or a field in JSON. */
size_t mapping_count(struct json_object *json);

/* PUT _mapping: adds fields, replaces `_meta` and `dynamic`, never changes types. */
int mapping_merge(struct mapping *m, struct json_object *update, enum product product,
                  struct refusal *refusal);

void mapping_release(struct mapping *m);

/* Returns the child of that name, or null. */
const struct field *field_child(const struct field *parent, struct span name);

/* Returns the field or multi-field with that dotted path, or null. */
const struct field *mapping_find(const struct mapping *m, const char *path);

/* Calls `leaf` for every leaf field and multi-field. */
void mapping_each(const struct field *from, void (*leaf)(void *context, const struct field *field),
                  void *context);

/* Checks `update` for conflicts with the compiled fields (used by mapping_merge). */
int mapping_conflicts(const struct field *old, const struct field *update, enum product product,
                      struct refusal *refusal);

/* Compiles one field of a mapping. */
int field_compile(struct field *f, const char *name, const char *parent_path,
                  struct json_object *json, enum product product, struct refusal *refusal);
void field_release(struct field *f);
