/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The plan: compiled once per pipeline from mapping and columns, a list of "property, column,
 * converter" that is applied to every row.
 *
 * Each property is filled from the column of the same name unless `fields` specifies another. A
 * field set to null is filled by the service. source_id is always written, from the key's text.
 *
 * A timestamp without a zone gets one by its field. PostgreSQL converts it to an instant while it
 * is read, so that changes of daylight time are those of its own rules.
 */
#pragma once

#include "rowferry/base/err.h"
#include "rowferry/document/convert/type.h"
#include "rowferry/document/mapping/mapping.h"
#include "rowferry/document/model/row.h"

struct buf;

struct field {
    char *property;
    char *column; /* null: the service fills it */
    char *zone;   /* of a timestamp without one, as PostgreSQL names it; null: none */
};

#define PLAN_PREFIX_BLOCK 16 /* prefixes are padded to and copied in blocks of this size */

struct plan_step {
    size_t value; /* index in the row; 0 is the key's text */
    struct type_pair pair;
    char *prefix; /* `,"title":`, ready to be copied; source_id comes before it */
    size_t prefix_len;
    const char *property; /* its name, owned by the mapping */
};

struct plan {
    struct plan_step *steps;
    size_t count;
    char **columns; /* columns to select, in the order of the row's values from 1 on */
    char **zones;   /* for each column: read as an instant in this zone; null: read as it is */
    size_t column_count;
    size_t document_bytes; /* size of the largest document that is sent */
    char *provenance; /* `,"provenance":{..,"version":`, followed by version and time; or null */
    char *too_large;  /* "a document of more than 16777216 bytes", a refusal's reason */
};

struct plan_input {
    const struct mapping *mapping; /* borrowed; must outlive the plan */
    const struct columns *columns; /* of the table or query */
    const struct field *fields;
    size_t field_count;
    size_t document_bytes;
};

/* A warning or an error about one property, for `check` and for the error of a sync. */
struct plan_note {
    bool error;  /* false: a remark about a loss */
    bool slight; /* the loss is one that hardly any search notices */
    char *property;
    char *text;
    const char *loss; /* common ending of the text for all columns with this loss; null: an error */
};

struct plan_notes {
    struct plan_note *items;
    size_t count;
};

/* Compiles the plan and collects all notes (notes may be null). Returns ERR_REJECTED if a property
 * has no column or a type that cannot hold its column; the message names the first, the notes list
 * all. Returns ERR_CONFIG if `fields` names an unknown property. */
int plan_compile(struct plan *out, const struct plan_input *in, struct plan_notes *notes,
                 struct err *err) MUST_CHECK;
/* Sets from where the documents come, for their object "provenance". */
void plan_set_provenance(struct plan *p, const char *pipeline, const char *database,
                         const char *schema, const char *table);
void plan_release(struct plan *p);
void plan_notes_release(struct plan_notes *n);
