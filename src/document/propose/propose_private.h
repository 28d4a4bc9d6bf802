/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the proposal have in common. */
#ifndef ROWFERRY_DOCUMENT_PROPOSE_PRIVATE_H
#define ROWFERRY_DOCUMENT_PROPOSE_PRIVATE_H

#include "rowferry/base/buf.h"
#include "rowferry/document/propose/propose.h"

#define PROPOSE_TEXT_BYTES ((size_t)64 * 1024)
#define PROPOSE_WORD_BYTES 8191 /* characters of which none passes a keyword's 32,766 bytes */

struct proposer {
    enum propose_for product;
    bool in_json; /* the column is a member of an object that PostgreSQL writes as JSON */
    bool is_key;
};

/* Sets the parameters (printf). */
void propose_set(struct proposed *p, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Adds to the reason (printf). */
void propose_say(struct proposed *p, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Room for another child, zeroed but for its name, which is copied. */
struct proposed *propose_child(struct proposed *p, const char *name);

/* Text against keyword. */
void propose_text(struct proposed *out, const struct column *c, const struct column_facts *f,
                  const struct proposer *how);
/* What json and jsonb hold, by what was found in a sample. */
void propose_shape(struct proposed *out, const struct shape *s, const struct proposer *how);
/* An object that takes anything, searched where the product has a type for that. */
void propose_anything(struct proposed *out, const struct proposer *how);
void propose_vector(struct proposed *out, int64_t dimension, const struct column_facts *f,
                    const struct proposer *how);
void propose_column(struct proposed *out, const struct column *c, const struct column_facts *f,
                    const struct proposer *how);

/* The column's name as a property's, which is of no other child of `among`; the caller frees it. */
char *propose_name(const struct proposed *among, const char *column);

#endif
