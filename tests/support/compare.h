/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compares an index with a table, without sharing any code with the program.
 *
 * The documents are read by plain searches, and PostgreSQL compares them as jsonb, whose text keeps
 * every digit of a number and has names in a fixed order.
 */
#pragma once

#include <libpq-fe.h>
#include <stdint.h>

struct comparison {
    int64_t rows;
    int64_t documents;
    int64_t differences; /* missing, extra or different documents */
    char *first;         /* the first of them for people; null: none. The caller frees it. */
};

/*
 * `query` returns (id text, document jsonb) of every row that should be in the index; null members
 * are removed here. The index is refreshed first. authorization may be null.
 */
void compare(struct comparison *c, PGconn *conn, const char *query, const char *url,
             const char *index, const char *authorization);

/* Fails the test, naming the first difference, unless both are equal and have `rows` rows. */
void expect_equal(int64_t rows, PGconn *conn, const char *query, const char *url, const char *index,
                  const char *authorization);

/* Returns the query for a whole table: its columns as they are, timestamptz with six digits,
 * source_id as the key's text. The caller frees it. */
char *compare_table(const char *table, const char *key);
