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

struct property {
    char *name;
    char *type;            /* "text", "long" ...; "object" where properties stand without a type */
    char *format;          /* of a date, null where the default */
    int64_t dimension;     /* dims or dimension of a vector, 0 where unsaid */
    int64_t ignore_above;  /* 0 where unsaid */
    double scaling_factor; /* of a scaled_float, 0 where unsaid */
    char *dynamic;         /* of an object, null where unsaid */
    bool enabled;          /* of an object; true where unsaid */
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

/* A fingerprint of what the mapping means, independent of blanks: 16 hex digits and NUL. */
void mapping_fingerprint(char out[17], const struct mapping *m);

#endif
