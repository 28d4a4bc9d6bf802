/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Everything that one end-to-end test needs: a database with a table, a service, a configuration.
 *
 * The table is public.articles(source_id bigint primary key, title text, price numeric, tags
 * text[], extra jsonb, published boolean, updated_at timestamptz). The pipeline is "articles", its
 * alias "shop-articles".
 */
#pragma once

#include <libpq-fe.h>

#include "program.h"
#include "server.h"

#define WORLD_API_KEY "canary-api-key-5f0c"

/* The initial mapping. */
#define WORLD_PROPERTIES                                                                           \
    "\"title\":{\"type\":\"text\"},\"price\":{\"type\":\"double\"},\"tags\":{\"type\":"            \
    "\"keyword\"},\"extra\":{\"type\":\"object\",\"enabled\":false},\"published\":{\"type\":"      \
    "\"boolean\"},\"updated_at\":{\"type\":\"date\"}"

/* Limits with which a sync of some thousand rows must wait for its service before it reads on. */
#define SMALL_WINDOW                                                                               \
    "\"retry_budget\": \"20s\", \"batch_operations\": 200, \"window_bytes\": \"256KiB\""

struct world {
    char *dir;
    char *uri;           /* as the superuser, without a password */
    const char *source;  /* replaces this URI in "source"; null: uses it */
    const char *members; /* more members of the pipeline; null: none */
    const char *to;      /* more members of its "to"; null: none */
    bool strict;         /* superusers and administrators are not accepted */
    PGconn *conn;
    struct devsearch service;
    char *config; /* path of the configuration file */
};

/* Starts everything, with `rows` rows and without the change log. service_options end with null and
 * may be null; the service always requires WORLD_API_KEY. */
void world_start(struct world *w, long rows, const char *const *service_options);
/* The same without options, in a database with another encoding. */
void world_start_in(struct world *w, long rows, const char *encoding);
void world_stop(struct world *w);

/* Rewrites the configuration with another mapping ("properties" object) and limits (members of the
 * "limits" object, may be empty). */
void world_configure(struct world *w, const char *properties, const char *limits);

/* Returns a configuration with a separate state file, as on another host; the caller frees it. */
char *world_config_of_another(const struct world *w);

/* Waits until a process holds the pipeline in the source. */
void world_await_hold(const struct world *w);

/* Waits until it is not held. If a program was killed, the server may take a while to notice. */
void world_await_free(const struct world *w);

/* Writes the initial configuration with a condition on the rows. */
void world_where(struct world *w, const char *where);

/* Writes the initial configuration with more members of "from". */
void world_from(struct world *w, const char *members);

/* Writes the initial configuration with more members of the pipeline; borrowed. */
void world_pipeline(struct world *w, const char *members);

/* Runs rowferry source install. */
void world_install(struct world *w);

/* Runs rowferry sync --json, which must end with exit_code; the caller releases the result. */
void world_sync(struct world *w, int exit_code, struct program_result *result);
/* The same, with these words on standard error. */
void world_sync_says(struct world *w, int exit_code, const char *words);

/* Fails unless the index holds exactly the table. */
void world_expect_equal(struct world *w);

/* Waits until that is true. */
void world_await_equal(struct world *w, int64_t deadline_ms);

/* Sets a fault in the service ({"status":503,"count":3}). */
void world_fault(const struct world *w, const char *fault);

/* Removes the service's faults; delayed requests continue at once. */
void world_unfault(const struct world *w);

/* Delays the next request to a path with these words until world_unfault, for at most 50 seconds.
 * What the test does then happens in the middle of that request. */
void world_hold(const struct world *w, const char *path);

/* The same for all such requests. */
void world_hold_all(const struct world *w, const char *path);

/* Waits until the service delays a request. */
void world_await_held(const struct world *w);

/* Waits until everything committed in the source so far is acknowledged and in the checkpoint. */
void world_await_settled(const struct world *w);
