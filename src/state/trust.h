/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether a state file may be believed: whose it and the files beside it are, what its schema runs.
 */
#ifndef ROWFERRY_STATE_TRUST_H
#define ROWFERRY_STATE_TRUST_H

#include "database.h"

/* ERR_STATE unless the file at path, the journals that SQLite keeps beside it and the lock file are
 * regular files of this process's user which nobody else may write, in a directory in which nobody
 * else may replace them. What is absent is fine. A group of the process is not somebody else, and
 * root may read what is another user's. */
int trust_files(const char *path, bool read_only, struct err *err) MUST_CHECK;

/* Whether the file belongs to another user. Its journal may be planted, and to roll one back
 * deletes the files that it names. */
bool trust_is_foreign(const char *path);

/* The same of a lock file that is open. */
int trust_lock(int fd, const char *path, bool read_only, struct err *err) MUST_CHECK;

/* The path with the links of its directory resolved, so that SQLite may refuse any other; the
 * caller frees it. */
char *trust_path(const char *path);

/* Sets SQLite's defences on a new connection; returns its code. */
int trust_connection(sqlite3 *db);

/* ERR_STATE if the schema has a trigger that no migration made, or a view. */
int trust_schema(const struct state *s, struct err *err) MUST_CHECK;

#endif
