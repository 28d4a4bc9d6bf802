/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The configured mapping: parsed once into properties, completed with source_id and dynamic:
 * "strict", and written for the service.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rowferry/base/err.h"

struct buf;

/* Families of property types whose values have one form. */
enum family {
    FAMILY_OTHER,
    FAMILY_TEXT, /* any scalar */
    FAMILY_KEYWORD,
    FAMILY_BOOLEAN,
    FAMILY_WHOLE,
    FAMILY_HALF_FLOAT,
    FAMILY_FLOAT,
    FAMILY_DOUBLE,
    FAMILY_FEATURE,
};

struct property {
    char *name;
    size_t name_len;
    char *type;   /* "text", "long" ...; "object" if the property has properties but not a type */
    char *format; /* of a date; null = the default */
    int64_t dimension;     /* dims or dimension of a vector; 0 = not given */
    int64_t ignore_above;  /* 0 = not given */
    double scaling_factor; /* of a scaled_float; 0 = not given */
    char *dynamic;         /* of an object; null = not given */
    char *element_type;    /* element_type or data_type of a vector; null = not given */
    char *similarity;      /* similarity or space_type, its own or its method's; null = not given */
    bool indexed;          /* default true */
    bool enabled;          /* of an object; default true */
    bool strict;           /* of an object: refuses members without a property; inherited */
    enum family family;
    struct property *children; /* of an object or nested */
    size_t child_count;
};

#define MAPPING_PROVENANCE "provenance" /* the property of option to.provenance */

struct mapping {
    struct property *properties;
    size_t count;
    char *dynamic;   /* as configured; null = not given */
    char *json;      /* the whole mapping as configured, on one line */
    bool provenance; /* each document has the object MAPPING_PROVENANCE; set after mapping_parse */
};

/* Parses the "mappings" object of the configuration. ERR_CONFIG names the invalid property. */
int mapping_parse(struct mapping *out, const char *json, struct err *err) MUST_CHECK;
void mapping_release(struct mapping *m);
const struct property *mapping_find(const struct mapping *m, const char *name);

/*
 * Appends the "mappings" object as it is sent to the service. Adds source_id (keyword) if it is
 * missing, provenance (stored only) if that is set, dynamic "strict" unless configured otherwise,
 * and `_meta` with "rowferry": meta_json merged in.
 */
void mapping_write(struct buf *out, const struct mapping *m, const char *meta_json);

/*
 * The parameter that keeps documents from being listed by the property source_id (an object, null:
 * it is not there) and found by what is listed: "type", "ignore_above", "normalizer", "doc_values"
 * or "script"; null: none. A normalizer lists other keys than were sent, and without doc values
 * nothing can be sorted. ignore_above must not be less than key_max_bytes.
 */
struct json_object;
const char *mapping_source_id_fault(struct json_object *property, size_t key_max_bytes);

/* What the mapping says of a field: its parameter as a text, an object as JSON, null where it is
 * unsaid. path: "title", "author.name", "title.raw" (a multi-field). The caller frees it. */
char *mapping_parameter(const struct mapping *m, const char *path, const char *parameter);

/* Returns the name of a field's first subfield that is a keyword; null if there is none. The caller
 * frees it. */
char *mapping_keyword_of(const struct mapping *m, const char *path);

/* Computes a fingerprint of the mapping that does not depend on white space: 16 hex digits and
 * NUL. */
void mapping_fingerprint(char out[17], const struct mapping *m);

/* Suggests a type for one that the service does not know: the other product's equivalent, else a
 * type with a similar name. Returns null if none is similar. */
const char *mapping_meant_type(const char *type);
