/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compares two documents: the one that rowferry would write, and the `_source` that the service
 * returns.
 *
 * Equal bytes are equal documents. Otherwise they are compared member by member, in any order:
 * strings with their escapes resolved, numbers by their digits (1.0 equals 1, 9007199254740993
 * equals nothing else), arrays in order. Fields that the service fills itself are not compared. A
 * service may derive the source from the indexed data (Elasticsearch: synthetic, OpenSearch:
 * derived), which sorts, drops and rounds values. Then a field is compared as a set of values. Null
 * and an empty array are equal to absent. Dates have milliseconds, floats the digits of their type.
 * Types without a comparable form are skipped.
 *
 * Pure. Neither document is copied.
 */
#pragma once

#include "rowferry/base/text.h"
#include "rowferry/document/mapping/mapping.h"
#include "rowferry/document/plan/plan.h"

enum source_form {
    SOURCE_AS_SENT,
    SOURCE_VECTORS_APART, /* vectors are stored separately and returned as floats */
    SOURCE_DERIVED,
};

/* All pointers are borrowed. */
struct compare_rules {
    const struct mapping *mapping;
    const struct field *fields; /* the service fills the property of a field whose column is null */
    size_t field_count;
    bool filled; /* an ingest pipeline is configured: ignore members that only the index has */
    enum source_form form;
};

struct difference {
    const char *path;    /* "title", "extra.tags[2]"; borrowed during the callback */
    struct span row;     /* JSON; data is null if the member is absent */
    struct span indexed; /* the same for the index */
};

typedef void (*compare_each)(void *context, const struct difference *d);

/* Returns the number of fields that differ, and calls `each` for each of them unless it is null.
 * `row` and `indexed` are complete JSON; white space is allowed. */
size_t compare_documents(const struct compare_rules *rules, struct span row, struct span indexed,
                         compare_each each, void *context);

/* Returns the reason (a static text) why a property is not compared, or null if it is. */
const char *compare_skips(const struct compare_rules *rules, const struct property *property);
