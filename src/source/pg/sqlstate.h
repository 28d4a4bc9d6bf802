/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Classifies errors of PostgreSQL by SQLSTATE and text. Pure.
 */
#pragma once

#include "rowferry/base/buf.h"
#include "rowferry/base/err.h"

/* Returns the class of a statement's error. */
enum err_class sqlstate_class(const char *sqlstate);

/*
 * Returns the class of a failed connection, from libpq's message in verbose form ("FATAL:  28P01:
 * ..."). REJECTED if any host refused permanently, CONFIG if libpq could not parse its parameters.
 * Writes the SQLSTATE, if there is one, to `sqlstate`.
 */
enum err_class sqlstate_of_connection(const char *message, char sqlstate[6]);

/* Returns the condition's name of a data exception (class 22), else null. The message of a data
 * exception quotes values of rows and must not be logged. */
const char *sqlstate_data_exception(const char *sqlstate);

/* Append a message of the server with the secret masked; secret may be null. sqlstate_one_line also
 * makes it one line, without severity, code, the server's source location and libpq's guesses. */
void sqlstate_push_masked(struct buf *out, const char *message, const char *secret);

void sqlstate_one_line(struct buf *out, const char *message, const char *secret);
