/* SPDX-License-Identifier: Apache-2.0 */
/* Compiles how a column fills a property, including all their parts. */
#pragma once

#include "rowferry/document/plan/plan.h"

struct converter_search {
    size_t max_bytes;         /* maximum size of a part of a value */
    struct plan_notes *notes; /* warnings and errors are appended, named by path: "address.city" */
    size_t errors;            /* number of errors among them */
};

/* Fills the pair, which the caller releases. Returns false if an error was noted. */
bool converter_compile(struct type_pair *out, struct converter_search *search,
                       const struct column *column, const struct property *property);

/* Appends a note; takes ownership of text's bytes. */
void converter_notes_take(struct plan_notes *notes, bool error, const char *property,
                          struct buf *text);

/* Appends the name as JSON with its colon, `"city":`. */
void converter_push_json_name(struct buf *out, const char *name);
