/* SPDX-License-Identifier: Apache-2.0 */
/*
 * In what the mapping of an index differs from the configured one, line by line. Pure.
 *
 * What services add themselves is no difference: parameters that have their default, booleans and
 * numbers as texts, "type": "object", dots in names spelt out, `_meta`, our own source_id, what a
 * dynamic object has grown. An index keeps what it has: a difference is additive where the service
 * takes it in place, and documents that are there lack it until they are written again.
 */
#ifndef ROWFERRY_DOCUMENT_MAPDIFF_H
#define ROWFERRY_DOCUMENT_MAPDIFF_H

#include <stdbool.h>
#include <stddef.h>

#include "rowferry/base/buf.h"
#include "rowferry/base/err.h"

enum mapdiff_kind {
    MAPDIFF_ADDED,   /* configured, and not in the index */
    MAPDIFF_REMOVED, /* in the index, and not configured any more */
    MAPDIFF_CHANGED,
};

struct mapdiff_line {
    enum mapdiff_kind kind;
    char *path; /* "title", "author.name", "title.raw" (a multi-field); "" = the whole mapping */
    char *parameter;  /* that differs: "type", "analyzer" ..; null = all of the property */
    char *live;       /* its JSON in the index, null where it has none */
    char *configured; /* and as configured */
    bool additive;    /* a new property or a new multi-field */
};

struct mapdiff {
    struct mapdiff_line *lines; /* in the order of the configuration, what was removed last */
    size_t count;
    bool additive; /* there is a difference, and each is additive */
};

/*
 * configured: the "mappings" object of the configuration, or as it was sent; live: the one of the
 * index (index_mapping). ERR_CONFIG or ERR_TRANSIENT where one is no JSON object, ERR_REJECTED if
 * one is deeper or larger than a mapping can be.
 */
int mapdiff_make(struct mapdiff *out, const char *configured, const char *live,
                 struct err *err) MUST_CHECK;
void mapdiff_release(struct mapdiff *d);

const char *mapdiff_kind_name(enum mapdiff_kind kind); /* "added", "removed", "changed" */

/* Appends a line for people: `title: changed analyzer from "standard" to "english"`. */
void mapdiff_say(struct buf *out, const struct mapdiff_line *line);

/* Appends the "properties" object that adds what is additive (index_extend): the configured
 * definitions of the properties at the root in which something was added. */
void mapdiff_additions(struct buf *out, const struct mapdiff *d, const char *configured);

#endif
