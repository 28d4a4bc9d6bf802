/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checks SQL from the configuration (a condition, a query) that is embedded in one of our
 * statements. A checked text can be put in parentheses on lines of its own: it cannot close the
 * parentheses, end the statement or hide what follows. Only the server can find out if the text is
 * meaningful.
 *
 * Tokens are read as by PostgreSQL's scanner with standard_conforming_strings = on. Pure.
 */
#pragma once

#include <stdbool.h>

#include "rowferry/base/err.h"
#include "rowferry/base/text.h"

/* Returns ERR_CONFIG for unbalanced parentheses or brackets, a ";", an unterminated quotation or
 * comment, a parameter, or a text of only blanks and comments. */
int sqltext_check(const char *sql, struct err *err) MUST_CHECK;

/* Like sqltext_check, for a text that has parameters of its own ($1 and so on). */
int sqltext_check_parameters(const char *sql, struct err *err) MUST_CHECK;

/* Returns true if a checked text may compare the column `name`, or pass it to a function, without
 * an explicit type. Not counted: "name::type", cast(name as ..), operator(schema.=) beside it,
 * "name is null", an item of a select list or of "by". In doubt it returns true. */
bool sqltext_compares(const char *sql, const char *name);

/* Words, quoted names, literals and signs of a text, without comments. */
struct sqltext_tokens {
    struct span *items; /* freed by the caller */
    size_t count;
};

/* Splits a text. If it is not valid, the tokens end at the first problem, with the ";" if that is
 * the problem, as in a view's definition. */
void sqltext_tokens(const char *sql, struct sqltext_tokens *out);

/* Returns a token; empty before the first (SIZE_MAX) and behind the last one. */
struct span sqltext_token(const struct sqltext_tokens *t, size_t at);

/* Return true if a token is the word, or one of the words (ended by null), in any case. */
bool sqltext_is_word(struct span t, const char *word);
bool sqltext_is_one_of(struct span t, const char *const *words);
