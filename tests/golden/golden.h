/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shared by the golden tests: reads rows exactly as the program does, and parses the files of
 * pairs.
 *
 * A file of pairs has lines "SQL expression | mapping type or property | expected JSON". The
 * expectation may be "absent" (NULL is left out), "refused: REASON" or "misfit" (the type does not
 * fit the property). A line with '!' is SQL to run first. '? extension NAME' ends the file if the
 * server does not have that extension. '#' begins a comment. Everything is rolled back at the end
 * of the file.
 *
 * Any error ends the program.
 */
#pragma once

#include "rowferry/base/buf.h"
#include "rowferry/document/bulk/encode.h"
#include "rowferry/source/catalog/catalog.h"
#include "rowferry/source/pg/pg.h"

#define GOLDEN_SKIPPED 77

/* Opens a connection with the program's session settings. Exits with GOLDEN_SKIPPED if
 * $ROWFERRY_TEST_PG is not set. */
struct pg *golden_open(void);

/* Runs a script; `place` is its position, for error messages. */
void golden_run(struct pg *pg, const char *sql, const char *place);

/* Runs a script. Returns false if it fails; then it is rolled back and err has the reason. */
bool golden_try(struct pg *pg, const char *sql, struct err *err);

/* A mapping, a table and the plan between them. */
struct golden_plan {
    struct mapping mapping;
    struct table *table;
    struct plan plan;
    bool fits; /* false: the plan refused the mapping, for the reason in err */
    struct err err;
};

/* `table` is a temporary table with the key k; `properties` is the JSON object of that name. */
void golden_plan(struct golden_plan *p, struct pg *pg, const char *table, const char *properties);
void golden_plan_release(struct golden_plan *p);

/* Adds the table's first row to the batch, using the statement of the initial load. */
bool golden_encode(struct batch *batch, const struct golden_plan *p, struct pg *pg,
                   struct refusal *refusal);

struct pair {
    const char *file; /* without its folder */
    int line;
    const char *expression;
    const char *property; /* as a JSON object */
    const char *expected;
};

/* Called with the value as column p of the only row of the temporary table golden. */
typedef void (*pair_visit)(void *context, struct pg *pg, const struct pair *pair);

/* Returns the number of pairs in the file. *skipped (the caller's buffer) gets the reason if some
 * were skipped, else it is empty. */
int golden_file(struct pg *pg, const char *path, pair_visit visit, void *context,
                struct buf *skipped);
