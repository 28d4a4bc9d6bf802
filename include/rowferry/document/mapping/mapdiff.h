/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compares the mapping of an index with the configured one, line by line. Pure.
 *
 * Additions by the service itself are ignored: parameters with their default value, booleans and
 * numbers as texts, "type": "object", expanded names with dots, `_meta`, our own source_id, and the
 * properties that a dynamic object has acquired. A difference is additive if the service can apply
 * it to the existing index. Existing documents lack the new field until they are written again.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "rowferry/base/buf.h"
#include "rowferry/base/err.h"

enum mapdiff_kind {
    MAPDIFF_ADDED,   /* configured, but not in the index */
    MAPDIFF_REMOVED, /* in the index, but no longer configured */
    MAPDIFF_CHANGED,
};

struct mapdiff_line {
    enum mapdiff_kind kind;
    char *path; /* "title", "author.name", "title.raw" (a multi-field); "" = the whole mapping */
    char *parameter;  /* "type", "analyzer" ..; null = the whole property */
    char *live;       /* its JSON in the index, or null */
    char *configured; /* its configured JSON, or null */
    bool additive;    /* a new property or a new multi-field */
};

struct mapdiff {
    struct mapdiff_line *lines; /* in the order of the configuration, removed ones last */
    size_t count;
    bool additive; /* there are differences, and all of them are additive */
};

/*
 * `configured` is the "mappings" object of the configuration, or as it was sent; `live` is that of
 * the index (index_mapping). Fails with ERR_CONFIG (configured) or ERR_TRANSIENT (live) if it is
 * not a JSON object, and ERR_REJECTED if one is deeper or larger than a mapping can be.
 */
int mapdiff_make(struct mapdiff *out, const char *configured, const char *live,
                 struct err *err) MUST_CHECK;
void mapdiff_release(struct mapdiff *d);

const char *mapdiff_kind_name(enum mapdiff_kind kind); /* "added", "removed", "changed" */

/* Appends a line for people: `title: changed analyzer from "standard" to "english"`. */
void mapdiff_describe(struct buf *out, const struct mapdiff_line *line);

/* Appends the "properties" object that adds the additive differences (index_extend). It has the
 * configured definitions of the root properties in which something was added. */
void mapdiff_additions(struct buf *out, const struct mapdiff *d, const char *configured);
