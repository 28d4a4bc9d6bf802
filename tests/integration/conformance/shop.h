/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A table of a database of the test's own, and a pipeline from it to the subject.
 *
 * The table is public.articles(source_id bigint primary key, title text, price numeric(12, 4),
 * tags text[], extra jsonb, published boolean, updated_at timestamptz, rank text, v float4[]);
 * `rank` goes into a long. The alias is the subject's.
 */
#ifndef ROWFERRY_CONFORMANCE_SHOP_H
#define ROWFERRY_CONFORMANCE_SHOP_H

#include <libpq-fe.h>

#include "subject.h"

struct shop {
    struct subject subject;
    char *dir;
    char *uri;
    PGconn *conn;
    char *config;
    const char *from; /* more of "from" and "to", each after its comma; null: none */
    const char *to;
    const char *members; /* more of the pipeline's, for shop_configure; null: none */
};

/* Opens it with so many rows and the change log. more, settings: further properties of the mapping
 * (with a comma before them) and the settings' members, or null. */
void shop_open(struct shop *shop, long rows, const char *more, const char *settings);
/* Writes the configuration again. */
void shop_configure(struct shop *shop, const char *more, const char *settings);
void shop_close(struct shop *shop);

/* rowferry sync --json has to end with the code, and say the text on standard error (null: any). */
void shop_sync(struct shop *shop, int exit_code, const char *text);

/* The same, which has to send this. */
void shop_sync_counts(struct shop *shop, int64_t upserts, int64_t deletes);

/* The index holds exactly the table. */
void shop_expect_equal(struct shop *shop);
/* The same with another key, an SQL expression. */
void shop_expect_equal_by(struct shop *shop, const char *key);

/* The index behind the alias; the caller frees it. */
char *shop_generation(struct shop *shop);

/* Whether the subject searches by vectors, and the settings that it needs for them (vectors.c). */
bool shop_has_vectors(struct shop *shop);
const char *shop_vector_settings(const struct shop *shop, bool possible);

#endif
