/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A table in the test's own database, and a pipeline from it to the subject.
 *
 * The table is public.articles(source_id bigint primary key, title text, price numeric(12, 4), tags
 * text[], extra jsonb, published boolean, updated_at timestamptz, rank text, v float4[]); `rank`
 * goes into a long. The alias is the subject's.
 */
#pragma once

#include <libpq-fe.h>

#include "subject.h"

struct shop {
    struct subject subject;
    char *dir;
    char *uri;
    PGconn *conn;
    char *config;
    const char
        *from; /* further members of "from" and "to", each with a leading comma; may be null */
    const char *to;
    const char *members; /* further members of the pipeline, for shop_configure; may be null */
    bool strict;         /* superusers and administrators are not accepted */
};

/* Creates the shop with this number of rows and the change log. more: further properties of the
 * mapping with a leading comma. settings: members of the settings. Both may be null. */
void shop_open(struct shop *shop, long rows, const char *more, const char *settings);
/* Rewrites the configuration. */
void shop_configure(struct shop *shop, const char *more, const char *settings);
void shop_close(struct shop *shop);

/* Runs rowferry sync --json. Expects the exit code, and the text on standard error (null: any). */
void shop_sync(struct shop *shop, int exit_code, const char *text);

/* Like shop_sync; expects these numbers of upserts and deletes. */
void shop_sync_counts(struct shop *shop, int64_t upserts, int64_t deletes);

/* Expects that the index is equal to the table. */
void shop_expect_equal(struct shop *shop);
/* Like shop_expect_equal, with an SQL expression as key. */
void shop_expect_equal_by(struct shop *shop, const char *key);

/* Returns the index of the alias; the caller frees it. */
char *shop_generation(struct shop *shop);

/* Returns true if the subject has vector search; the other returns the settings it needs
 * (vectors.c). */
bool shop_has_vectors(struct shop *shop);
const char *shop_vector_settings(const struct shop *shop, bool possible);
