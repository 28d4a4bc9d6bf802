/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What an error of PostgreSQL means: pure arithmetic on SQLSTATE and text.
 */
#ifndef ROWFERRY_SOURCE_SQLSTATE_H
#define ROWFERRY_SOURCE_SQLSTATE_H

#include "rowferry/base/buf.h"
#include "rowferry/base/err.h"

/* The class of a statement's error. */
enum err_class sqlstate_class(const char *sqlstate);

/*
 * The class of a failed connection, from libpq's message in verbose form ("FATAL:  28P01: ..."):
 * REJECTED where any host said no for good, CONFIG where libpq could not read what it was given.
 * The SQLSTATE, where there is one, goes to sqlstate[6].
 */
enum err_class sqlstate_of_connection(const char *message, char sqlstate[6]);

/* Of a data exception (class 22) the condition's name, else null: its message quotes values of rows
 * and must not be logged. */
const char *sqlstate_data_exception(const char *sqlstate);

/* Appends the message as one line: severity, code, the server's source location and libpq's guesses
 * left out, the secret (null: none) masked. */
/* Appends a message of the server's with the secret masked; null is none. */
void sqlstate_push_masked(struct buf *out, const char *message, const char *secret);

void sqlstate_one_line(struct buf *out, const char *message, const char *secret);

#endif
