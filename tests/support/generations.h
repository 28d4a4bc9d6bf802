/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The indices that a pipeline builds, as listed by the service: `<alias>-<date>-<number>`.
 *
 * Any error fails the test.
 */
#pragma once

#include "world.h"

#define GENERATIONS_AUTH "ApiKey " WORLD_API_KEY
#define GENERATIONS_MOST 16

struct generations {
    size_t count;
    char *names[GENERATIONS_MOST]; /* in ascending order of their numbers */
};

/* Lists all indices whose names begin with the alias and a dash. */
void generations_list(const struct world *w, const char *alias, struct generations *out);
void generations_release(struct generations *g);

/* Returns the only index that the alias points at; the caller frees it. */
char *generations_live(const struct world *w, const char *alias);

/* Returns the index with the highest number of the alias, which is not live; the caller frees
 * it. */
char *generations_next(const struct world *w, const char *alias);

/*
 * Fails unless shop-articles has exactly `count` generations and the alias points at one of them.
 * Each must have this refresh interval and number of replicas (null: the service's default).
 */
void generations_expect(const struct world *w, size_t count, const char *refresh,
                        const char *workers);

/* Returns how many documents of the index (or alias) match a query; "" = all. */
int64_t generations_count(const struct world *w, const char *index, const char *query);

/* Sends a request like another client; the service must accept it. */
void generations_do(const struct world *w, const char *method, const char *body, const char *path,
                    ...) __attribute__((format(printf, 4, 5)));
