/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Classifies errors of PostgreSQL by SQLSTATE and text. Pure.
 */
#pragma once

#include <stdbool.h>

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

/* Returns true if the server refuses what the statement asks for: it is not permitted, not
 * supported, or needs other settings of the server (WAL functions of Amazon Aurora). */
bool sqlstate_is_refusal(const char *sqlstate) MUST_CHECK;

/* Returns the condition's name of a data exception (class 22), else null. The message of a data
 * exception quotes values of rows and must not be logged. */
const char *sqlstate_data_exception(const char *sqlstate);

/* Append a message of the server with the secret masked; secret may be null. sqlstate_one_line also
 * makes it one line, without severity, code, the server's source location and libpq's guesses. */
void sqlstate_push_masked(struct buf *out, const char *message, const char *secret);

void sqlstate_one_line(struct buf *out, const char *message, const char *secret);

/* Returns true if a statement failed because of a character of the database's encoding that UTF8
 * does not have (0x81 of WIN1252). */
bool sqlstate_is_untranslatable(const struct err *why) MUST_CHECK;

/* Finds the character that PostgreSQL's message about it names; writes it as hexadecimal digits.
 * Returns false if the message names none. */
#define UNTRANSLATABLE_BYTES 8 /* maximum of a character */
#define UNTRANSLATABLE_SIZE (2 * UNTRANSLATABLE_BYTES + 1)
bool sqlstate_character(const char *words, char out[UNTRANSLATABLE_SIZE]) MUST_CHECK;
