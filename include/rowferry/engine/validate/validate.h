/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The trial of a pipeline with its own rows, before the first load or after a change of the
 * mapping: representative documents go into an index of their own, and eight steps ask whether they
 * are found, filtered, sorted and ranked as the table and the configuration say.
 *
 * The live index, the state file and the change log are not touched. The trial's index is removed
 * whatever happens. What a step finds wrong is a note with what to mend; only what keeps the trial
 * from going on is an error.
 */
#ifndef ROWFERRY_ENGINE_VALIDATE_H
#define ROWFERRY_ENGINE_VALIDATE_H

#include <signal.h>

#include "rowferry/base/clock.h"
#include "rowferry/engine/validate/trial_query.h"
#include "rowferry/service/http/product.h"
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
    VALIDATE_GROWTH,
    VALIDATE_STEPS,
};

struct validate_note {
    enum validate_status status;
    char *text;
    char *remedy; /* null: none */
};

struct validate_step {
    const char *name; /* "counts" */
    enum validate_status status;
    int64_t took_us;
    char *text; /* the figure, one line */
    struct validate_note *notes;
    size_t note_count;
    size_t notes_left_out;
};

#define RELEVANCE_RANKS 20

struct relevance {
    size_t asked;
    size_t found;               /* within the first k */
    double sum;                 /* of 1 / rank */
    size_t at[RELEVANCE_RANKS]; /* how many at each rank; the last: there and behind */
};

struct validate_neighbours {
    char *field;
    size_t vectors;
    size_t asked;
    size_t itself; /* whose nearest is itself */
    double recall; /* against the exact order; negative: not computed */
};

struct validate_bulk {
    int64_t bytes;
    int64_t documents;
    int64_t took_us;
};

#define VALIDATE_BULKS 256 /* the first are kept */
#define VALIDATE_SIZES 28  /* documents of less than 2, 4, 8 .. bytes */

struct validate_figures {
    int64_t rows; /* of the table; -1: not known */
    bool rows_exact;
    size_t sampled;
    size_t indexed;
    size_t strata[STRATUM_COUNT];
    size_t sizes[VALIDATE_SIZES];
    int64_t json_bytes;   /* of all documents */
    int64_t chance_bytes; /* of those by chance, which stand for the table */
    int64_t chance_count;
    int64_t chance_stored; /* on disk, one copy, before others came to them */
    struct validate_bulk bulks[VALIDATE_BULKS];
    size_t bulk_count;
    int64_t sent_us; /* of those by chance, without the first bulk where there are more */
    int64_t sent_documents;
    int64_t sent_bytes;
    int64_t stored_bytes; /* of the sample, one copy */
    int64_t copies;
    int64_t whole_bytes; /* of all rows, all copies; 0: not known */
    int64_t whole_ms;    /* to index them one bulk at a time; 0: not known */
    int64_t room_bytes;  /* negative: not known */
    struct relevance relevance;
    int64_t k;
    struct validate_neighbours *neighbours;
    size_t neighbour_count;
};

struct validate_report {
    char index[256];
    struct product_info product;
    struct validate_step steps[VALIDATE_STEPS];
    struct validate_figures figures;
};

/* All borrowed. */
struct validate_options {
    const char *pipeline;
    const char *alias;
    const char *ingest_pipeline; /* null: none */
    struct key_routing routing;  /* of documents; count 0: none */
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
    const struct trial_query *queries;
    size_t query_count;
    const char *const *filter;
    size_t filter_count;
    const char *const *sort;
    size_t sort_count;
    const volatile sig_atomic_t *stop;
    void (*stage)(void *context, const char *words); /* what is going on; null: not told */
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

/* The worst of the steps. */
enum validate_status validate_worst(const struct validate_report *r);
const char *validate_status_name(enum validate_status s); /* "PASS" */

/* Fills the report as far as it comes, after an error too. */
int validate_run(const struct validate_options *options, const struct validate_ports *ports,
                 struct validate_report *report, struct err *err) MUST_CHECK;

#endif
