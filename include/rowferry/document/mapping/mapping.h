/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The mapping, as the configuration pastes it: parsed once into properties, completed with
 * source_id and dynamic: "strict", and written out for the service.
 */
#ifndef ROWFERRY_DOCUMENT_MAPPING_H
#define ROWFERRY_DOCUMENT_MAPPING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rowferry/base/err.h"

struct buf;

/* What the values of a property's type have in common, for the values of JSON. */
enum family {
    FAMILY_OTHER, /* left to the service */
    FAMILY_OBJECT,
    FAMILY_FLAT,
    FAMILY_TEXT, /* any scalar */
    FAMILY_KEYWORD,
    FAMILY_BOOLEAN,
    FAMILY_NUMBER,
    FAMILY_PLACE,
    FAMILY_FEATURES,
    FAMILY_ALIAS,
};

enum number {
    NUMBER_NONE,
    NUMBER_BYTE,
    NUMBER_SHORT,
    NUMBER_INTEGER,
    NUMBER_LONG,
    NUMBER_UNSIGNED_LONG,
    NUMBER_HALF_FLOAT,
    NUMBER_FLOAT,
    NUMBER_DOUBLE,
    NUMBER_FEATURE,
    NUMBER_LATITUDE, /* no types, but the halves of one */
    NUMBER_LONGITUDE,
    NUMBER_SHAPE_LONGITUDE, /* a geo_shape's may go round once more */
};

struct property {
    char *name;
    size_t name_len;
    char *type;            /* "text", "long" ...; "object" where properties stand without a type */
    char *format;          /* of a date, null where the default */
    int64_t dimension;     /* dims or dimension of a vector, 0 where unsaid */
    int64_t ignore_above;  /* 0 where unsaid */
    double scaling_factor; /* of a scaled_float, 0 where unsaid */
    char *dynamic;         /* of an object, null where unsaid */
    char *element_type;    /* element_type or data_type of a vector, null where unsaid */
    char *similarity;      /* or space_type, its own or its method's; null where unsaid */
    bool indexed;          /* true where unsaid */
    bool enabled;          /* of an object; true where unsaid */
    bool strict;           /* of an object: refuses members that it does not name; inherited */
    bool lenient;          /* ignore_malformed: the service takes what it cannot read */
    bool unindexed;        /* of a keyword: neither indexed nor in doc_values */
    int64_t depth_limit;   /* of a flattened; 0 of a flat_object, which has none */
    enum family family;
    enum number number;
    struct property *children; /* of an object or nested */
    size_t child_count;
};

struct mapping {
    struct property *properties;
    size_t count;
    char *dynamic; /* as configured, null where unsaid */
    char *json;    /* the whole as configured, one line */
};

/* json: the "mappings" object of the configuration. ERR_CONFIG names the property that is wrong. */
int mapping_parse(struct mapping *out, const char *json, struct err *err) MUST_CHECK;
void mapping_release(struct mapping *m);
const struct property *mapping_find(const struct mapping *m, const char *name);

/*
 * Appends the "mappings" object as it is sent: source_id (keyword) added where it lacks, dynamic
 * "strict" unless the mapping says otherwise, `_meta` with "rowferry": meta_json merged in.
 */
void mapping_write(struct buf *out, const struct mapping *m, const char *meta_json);

/* What the mapping says of a field: its parameter as a text, an object as JSON, null where it is
 * unsaid. path: "title", "author.name", "title.raw" (a multi-field). The caller frees it. */
char *mapping_parameter(const struct mapping *m, const char *path, const char *parameter);

/* A fingerprint of what the mapping means, independent of blanks: 16 hex digits and NUL. */
void mapping_fingerprint(char out[17], const struct mapping *m);

/* The type that was meant by one that the service does not know: what the other product calls the
 * same, else a type that is spelt nearly so; null: none. */
const char *mapping_meant_type(const char *type);

#endif
