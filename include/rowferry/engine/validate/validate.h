/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Trial of a pipeline with its own rows, before the initial load or after a change of the mapping.
 * Representative documents go into a temporary index. Eight steps then check whether they are
 * found, filtered, sorted and ranked as the table and the configuration require.
 *
 * The live index, the state file and the change log are not touched. The temporary index is removed
 * in any case. A problem that a step finds becomes a note with its remedy. Only a failure that
 * prevents the trial is an error.
 */
#pragma once

#include <signal.h>

#include "rowferry/base/clock.h"
#include "rowferry/engine/validate/trial_query.h"
#include "rowferry/service/http/product.h"
#include "rowferry/service/trial/querylog.h"
#include "rowferry/source/sample/sample.h"

enum validate_status { VALIDATE_PASS, VALIDATE_SKIP, VALIDATE_WARN, VALIDATE_FAIL };

enum validate_step_id {
    VALIDATE_COUNTS,
    VALIDATE_QUERIES,
    VALIDATE_ANALYSIS,
    VALIDATE_FILTER,
    VALIDATE_SORT,
    VALIDATE_RELEVANCE,
    VALIDATE_VECTORS,
    VALIDATE_SEMANTIC,
    VALIDATE_GROWTH,
    VALIDATE_AGAINST, /* only if there is another definition */
    VALIDATE_STEPS,
};

struct validate_note {
    enum validate_status status;
    char *text;
    char *remedy; /* null: none */
};

/* One comparison of a step, for people. Texts are valid UTF-8 of bounded length. */
struct validate_case {
    enum validate_status status;
    char *asked;    /* a search, a filter, a word */
    char *expected; /* "3 rows" */
    char *found;    /* "3 documents" */
};

struct validate_step {
    const char *name; /* "counts" */
    enum validate_status status;
    int64_t took_us;
    char *text; /* result in one line */
    struct validate_note *notes;
    size_t note_count;
    size_t notes_left_out;
    struct validate_case *cases;
    size_t case_count;
    size_t cases_left_out;
};

#define RELEVANCE_RANKS 20

struct relevance {
    size_t asked;
    size_t found;               /* within the first k */
    double sum;                 /* sum of 1 / rank */
    size_t at[RELEVANCE_RANKS]; /* number of hits at each rank; the last entry also counts all later
                                   ranks */
};

#define NDCG_HITS 10

/* A search of the configuration that has judgements. */
struct validate_judged {
    char *name;
    double ndcg;
    double least; /* 0: none */
};

enum validate_verdict {
    VERDICT_WIN,     /* a higher nDCG than by the other definition */
    VERDICT_LOSS,    /* a lower one */
    VERDICT_TIE,     /* the same, or the same first hits */
    VERDICT_DIFFERS, /* not judged, and other first hits */
    VERDICT_COUNT,
};

/* A search that was run with two definitions. */
struct validate_compared {
    char *name;
    enum validate_verdict verdict;
    double ndcg; /* negative: not judged */
    double other_ndcg;
    size_t differ; /* of the first hits: those that only one definition has there */
    size_t place;  /* of the first hit that differs; 0: none */
};

struct validate_neighbours {
    char *field;
    size_t vectors;
    size_t asked;
    size_t itself; /* vectors that are their own nearest neighbour */
    double recall; /* against exact search; negative: not computed */
};

struct validate_bulk {
    int64_t bytes;
    int64_t documents;
    int64_t took_us;
};

#define VALIDATE_BULKS 256 /* the first ones are kept */
#define VALIDATE_SIZES 28  /* documents of less than 2, 4, 8 .. bytes */

/* The random part of the sample, which represents the table. */
struct validate_random {
    int64_t json_bytes;
    int64_t documents;
    int64_t stored_bytes; /* on disk without replicas, before the other documents were added */
};

/* Bulk requests of the random part, without its first one if there are more. */
struct validate_sent {
    int64_t took_us;
    int64_t documents;
    int64_t bytes;
};

struct validate_figures {
    int64_t rows; /* of the table; -1: unknown */
    bool rows_exact;
    size_t sampled;
    size_t indexed;
    size_t strata[STRATUM_COUNT];
    size_t sizes[VALIDATE_SIZES];
    int64_t json_bytes; /* of all documents */
    struct validate_random random;
    struct validate_bulk bulks[VALIDATE_BULKS];
    size_t bulk_count;
    struct validate_sent sent;
    int64_t stored_bytes; /* of the sample, without replicas */
    int64_t copies;
    int64_t whole_bytes; /* estimate for all rows with all replicas; 0: unknown */
    int64_t whole_ms; /* estimated time to index all rows one bulk request at a time; 0: unknown */
    int64_t room_bytes; /* free disk space; negative: unknown */
    struct relevance relevance;
    int64_t k;
    struct validate_judged *judged;
    size_t judged_count;
    struct validate_compared *compared;
    size_t compared_count;
    struct validate_neighbours *neighbours;
    size_t neighbour_count;
};

struct validate_report {
    char index[256];
    struct product_info product;
    struct validate_step steps[VALIDATE_STEPS];
    size_t step_count; /* of steps; VALIDATE_AGAINST if there is no other definition */
    struct validate_figures figures;
};

/* Another definition of the pipeline, to compare the searches with. Borrowed. */
struct validate_against {
    const char *file;
    const struct validate_options *options;
    const struct listing_options *rows; /* of the same table with the same key */
};

/* All pointers are borrowed. */
struct validate_options {
    const char *pipeline;
    const char *alias;
    const char *ingest_pipeline; /* null: none */
    struct key_routing routing;  /* of documents */
    const struct mapping *mapping;
    const char *settings; /* null: none */
    const struct field *fields;
    size_t field_count;
    size_t batch_bytes;
    size_t batch_operations;
    size_t document_bytes;
    int64_t retry_budget_ms;
    size_t sample;
    int64_t k;
    double min_ndcg; /* of the mean; 0: none */
    const struct trial_query *queries;
    size_t query_count;
    const char *const *filter;
    size_t filter_count;
    const char *const *sort;
    size_t sort_count;
    const struct querylog *log; /* searches of the application; null: none */
    const char *log_file;
    const struct validate_against *against; /* null: none */
    const volatile sig_atomic_t *stop;
    void (*stage)(void *context, const char *words); /* reports an activity; may be null */
    void *context;
};

struct validate_ports {
    struct service *service;
    const struct source_options *source;
    const struct listing_options *rows;
    struct clock clock;
};

void validate_report_init(struct validate_report *r);
void validate_report_release(struct validate_report *r);

/* Returns the worst status of the first steps. VALIDATE_AGAINST judges another definition as
 * well: without it, the status is that of this definition. */
enum validate_status validate_worst(const struct validate_report *r, size_t steps);
/* Returns the mean nDCG of the judged searches; 0 if there are none. */
double validate_mean_ndcg(const struct validate_figures *f);
const char *validate_verdict_name(enum validate_verdict v); /* "win" */
const char *validate_status_name(enum validate_status s);   /* "PASS" */

/* Runs the trial. Fills the report as far as possible, also on error. */
int validate_run(const struct validate_options *options, const struct validate_ports *ports,
                 struct validate_report *report, struct err *err) MUST_CHECK;
