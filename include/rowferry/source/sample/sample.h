/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Representative rows of a table, and what the server reports about their values.
 *
 * All is read in one transaction, so rows and facts about them agree while others write. Nothing is
 * written. Rows are chosen from a pool: the whole table if it is small, otherwise random blocks.
 * Only their keys are kept in memory; rows are read one at a time.
 */
#pragma once

#include "rowferry/document/plan/plan.h"
#include "rowferry/source/listing/listing.h"

/* Why a row is in the sample; the first reason if there are several. */
enum stratum {
    STRATUM_NAMED,    /* its key was requested */
    STRATUM_CHANCE,   /* by chance; only these rows represent the table's average */
    STRATUM_LARGEST,  /* the most bytes in its columns */
    STRATUM_SMALLEST, /* the fewest bytes in its columns */
    STRATUM_NULLS,    /* the most columns that are NULL */
    STRATUM_NEWEST,   /* last by the time column, or last by key */
    STRATUM_OLDEST,   /* first by the time column, or first by key */
    STRATUM_REST,     /* by chance among the rest, to replace rows that were chosen twice */
    STRATUM_COUNT,
};

const char *sample_stratum_name(enum stratum s); /* "chance" */

/* All members are borrowed and must outlive the sample. */
struct sample_options {
    const struct listing_options *rows; /* table, key, where, query, cursor */
    const struct mapping *mapping;
    const struct field *fields;
    size_t field_count;
    size_t document_bytes;
    size_t count;             /* wanted number of rows */
    const char *const *named; /* keys that must be in the sample */
    size_t named_count;
};

struct sample; /* opaque */

/* Chooses the rows. Takes ownership of the connection, even on error. Returns ERR_REJECTED as a
 * sync does: a property without a column, or a type that cannot hold its column. */
int sample_open(struct sample **out, struct pg *pg, const struct sample_options *options,
                struct err *err) MUST_CHECK;
void sample_free(struct sample *s); /* null is allowed */

/* Makes documents of the same rows by another definition from now on: rows, mapping, fields and
 * document_bytes of the options. Table and key must be the same. After an error, the sample can
 * only be freed. */
int sample_redefine(struct sample *s, const struct sample_options *options,
                    struct err *err) MUST_CHECK;

size_t sample_count(const struct sample *s);
struct span sample_key(const struct sample *s, size_t i); /* NUL-terminated */
enum stratum sample_stratum(const struct sample *s, size_t i);
/* Finds the index of a key; returns false if the key is not in the sample. */
bool sample_find(const struct sample *s, struct span key, size_t *i);

const char *sample_table(const struct sample *s); /* quoted, for messages */
const struct plan *sample_plan(const struct sample *s);
/* Rows of the table: counted if the pool is the whole table, else by statistics; -1 if unknown. */
int64_t sample_rows(const struct sample *s);
bool sample_rows_exact(const struct sample *s);

/* sample_begin_rows starts or restarts at the first row. sample_next_row returns the next chosen
 * row, borrowed until the next call, and sets *end after the last one. A key without a row is left
 * out. */
int sample_begin_rows(struct sample *s, struct err *err) MUST_CHECK;
int sample_next_row(struct sample *s, struct row *row, bool *end, struct err *err) MUST_CHECK;

/* How values of a property can be compared in SQL exactly as the service compares them. */
enum sample_how {
    SAMPLE_NOT,     /* not comparable */
    SAMPLE_KEYWORD, /* texts by their bytes */
    SAMPLE_NUMBER,
    SAMPLE_DATE,
    SAMPLE_BOOLEAN,
    SAMPLE_ADDRESS, /* only for equality: each product orders addresses in its own way */
};

/* Comparison for a step of the plan. If it is SAMPLE_NOT, *why is the reason, a static text. */
enum sample_how sample_how(const struct sample *s, const struct plan_step *step, const char **why);

/* Receives a value of row `row` of the sample. Rank 1 is the smallest value of the whole sample,
 * and equal values have equal ranks. `text` is the value as a document has it, cut at 256 bytes.
 * The values of an array come one by one. */
typedef void (*sample_each)(void *context, size_t row, int64_t rank, const char *text);

/* Calls `each` in the order of the ranks; leaves out NULLs. */
int sample_values(struct sample *s, const struct plan_step *step, sample_each each, void *context,
                  struct err *err) MUST_CHECK;

/* Calls `each` with a step's texts as PostgreSQL writes them, cut at `characters` (0: whole). Only
 * texts that occur in one row are passed, at most `limit`, with rank 0. */
int sample_texts(struct sample *s, const struct plan_step *step, size_t characters, size_t limit,
                 sample_each each, void *context, struct err *err) MUST_CHECK;

/* Sets filled[i] for each row whose value is neither NULL nor an empty array. filled[] is as long
 * as the sample. */
int sample_filled(struct sample *s, const struct plan_step *step, bool *filled,
                  struct err *err) MUST_CHECK;
