/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checks if a state file can be trusted: owners of it and the files beside it, and triggers in its
 * schema.
 */
#pragma once

#include "database.h"

/* Returns ERR_STATE unless the state file, SQLite's journals beside it and the lock file are safe.
 * They must be regular files of this process's user, not writable by others, in a directory where
 * others cannot replace them. Missing files are accepted. A group of the process may have write
 * access, and root may read another user's files. */
int trust_files(const char *path, bool read_only, struct err *err) MUST_CHECK;

/* Returns true if the file belongs to another user. Its journal may be planted, and rolling one
 * back deletes the files that it names. */
bool trust_is_foreign(const char *path);

/* The same check for an open lock file. */
int trust_lock(int fd, const char *path, bool read_only, struct err *err) MUST_CHECK;

/* Returns the path with the links of its directory resolved, so that SQLite may refuse all other
 * links. The caller frees it. */
char *trust_path(const char *path);

/* Sets SQLite's protective options on a new connection. Returns its code. */
int trust_connection(sqlite3 *db);

/* ERR_STATE if the schema has a view, or a trigger that is not from a migration. */
int trust_schema(const struct state *s, struct err *err) MUST_CHECK;
