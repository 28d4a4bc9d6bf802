/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a test needs around it: a folder, a database and a search service of its own.
 *
 * Whatever goes wrong here fails the test. Servers die with the test that started them.
 */
#ifndef ROWFERRY_TESTS_SERVER_H
#define ROWFERRY_TESTS_SERVER_H

#include "program.h"

/* A new folder below $TMPDIR; scratch_remove deletes it with all that is in it and frees it. */
char *scratch_new(void);
void scratch_remove(char *dir);

/* Writes a file of the folder (readable by its owner only) and returns its path; the caller frees
 * it. */
char *scratch_write(const char *dir, const char *name, const char *text);

/* A path in the folder; the caller frees it. */
char *scratch_path(const char *dir, const char *name);

/*
 * A new, empty database of the server at $ROWFERRY_TEST_PG, owned by its superuser, who needs no
 * password (every other user does). Returns its URI; database_drop ends its sessions, drops it and
 * frees the URI.
 */
char *database_new(void);
/* The same with more words of CREATE DATABASE. */
char *database_new_with(const char *words);
void database_drop(char *uri);

/* The URI with another user in it; the caller frees it. */
char *uri_as(const char *uri, const char *user);

struct devsearch {
    struct program program;
    int port;
    char url[64]; /* http */
};

/* Starts $DEVSEARCH_PROGRAM on a port that stays its own; options end with null and may be null. */
void devsearch_start(struct devsearch *service, const char *const *options);

/* The same on a port of its own, for a service that comes back. */
void devsearch_start_at(struct devsearch *service, int port, const char *const *options);

/* Ends it and fails where it did not end well. */
void devsearch_stop(struct devsearch *service);

/* A loopback port on which nobody listens, kept from all others for as long as the test lives: a
 * server may listen there, end, and come back. */
int free_port(void);

#endif
