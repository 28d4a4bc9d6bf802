/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Representative rows of a table, and what the server says of their values.
 *
 * Everything is read in one transaction, so that rows and what is asked about them agree while
 * others write; nothing is written. Rows are chosen from a pool: the whole table where it is small,
 * else blocks of it by chance. Only their keys are kept: rows come one at a time.
 */
#ifndef ROWFERRY_SOURCE_SAMPLE_H
#define ROWFERRY_SOURCE_SAMPLE_H

#include "rowferry/document/plan/plan.h"
#include "rowferry/source/listing/listing.h"

/* Why a row is in the sample; the first reason of several. */
enum stratum {
    STRATUM_NAMED,    /* its key was asked for */
    STRATUM_CHANCE,   /* by chance: they alone stand for the table's average */
    STRATUM_LARGEST,  /* by the bytes of its columns */
    STRATUM_SMALLEST, /* the same */
    STRATUM_NULLS,    /* the most columns that are NULL */
    STRATUM_NEWEST,   /* by the time column, and the last by key */
    STRATUM_OLDEST,   /* the first by either */
    STRATUM_REST,     /* by chance among what is left, in place of rows that were chosen twice */
    STRATUM_COUNT,
};

const char *stratum_name(enum stratum s); /* "chance" */

/* All borrowed; outlive the sample. */
struct sample_options {
    const struct listing_options *rows; /* table, key, where, query, cursor */
    const struct mapping *mapping;
    const struct field *fields;
    size_t field_count;
    size_t document_bytes;
    size_t count;             /* rows that are wanted */
    const char *const *named; /* keys that have to be among them */
    size_t named_count;
};

struct sample; /* opaque */

/* Takes the connection, after an error too, and chooses. ERR_REJECTED as of a sync: a property
 * without a column, a type that cannot hold its column. */
int sample_open(struct sample **out, struct pg *pg, const struct sample_options *options,
                struct err *err) MUST_CHECK;
void sample_free(struct sample *s); /* null is allowed */

size_t sample_count(const struct sample *s);
struct span sample_key(const struct sample *s, size_t i); /* NUL-terminated */
enum stratum sample_stratum(const struct sample *s, size_t i);
/* The place of a key; false where it is none of the sample. */
bool sample_find(const struct sample *s, struct span key, size_t *i);

const char *sample_table(const struct sample *s); /* quoted, for messages */
const struct plan *sample_plan(const struct sample *s);
/* Rows of the table by its statistics, or counted where the pool is all of it; -1: not known. */
int64_t sample_rows(const struct sample *s);
bool sample_rows_exact(const struct sample *s);

/* From the first row on, again where it was begun before. The next of the chosen rows, borrowed
 * until the next call; *end: there are no more. A key without a row does not come. */
int sample_begin_rows(struct sample *s, struct err *err) MUST_CHECK;
int sample_next_row(struct sample *s, struct row *row, bool *end, struct err *err) MUST_CHECK;

/* How the values of a property can be compared in SQL as the service compares them. */
enum sample_how {
    SAMPLE_NOT,     /* not at all */
    SAMPLE_KEYWORD, /* texts by their bytes */
    SAMPLE_NUMBER,
    SAMPLE_DATE,
    SAMPLE_BOOLEAN,
    SAMPLE_ADDRESS, /* equal or not: the products order addresses by themselves */
};

/* Of a step of the plan; *why: where it is SAMPLE_NOT, a static text. */
enum sample_how sample_how(const struct sample *s, const struct plan_step *step, const char **why);

/* A value of a row, by its place in the sample: rank 1 is the smallest of the whole sample, equal
 * values have equal ranks; text as a document writes it, cut at 256 bytes. An array's values come
 * one by one. */
typedef void (*sample_each)(void *context, size_t row, int64_t rank, const char *text);

/* In the order of the ranks; NULLs are not told. */
int sample_values(struct sample *s, const struct plan_step *step, sample_each each, void *context,
                  struct err *err) MUST_CHECK;

/* The rows' texts of a step as PostgreSQL writes them, cut at so many characters (0: whole), those
 * that only one row has; at most `limit`, the rank is 0. */
int sample_texts(struct sample *s, const struct plan_step *step, size_t characters, size_t limit,
                 sample_each each, void *context, struct err *err) MUST_CHECK;

/* Which rows have a value that is not NULL, nor an empty array: filled[] as long as the sample. */
int sample_filled(struct sample *s, const struct plan_step *step, bool *filled,
                  struct err *err) MUST_CHECK;

#endif
