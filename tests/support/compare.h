/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether an index equals a table: an oracle that shares nothing with the program.
 *
 * The documents are read by plain searches and the comparison is made by PostgreSQL, as jsonb,
 * whose text keeps every digit of a number and puts names in one order.
 */
#ifndef ROWFERRY_TESTS_COMPARE_H
#define ROWFERRY_TESTS_COMPARE_H

#include <libpq-fe.h>
#include <stdint.h>

struct comparison {
    int64_t rows;
    int64_t documents;
    int64_t differences; /* missing, too many, other content */
    char *first;         /* the first of them for people; null: none. The caller frees it. */
};

/*
 * query: (id text, document jsonb) of every row that should be in the index, nulls and all; null
 * members are taken away here. The index is refreshed first. authorization may be null.
 */
void compare(struct comparison *c, PGconn *conn, const char *query, const char *url,
             const char *index, const char *authorization);

/* Fails the test, naming the first difference, unless both are equal with so many rows. */
void expect_equal(int64_t rows, PGconn *conn, const char *query, const char *url, const char *index,
                  const char *authorization);

/* The query for a whole table: its columns as they are, timestamptz with six digits, source_id the
 * key's text. The caller frees it. */
char *compare_table(const char *table, const char *key);

#endif
