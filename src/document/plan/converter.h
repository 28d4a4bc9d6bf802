/* SPDX-License-Identifier: Apache-2.0 */
/* Compiling how a column fills a property, down to what both are made of. */
#ifndef ROWFERRY_DOCUMENT_CONVERTER_H
#define ROWFERRY_DOCUMENT_CONVERTER_H

#include "rowferry/document/plan/plan.h"

struct pair_search {
    size_t max_bytes;         /* of a part of a value */
    struct plan_notes *notes; /* doubts are appended, named by their path: "address.city" */
    size_t errors;            /* how many of them are errors */
};

/* Fills the pair, which the caller releases; false where an error was noted. */
bool pair_compile(struct type_pair *out, struct pair_search *search, const struct column *column,
                  const struct property *property);

/* Appends a note, and takes text's bytes. */
void notes_take(struct plan_notes *notes, bool error, const char *property, struct buf *text);

/* The name as JSON with its colon, `"city":`. */
void push_json_name(struct buf *out, const char *name);

#endif
