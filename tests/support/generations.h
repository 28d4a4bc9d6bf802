/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The indices that a pipeline builds, as the service itself lists them: `<alias>-<date>-<number>`.
 *
 * Whatever goes wrong here fails the test.
 */
#ifndef ROWFERRY_TESTS_GENERATIONS_H
#define ROWFERRY_TESTS_GENERATIONS_H

#include "world.h"

#define GENERATIONS_AUTH "ApiKey " WORLD_API_KEY
#define GENERATIONS_MOST 16

struct generations {
    size_t count;
    char *names[GENERATIONS_MOST]; /* the last number last */
};

/* All whose names begin with the alias and a dash. */
void generations_list(const struct world *w, const char *alias, struct generations *out);
void generations_release(struct generations *g);

/* The one index that the alias points at; the caller frees it. */
char *generations_live(const struct world *w, const char *alias);

/* The index with the highest number of the alias, which is not live; the caller frees it. */
char *generations_next(const struct world *w, const char *alias);

/*
 * Fails unless there are exactly so many generations of shop-articles, the alias points at one of
 * them, and each refreshes at this interval and has so many copies (null: the service's default).
 */
void generations_expect(const struct world *w, size_t count, const char *refresh,
                        const char *replicas);

/* How many documents of the index (or alias) a query finds; "" = all. */
int64_t generations_count(const struct world *w, const char *index, const char *query);

/* A request of somebody else, which the service has to take. */
void generations_do(const struct world *w, const char *method, const char *body, const char *path,
                    ...) __attribute__((format(printf, 4, 5)));

#endif
