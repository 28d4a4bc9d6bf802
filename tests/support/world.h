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

/* The mapping that it begins with. */
#define WORLD_PROPERTIES                                                                           \
    "\"title\":{\"type\":\"text\"},\"price\":{\"type\":\"double\"},\"tags\":{\"type\":"            \
    "\"keyword\"},\"extra\":{\"type\":\"object\",\"enabled\":false},\"published\":{\"type\":"      \
    "\"boolean\"},\"updated_at\":{\"type\":\"date\"}"

/* Limits with which a sync of some thousand rows waits for its service before it reads on. */
#define SMALL_WINDOW                                                                               \
    "\"retry_budget\": \"20s\", \"batch_operations\": 200, \"window_bytes\": \"256KiB\""

struct world {
    char *dir;
    char *uri;           /* of the superuser, who needs no password */
    const char *source;  /* members of "source" in place of this URI; null: that */
    const char *members; /* more of the pipeline's; null: none */
    const char *to;      /* more of its "to"; null: none */
    PGconn *conn;
    struct devsearch service;
    char *config; /* path of the configuration file */
};

/* Starts it all with `rows` rows; the change log is not installed. service_options end with null
 * and may be null; the service asks for WORLD_API_KEY in every case. */
void world_start(struct world *w, long rows, const char *const *service_options);
/* The same without options, in a database of another encoding. */
void world_start_in(struct world *w, long rows, const char *encoding);
void world_stop(struct world *w);

/* Writes the configuration again with another mapping ("properties" object) and limits (members of
 * the "limits" object, may be empty). */
void world_configure(struct world *w, const char *properties, const char *limits);

/* The configuration with a state file of its own, as on another host; the caller frees it. */
char *world_config_of_another(const struct world *w);

/* Until somebody holds the pipeline in the source. */
void world_await_hold(const struct world *w);

/* Until nobody does: of a program that was killed the server notices in its own time. */
void world_await_free(const struct world *w);

/* The configuration as at first, with a condition on the rows. */
void world_where(struct world *w, const char *where);

/* The configuration as at first, with more members of "from". */
void world_from(struct world *w, const char *members);

/* The configuration as at first, with more members of the pipeline; borrowed. */
void world_pipeline(struct world *w, const char *members);

/* rowferry source install. */
void world_install(struct world *w);

/* rowferry sync --json, which has to end with exit_code; the result is for the caller to release.
 */
void world_sync(struct world *w, int exit_code, struct program_result *result);
/* The same, which has to say these words on standard error. */
void world_sync_says(struct world *w, int exit_code, const char *words);

/* Fails unless the index holds exactly the table. */
void world_expect_equal(struct world *w);

/* The same once what is under way has arrived. */
void world_await_equal(struct world *w, int64_t deadline_ms);

/* Sets a fault in the service ({"status":503,"count":3}). */
void world_fault(const struct world *w, const char *fault);

/* Drops the faults of the service; what they held up goes on at once. */
void world_unfault(const struct world *w);

/* Holds up the next request to a path with these words until world_unfault, for most of a minute
 * at the longest: what a test does meanwhile is sure to happen in the middle. */
void world_hold(const struct world *w, const char *path);

/* The same with all such requests. */
void world_hold_all(const struct world *w, const char *path);

/* Until the service holds a request up. */
void world_await_held(const struct world *w);

/* Until everything that is committed in the source by now is acknowledged, and the checkpoint says
 * so: then nothing of it is under way any more. */
void world_await_settled(const struct world *w);

#endif
