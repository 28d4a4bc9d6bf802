/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Facts about a source that check needs in addition to those of a sync. Changes nothing.
 */
#pragma once

#include "rowferry/source/catalog/catalog.h"
#include "rowferry/source/pg/pg.h"

#define REVIEW_NAME_BYTES 256

struct review_server {
    char encoding[32];
    int64_t clock_us; /* the server's wall clock, between two readings of the caller's */
    bool sees_others; /* this role may see the activity of other sessions */
    struct {
        int64_t pid; /* 0: no open transaction */
        int64_t age_ms;
        char who[REVIEW_NAME_BYTES]; /* "psql" of alice, idle in transaction */
        bool idle;
    } open;
    struct {
        int64_t age_ms;
        char gid[REVIEW_NAME_BYTES]; /* as an SQL literal; empty: no prepared transaction */
        char owner[64];
    } prepared;
    struct review_bound {
        int64_t most;                 /* sessions that it admits; negative: any number */
        int64_t others;               /* sessions that are not of rowferry */
        char name[REVIEW_NAME_BYTES]; /* for SQL; empty: the server */
    } server, database, role;
};
int review_server(struct pg *pg, struct review_server *out, struct err *err) MUST_CHECK;

/* A missing or excessive right of a role: a description, and the statement that corrects it; null
 * if another role should be used instead. */
struct review_right {
    char *words;
    char *statement;
};
struct review_rights {
    struct review_right *items;
    size_t count;
};
/* Finds missing rights to read the table, and its change log if `log` is set. */
int review_missing(struct pg *pg, const struct table *t, bool log, struct review_rights *out,
                   struct err *err) MUST_CHECK;
/* Finds excessive rights. Empty for a superuser, who has all of them. */
int review_surplus(struct pg *pg, const struct table *t, struct review_rights *out,
                   struct err *err) MUST_CHECK;
/* Finds the roles, other than the owner, that may change or delete rows of the table. */
int review_writers(struct pg *pg, const struct table *t, struct review_rights *out,
                   struct err *err) MUST_CHECK;
void review_rights_release(struct review_rights *r);
/* Finds who (words) may run which statement, so that the table's row security hides no row from the
 * role `reader`, which need not exist. The best way first; empty if there is none. */
int review_bypass(struct pg *pg, const struct table *t, const char *reader,
                  struct review_rights *out, struct err *err) MUST_CHECK;
/* Appends the same as a remedy. */
void review_push_bypass(struct pg *pg, const struct table *t, const char *reader, struct buf *out);

/* Changes of the table according to the server's statistics. */
struct review_changes {
    int64_t inserts, updates, deletes;
    int64_t seconds; /* since the statistics began */
};
int review_changes(struct pg *pg, const struct table *t, struct review_changes *out,
                   struct err *err) MUST_CHECK;
/* Returns the column with the time of a row if the table suits a data stream: rows were only added,
 * REVIEW_STREAM_ROWS or more, and each has a time. Otherwise null. */
#define REVIEW_STREAM_ROWS 1000
const struct column *review_stream_time(const struct columns *columns,
                                        const struct review_changes *seen);
/* Returns the column that a data stream's "@timestamp" can be filled from, or null. */
const struct column *review_time_column(const struct columns *columns);

/* The size as JSON of rows from different places of the table; rows is 0 if the table is empty. */
struct review_wanted {
    const char *const *columns;
    size_t column_count;
    size_t most; /* rows */
};
struct review_sample {
    int64_t rows;
    int64_t average_bytes;
    int64_t largest_bytes;
    bool late; /* ended after ten seconds without a result */
};
int review_sample(struct pg *pg, const struct table *t, const struct review_wanted *wanted,
                  struct review_sample *out, struct err *err) MUST_CHECK;
