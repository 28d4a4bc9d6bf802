/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Everything that one end-to-end test needs: a database with a table, a service, a configuration.
 *
 * The table is public.articles(source_id bigint primary key, title text, price numeric, tags
 * text[], extra jsonb, published boolean, updated_at timestamptz); the pipeline is "articles", its
 * alias "shop-articles".
 */
#ifndef ROWFERRY_TESTS_WORLD_H
#define ROWFERRY_TESTS_WORLD_H

#include <libpq-fe.h>

#include "program.h"
#include "server.h"

#define WORLD_API_KEY "canary-api-key-5f0c"

struct world {
    char *dir;
    char *uri; /* of the superuser, who needs no password */
    PGconn *conn;
    struct devsearch service;
    char *config; /* path of the configuration file */
};

/* Starts it all with `rows` rows; the change log is not installed. service_options end with null
 * and may be null; the service asks for WORLD_API_KEY in every case. */
void world_start(struct world *w, long rows, const char *const *service_options);
void world_stop(struct world *w);

/* Writes the configuration again with another mapping ("properties" object) and limits (members of
 * the "limits" object, may be empty). */
void world_configure(struct world *w, const char *properties, const char *limits);

/* The configuration as at first, with a condition on the rows. */
void world_where(struct world *w, const char *where);

/* The configuration as at first, with more members of "from". */
void world_from(struct world *w, const char *members);

/* rowferry source install. */
void world_install(struct world *w);

/* rowferry sync --json, which has to end with exit_code; the result is for the caller to release.
 */
void world_sync(struct world *w, int exit_code, struct program_result *result);

/* Fails unless the index holds exactly the table. */
void world_expect_equal(struct world *w);

/* Sets a fault in the service ({"status":503,"count":3}). */
void world_fault(struct world *w, const char *fault);

#endif
