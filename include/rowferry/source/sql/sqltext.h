/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SQL that people write and that stands within a statement of ours: a condition, a query. Put in
 * parentheses and on lines of its own it stays what it is: nothing in it ends the parentheses, the
 * statement, or swallows what follows. Whether it means anything is for the server to say.
 *
 * Read as PostgreSQL's own scanner does with standard_conforming_strings = on. Pure.
 */
#ifndef ROWFERRY_SOURCE_SQLTEXT_H
#define ROWFERRY_SOURCE_SQLTEXT_H

#include <stdbool.h>

#include "rowferry/base/err.h"

/* ERR_CONFIG: parentheses or brackets that do not match, a ";", a quotation or comment that does
 * not end, a parameter, nothing but blanks and comments. */
int sqltext_check(const char *sql, struct err *err) MUST_CHECK;

/* The same for a text that has parameters of its own, $1 and so on. */
int sqltext_check_parameters(const char *sql, struct err *err) MUST_CHECK;

/* Returns true if a checked text may compare the column `name`, or hand it to a function, without a
 * word about its type: neither "name::type" or cast(name as ..), nor beside operator(schema.=), nor
 * "name is null", nor as an item of a select list or of "by". Errs towards true. */
bool sqltext_compares(const char *sql, const char *name);

#endif
