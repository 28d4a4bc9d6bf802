/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A PostgreSQL server for one test, with tests/servers/postgres: it can be restarted, crashed,
 * copied into a streaming standby and promoted.
 *
 *     START_TEST(what_a_standby_shows_is_later)
 *     {
 *         pair.primary.uri, pair.standby.uri ...
 *     }
 *     PAIR_MAIN("source/standby", what_a_standby_shows_is_later)
 *
 * PAIR_MAIN gives each test a new primary with a streaming standby, each on a free loopback port,
 * and also stops them if the test fails. world_start and database_new create their databases on the
 * primary. Other tests start servers with cluster_start, in an unchecked fixture, because the
 * servers do not end with the test.
 */
#pragma once

#include <check.h>
#include <libpq-fe.h>

struct cluster {
    char *parent; /* parent of folder */
    char *folder;
    char *uri; /* of its database postgres, as a superuser who needs no password */
    char *port;
};

/* standby_of is null, or the URI of the server to copy and to stream from. */
void cluster_start(struct cluster *c, const char *standby_of);

/* The same without a standby, on a host that others reach at this address. */
void cluster_start_on(struct cluster *c, const char *address);
void cluster_stop(struct cluster *c);

/* SIGINT: fast shutdown; SIGQUIT: immediate, like a crash. cluster_again starts it on its old
 * port. */
void cluster_kill(const struct cluster *c, int number);
void cluster_again(const struct cluster *c);

/* Restarts it on another port, as on another host. */
void cluster_move(struct cluster *c, const char *port);

void cluster_promote(const struct cluster *c);

/* Waits until the standby has replayed all that the primary has written so far. */
void cluster_await_replay(const struct cluster *primary, const struct cluster *standby);

/* Makes database_new and world_start use this server. */
void cluster_use(const struct cluster *c);

/* Returns the URI of the same database on another server of the pair; the caller frees it. */
char *cluster_uri(const struct cluster *c, const char *uri);

struct pair {
    struct cluster primary;
    struct cluster standby;
};

extern struct pair pair;

/* Called by PAIR_MAIN before and after each test. */
void pair_start(void);
void pair_stop(void);

int pair_suite(const char *name, const TTest *const *tests, size_t count);

/* One server for all tests of a program, which may restart it. */
extern struct cluster own_cluster;

int cluster_suite(const char *name, const TTest *const *tests, size_t count);

#define CLUSTER_MAIN(name, ...)                                                                    \
    int main(void)                                                                                 \
    {                                                                                              \
        const TTest *const tests[] = {__VA_ARGS__};                                                \
        return cluster_suite((name), tests, sizeof(tests) / sizeof(tests[0]));                     \
    }

#define PAIR_MAIN(name, ...)                                                                       \
    int main(void)                                                                                 \
    {                                                                                              \
        const TTest *const tests[] = {__VA_ARGS__};                                                \
        return pair_suite((name), tests, sizeof(tests) / sizeof(tests[0]));                        \
    }
