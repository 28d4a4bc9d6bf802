/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether two documents say the same: what rowferry would write, and what the service gives back
 * as `_source`.
 *
 * The same bytes are the same document. Otherwise member by member, wherever they stand: strings by
 * what their escapes mean, numbers by their digits (1.0 is 1, 9007199254740993 is nothing else),
 * arrays in their order. What the service fills itself is not compared. A service that derives the
 * source from what it indexed (Elasticsearch: synthetic, OpenSearch: derived) sorts, drops and
 * rounds: then a field is the set of its values, null and an empty array are nothing, a date has
 * milliseconds and a float the digits of its type; what has no such form is not compared.
 *
 * Pure. Neither document is copied.
 */
#ifndef ROWFERRY_DOCUMENT_COMPARE_H
#define ROWFERRY_DOCUMENT_COMPARE_H

#include "rowferry/base/text.h"
#include "rowferry/document/mapping/mapping.h"
#include "rowferry/document/plan/plan.h"

enum source_form {
    SOURCE_AS_SENT,
    SOURCE_VECTORS_APART, /* vectors are kept beside it and put back as floats */
    SOURCE_DERIVED,
};

/* All borrowed. */
struct compare_rules {
    const struct mapping *mapping;
    const struct field *fields; /* a property whose column is null is the service's */
    size_t field_count;
    bool filled; /* an ingest pipeline: members that only the index has are its own */
    enum source_form form;
};

struct difference {
    const char *path;    /* "title", "extra.tags[2]"; borrowed during the callback */
    struct span row;     /* JSON; data null: the member is not there */
    struct span indexed; /* the same of the index */
};

typedef void (*compare_each)(void *context, const struct difference *d);

/* How many fields differ; each may be null. row is whole JSON, indexed too, blanks are allowed. */
size_t compare_documents(const struct compare_rules *rules, struct span row, struct span indexed,
                         compare_each each, void *context);

/* Why a property is not compared, a static text; null: it is. */
const char *compare_skips(const struct compare_rules *rules, const struct property *property);

#endif
