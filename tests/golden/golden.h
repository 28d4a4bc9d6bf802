/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the golden tests share: rows read exactly as the program reads them, and the files of pairs.
 *
 * A file of pairs holds lines "SQL expression | mapping type or property | expected JSON"; the
 * expectation may be "absent" (NULL is left out), "refused: REASON" or "misfit" (the pair cannot
 * be). '!' begins SQL to run first; '? extension NAME' ends the file where the server does not have
 * that extension; '#' begins a comment. All is rolled back at the end of the file.
 *
 * Whatever goes wrong here ends the program.
 */
#ifndef ROWFERRY_TESTS_GOLDEN_H
#define ROWFERRY_TESTS_GOLDEN_H

#include "rowferry/base/buf.h"
#include "rowferry/document/bulk/encode.h"
#include "rowferry/source/catalog/catalog.h"
#include "rowferry/source/pg/pg.h"

#define GOLDEN_SKIPPED 77

/* A connection with the program's session settings; ends with GOLDEN_SKIPPED where there is no
 * $ROWFERRY_TEST_PG. */
struct pg *golden_open(void);

/* Runs a script; place says in a failure where it stood. */
void golden_run(struct pg *pg, const char *sql, const char *place);

/* Whether it runs; where it does not, nothing is left of it and err says why. */
bool golden_try(struct pg *pg, const char *sql, struct err *err);

/* The mapping, the table and the plan between them. */
struct golden_plan {
    struct mapping mapping;
    struct table *table;
    struct plan plan;
    bool fits; /* false: the plan refused the mapping, and err says why */
    struct err err;
};

/* table: a temporary one with the key k; properties: the JSON object of that name. */
void golden_plan(struct golden_plan *p, struct pg *pg, const char *table, const char *properties);
void golden_plan_release(struct golden_plan *p);

/* Adds the table's first row to the batch, through the statement that a copy runs. */
bool golden_encode(struct batch *batch, const struct golden_plan *p, struct pg *pg,
                   struct refusal *refusal);

struct pair {
    const char *file; /* without its folder */
    int line;
    const char *expression;
    const char *property; /* as a JSON object */
    const char *expected;
};

/* Called with the value as column p of the one row of the temporary table golden. */
typedef void (*pair_visit)(void *context, struct pg *pg, const struct pair *pair);

/* Returns how many pairs the file has; *skipped (buffer of the caller) says why some are left out,
 * or is empty. */
int golden_file(struct pg *pg, const char *path, pair_visit visit, void *context,
                struct buf *skipped);

#endif
