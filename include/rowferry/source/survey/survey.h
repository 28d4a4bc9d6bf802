/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a database says of one table, so that a configuration can be proposed: its key, what is
 * known of its columns, how its changes can be found, and with other tables the query over all of
 * them.
 *
 * Reads the catalogue, statistics and samples of some thousand values at most; changes nothing. A
 * value that cannot be sampled, or not within some seconds, leaves the column without a sample.
 */
#ifndef ROWFERRY_SOURCE_SURVEY_H
#define ROWFERRY_SOURCE_SURVEY_H

#include "rowferry/document/propose/propose.h"
#include "rowferry/source/catalog/install.h"
#include "rowferry/source/catalog/query.h"

struct survey_input {
    const char *table;       /* as a configuration names it; of another schema than public also
                                without the schema, where it is the only one; or a view */
    const char *const *with; /* tables that foreign keys join it to */
    size_t with_count;
};

struct survey {
    struct table *table; /* the root, with the query where there is one; its columns are in facts */
    char *name;          /* as a configuration names it */
    char *view;          /* what was asked for, where it is a view over the table; else null */
    char *key_index;     /* the index that makes the key unique */
    bool key_primary;
    bool key_filled; /* its columns cannot be NULL */
    bool analysed;   /* the planner has statistics of it */
    char *lines;     /* the query with line breaks, for people; null: none */
    struct dependency *dependencies;
    size_t dependency_count;
    char **doubts; /* of the dependencies: what costs much, in words */
    size_t doubt_count;
    struct table_facts facts; /* of the table or the query */
    char *log_obstacle;       /* why the change log cannot follow it; null: it can */
    enum install_state log;   /* of the table, and of all that it depends on */
    bool may_install;
    bool readable;      /* by this role; where it is not, there are no samples either */
    char *cursor;       /* the column that says when a row was changed; null: none is found */
    char *cursor_index; /* that begins with it; null: none */
    bool cursor_filled;
    struct pg_identity identity;
};

/*
 * ERR_REJECTED: no such table (with the nearest name), several of that name, nothing that
 * identifies a row, no foreign key to one of `with`, a view over no table's key.
 */
int survey_take(struct survey *out, struct pg *pg, const struct survey_input *in,
                struct err *err) MUST_CHECK;
void survey_release(struct survey *s);

#endif
