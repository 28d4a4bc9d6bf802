/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A folder, a database and a search service for one test.
 *
 * Any error fails the test. Servers end with the test that started them.
 */
#pragma once

#include "program.h"

/* Creates a folder below $TMPDIR. scratch_remove deletes it with its content and frees it. */
char *scratch_new(void);
void scratch_remove(char *dir);

/* Writes a file in the folder (readable by its owner only) and returns its path; the caller frees
 * it. */
char *scratch_write(const char *dir, const char *name, const char *text);

/* Returns a path in the folder; the caller frees it. */
char *scratch_path(const char *dir, const char *name);

/*
 * Creates an empty database on the server at $ROWFERRY_TEST_PG. Its owner is the superuser, who
 * needs no password, unlike every other user. Returns its URI. database_drop ends its sessions,
 * drops it and frees the URI.
 */
char *database_new(void);
/* The same with additional words of CREATE DATABASE. */
char *database_new_with(const char *words);
void database_drop(char *uri);

/* Returns true if that server is of this version (150000) or a newer one. */
bool server_has(int version);

/* Returns the URI with another user; the caller frees it. */
char *uri_as(const char *uri, const char *user);

struct devsearch {
    struct program program;
    int port;
    char url[64]; /* http */
};

/* Starts $DEVSEARCH_PROGRAM on a port reserved for it; options end with null and may be null. */
void devsearch_start(struct devsearch *service, const char *const *options);

/* The same on a given port, for a service that is restarted. */
void devsearch_start_at(struct devsearch *service, int port, const char *const *options);

/* Ends it and fails if its exit code is not 0. */
void devsearch_stop(struct devsearch *service);

/* Returns a free loopback port, reserved as long as the test lives. A server may listen on it, end,
 * and be restarted. */
int free_port(void);
