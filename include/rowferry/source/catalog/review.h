/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What check asks of a source beside what a sync asks of it. Changes nothing.
 */
#ifndef ROWFERRY_SOURCE_REVIEW_H
#define ROWFERRY_SOURCE_REVIEW_H

#include "rowferry/source/catalog/catalog.h"
#include "rowferry/source/pg/pg.h"

#define REVIEW_NAME_BYTES 256

struct review_server {
    char encoding[32];
    int64_t clock_us; /* the server's wall clock, between the two of the caller */
    bool sees_others; /* this role is told what other sessions do */
    struct {
        int64_t pid; /* 0: none is open */
        int64_t age_ms;
        char who[REVIEW_NAME_BYTES]; /* "psql" of alice, idle in transaction */
        bool idle;
    } open;
    struct {
        int64_t age_ms;
        char gid[REVIEW_NAME_BYTES]; /* as a literal of SQL; empty: none is prepared */
        char owner[64];
    } prepared;
};
int review_server(struct pg *pg, struct review_server *out, struct err *err) MUST_CHECK;

/* What a role may do too little or too much, in words and with the statement that mends it. */
struct review_right {
    char *words;
    char *statement;
};
struct review_rights {
    struct review_right *items;
    size_t count;
};
/* Of reading the table, and where `log` its change log. */
int review_missing(struct pg *pg, const struct table *t, bool log, struct review_rights *out,
                   struct err *err) MUST_CHECK;
/* Nothing for a superuser, who may everything. */
int review_surplus(struct pg *pg, const struct table *t, struct review_rights *out,
                   struct err *err) MUST_CHECK;
/* Who but the owner may change or delete rows of the table. */
int review_writers(struct pg *pg, const struct table *t, struct review_rights *out,
                   struct err *err) MUST_CHECK;
void review_rights_release(struct review_rights *r);

/* What the server's statistics have seen of the table. */
struct review_changes {
    int64_t inserts, updates, deletes;
    int64_t seconds; /* since they began */
};
int review_changes(struct pg *pg, const struct table *t, struct review_changes *out,
                   struct err *err) MUST_CHECK;

/* The size as JSON of rows that lie apart; rows 0 where there are none. */
struct review_wanted {
    const char *const *columns;
    size_t column_count;
    size_t most; /* rows */
};
struct review_sample {
    int64_t rows;
    int64_t average_bytes;
    int64_t largest_bytes;
    bool late; /* it was given up after ten seconds: nothing is known */
};
int review_sample(struct pg *pg, const struct table *t, const struct review_wanted *wanted,
                  struct review_sample *out, struct err *err) MUST_CHECK;

#endif
