/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SQL in tests: whatever the database refuses fails the test.
 */
#ifndef ROWFERRY_TESTS_SQL_H
#define ROWFERRY_TESTS_SQL_H

#include <libpq-fe.h>
#include <stdint.h>

/* Close it with PQfinish. */
PGconn *sql_open(const char *uri);

/* Runs statements (printf). */
void sql_exec(PGconn *conn, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The first column of the first row (printf); null where it is NULL or there is no row. The caller
 * frees it. */
char *sql_text(PGconn *conn, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The same as a whole number. */
int64_t sql_int(PGconn *conn, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
