/* SPDX-License-Identifier: Apache-2.0 */
/* Declarations shared by the files that propose a mapping. */
#pragma once

#include "rowferry/base/buf.h"
#include "rowferry/document/propose/propose.h"

#define PROPOSE_TEXT_BYTES ((size_t)64 * 1024)
#define PROPOSE_WORD_BYTES 8191 /* characters that never exceed a keyword's 32,766 bytes */

struct proposer {
    enum propose_for product;
    bool in_json; /* the column is a member of an object that PostgreSQL writes as JSON */
    bool is_key;
};

/* Sets the parameters (printf). */
void propose_set(struct proposed *p, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Appends to the reason (printf). */
void propose_note(struct proposed *p, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Adds a child, zeroed except for its name, which is copied. */
struct proposed *propose_child(struct proposed *p, const char *name);

/* Proposes a text that can be searched by words and as a whole. */
void propose_text_both(struct proposed *out);
/* Chooses between text and keyword. */
void propose_text(struct proposed *out, const struct column *c, const struct column_facts *f,
                  const struct proposer *how);
/* Proposes a property for json and jsonb from the statistics of a sample. */
void propose_shape(struct proposed *out, const struct shape *s, const struct proposer *how);
/* Proposes an object that is stored, but not searched; `why` precedes that in the reason. */
void propose_unmapped(struct proposed *out, const char *why);
/* Proposes an object that accepts anything, searchable if the product has a type for that. */
void propose_anything(struct proposed *out, const struct proposer *how);
void propose_vector(struct proposed *out, int64_t dimension, const struct column_facts *f,
                    const struct proposer *how);
void propose_column(struct proposed *out, const struct column *c, const struct column_facts *f,
                    const struct proposer *how);

/* Converts the column's name to a property name that no other child of `among` has. The caller
 * frees it. */
char *propose_name(const struct proposed *among, const char *column);
