/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SQL in tests: any error of the database fails the test.
 */
#pragma once

#include <libpq-fe.h>
#include <stdint.h>

/* The caller closes it with PQfinish. */
PGconn *sql_open(const char *uri);

/* Runs statements (printf). */
void sql_exec(PGconn *conn, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Returns the first column of the first row (printf), or null if it is NULL or the result is empty.
 * The caller frees it. */
char *sql_text(PGconn *conn, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The same as an integer. */
int64_t sql_int(PGconn *conn, const char *format, ...) __attribute__((format(printf, 2, 3)));
