/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the files of the survey. */
#pragma once

#include "pg/pg_private.h"
#include "rowferry/source/survey/survey.h"

#define SURVEY_TEXT_BYTES ((size_t)1 << 20)

struct survey_found {
    char *name; /* as a configuration names it */
    uint32_t oid;
    char kind;
};

/* Finds the table or view of this name. Returns ERR_REJECTED if there is none, or if there are
 * several. */
int survey_find(struct survey_found *out, struct pg *pg, const char *name,
                struct err *err) MUST_CHECK;

/* Opens the table with the columns that identify a row best, and records them in s. Returns
 * ERR_REJECTED if a row has no such columns. */
int survey_open(struct pg *pg, struct table **out, const struct survey_found *found,
                struct survey *s, struct err *err) MUST_CHECK;

/* Collects statistics and samples of the table, or of its query if it has one. */
int survey_facts(struct pg *pg, const struct table *t, const struct columns *columns,
                 struct column_facts *out, bool *analysed, struct err *err) MUST_CHECK;

/* SQL for people, whose names the server quotes if necessary. */
struct survey_sql {
    struct buf text; /* released by the owner */
    struct pg *pg;
    struct err *err;
    int rc; /* of the first failure; nothing more is asked then */
};

void survey_sql_init(struct survey_sql *sql, struct pg *pg, struct err *err);
void survey_push_name(struct survey_sql *sql, const char *name);
/* Appends "public.articles". */
void survey_push_table(struct survey_sql *sql, const char *schema, const char *name);

struct survey_pair {
    char *child, *parent;               /* columns */
    char *child_quoted, *parent_quoted; /* the same, for SQL */
    bool same_type;
};

/* A foreign key. */
struct survey_link {
    uint32_t child, parent;
    char *child_name, *parent_name;     /* as a configuration names them */
    char *child_quoted, *parent_quoted; /* for SQL */
    struct survey_pair *pairs;
    size_t pair_count;
};

struct survey_links {
    struct survey_link *items;
    size_t count;
};

/* Reads the foreign keys between the tables. */
int survey_links_read(struct survey_links *out, struct pg *pg, const uint32_t *oids, size_t count,
                      struct err *err) MUST_CHECK;
void survey_links_release(struct survey_links *l);

/*
 * Adds a dependency on the table: its changes refresh the root's documents, found by the shortest
 * path of foreign keys. Without a path every change refreshes all documents, which adds a doubt.
 */
int survey_depend(struct survey *s, struct pg *pg, const struct survey_links *links,
                  const struct survey_found *table, struct err *err) MUST_CHECK;

/* Adds a dependency by one foreign key of the root (to_parent), or to the root. */
int survey_depend_on(struct survey *s, struct pg *pg, const struct survey_link *link,
                     bool to_parent, struct err *err) MUST_CHECK;

/* Joins the tables of in->with to the survey's table. */
int survey_join(struct survey *s, struct pg *pg, const struct survey_input *in,
                struct err *err) MUST_CHECK;

/* Finds the table whose rows a view shows, and reads it through the view. */
int survey_view(struct survey *s, struct pg *pg, const struct survey_found *found,
                struct err *err) MUST_CHECK;
