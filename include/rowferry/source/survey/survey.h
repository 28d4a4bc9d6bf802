/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Surveys one table, so that a configuration can be proposed: its key, facts about its columns, the
 * possible captures, and with other tables the query over all of them.
 *
 * Reads the catalog, statistics and samples of at most some thousand values; changes nothing. If a
 * column cannot be sampled within some seconds, it has no sample.
 */
#pragma once

#include "rowferry/document/propose/propose.h"
#include "rowferry/source/catalog/install.h"
#include "rowferry/source/catalog/query.h"
#include "rowferry/source/catalog/review.h"

struct survey_input {
    const char *table;       /* as in a configuration; without the schema, a table of another schema
                              * than public if it is the only one of that name; or a view */
    const char *const *with; /* tables to join to it by foreign keys */
    size_t with_count;
};

struct survey {
    struct table *table; /* the root table, with the query if there is one; columns: see facts */
    char *name;          /* as a configuration names it */
    char *view;          /* the requested view over the table; null if a table was requested */
    char *key_index;     /* the index that makes the key unique */
    bool key_primary;
    bool key_filled; /* its columns cannot be NULL */
    bool analysed;   /* the planner has statistics of it */
    char *lines;     /* the query with line breaks, for people; null: none */
    struct dependency *dependencies;
    size_t dependency_count;
    char **doubts; /* warnings about expensive dependencies, for people */
    size_t doubt_count;
    struct table_facts facts; /* of the table or the query */
    char *log_obstacle;       /* why the change log cannot follow the table; null if it can */
    enum install_state log;   /* of the table and of all its dependencies */
    bool may_install;
    bool readable;      /* by this role; if not, samples are missing too */
    char *bypass;       /* the remedy if row security hides rows from this role; else null */
    char *cursor;       /* the column with the time of a row's last change; null: none found */
    char *cursor_index; /* an index that begins with that column; null: none */
    bool cursor_filled;
    struct review_changes changes;
    struct pg_identity identity;
};

/*
 * Returns ERR_REJECTED if the table does not exist (with the nearest name), the name is ambiguous,
 * rows have no key, one of `with` has no foreign key to join by, or a view does not contain a
 * table's key.
 */
int survey_take(struct survey *out, struct pg *pg, const struct survey_input *in,
                struct err *err) MUST_CHECK;
void survey_release(struct survey *s);
