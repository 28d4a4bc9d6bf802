/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The lines of `check`. Each probe examines one thing and reports the result. A probe is skipped if
 * earlier probes did not provide its needs, so one run shows everything that can be examined.
 */
#pragma once

#include "rowferry/base/buf.h"
#include "rowferry/daemon/session.h"
#include "rowferry/document/plan/plan.h"
#include "rowferry/service/http/product.h"
#include "rowferry/service/index/index.h"
#include "rowferry/source/catalog/catalog.h"
#include "rowferry/source/pg/pg.h"
#include "rowferry/state/checkpoint.h"
#include "setup.h"

/* INFO: nothing to correct, but worth knowing. */
enum verdict {
    VERDICT_PASS,
    VERDICT_INFO,
    VERDICT_WARN,
    VERDICT_FAIL,
    VERDICT_SKIP,
    VERDICT_COUNT
};

/* What a probe provides to later probes, as bits. */
enum check_fact {
    FACT_SECRETS = 1,
    FACT_SERVICE = 2,
    FACT_SOURCE = 4,
    FACT_TABLE = 8,
    FACT_LOG = 16,
    FACT_WAY = 32,     /* the service can be connected to */
    FACT_RIGHTS = 64,  /* the account has its privileges on the pipeline's names in the service */
    FACT_PLAN = 256,   /* the mapping fits the columns */
    FACT_ROLE = 512,   /* the role is no superuser, or accepted as one */
    FACT_GRANTS = 128, /* the role has its privileges on the pipeline's tables in the source */
};

struct check_line {
    enum verdict verdict;
    const char *pipeline; /* null if it concerns the whole configuration */
    const char *what;
    char *text;
    char *detail; /* null if none */
    char *remedy; /* null if none */
};

struct check {
    struct setup *setup;
    unsigned facts; /* bits */
    struct session session;
    struct product_info product;
    bool open_service; /* the service has no accounts */
    char account[160]; /* quoted account name; empty if unknown */
    struct pg *pg;
    struct pg_identity identity;
    struct table *table;
    struct table **dependencies; /* tables of the pipeline's depends_on that were looked up; null if
                                  * not yet */
    const struct pipeline_config *pipeline; /* the pipeline being examined */
    const char *what;                       /* name of the current probe */
    struct check_line *lines;
    size_t count;
};

struct probe {
    const char *what;
    unsigned needs;
    unsigned gives; /* facts provided unless it failed */
    void (*run)(struct check *c);
};

/* Each ends with a null name. */
extern const struct probe probes_local[];
extern const struct probe probes_state[];
extern const struct probe probes_reach[];    /* once, before probes_service */
extern const struct probe probes_service[];  /* once */
extern const struct probe probes_source[];   /* once */
extern const struct probe probes_server[];   /* once, after probes_source */
extern const struct probe probes_standing[]; /* for each pipeline: contents of its state file */
extern const struct probe probes_index[];    /* for each pipeline */
extern const struct probe probes_table[];    /* for each pipeline */
extern const struct probe probes_log[];      /* for each pipeline that reads the change log */
extern const struct probe probes_cursor[];   /* for each pipeline in mode cursor */
extern const struct probe probes_mapping[];  /* for each pipeline */
extern const struct probe probes_origin[];   /* for each pipeline */
extern const struct probe probes_stream[];   /* for each pipeline into a data stream */
extern const struct probe probes_capacity[]; /* for each pipeline */

/* Reads the checkpoint, which the caller releases. *live is false if no state file has a live index
 * for the pipeline, or if a rebuild is in progress, which may have replaced it. */
int probe_live_read(const struct check *c, struct checkpoint *out, bool *live,
                    struct err *err) MUST_CHECK;

/* Both return false after they have reported a fault. `at` is what the alias resolves to.
 * probe_live_is_there: whether that is the live index that the state file has, if it has one.
 * probe_live_is_open: whether the index can be written. */
bool probe_live_is_there(struct check *c, enum alias_kind kind, const struct index_info *at);
bool probe_live_is_open(struct check *c, const struct index_info *index);

/* The plan of the pipeline for its table, which must have been looked up. The caller releases
 * it. */
struct check_plan {
    struct mapping mapping;
    struct plan plan;
    struct plan_notes notes;
};
int check_plan(const struct check *c, struct check_plan *out, struct err *err) MUST_CHECK;
void probe_mapping_plan_release(struct check_plan *p);

/* Looks up the table of an entry of the pipeline's from.depends_on, once. *out is borrowed. */
int probe_table_dependency(struct check *c, size_t index, const struct table **out,
                           struct err *err) MUST_CHECK;

/* For "create index": an index of a partitioned table cannot be created concurrently. */
static inline const char *probe_concurrently(const struct table *t)
{
    return t->kind == 'p' ? "" : "concurrently ";
}

/* Adds a line; `remedy` may be null. */
void check_report(struct check *c, enum verdict verdict, const char *remedy, const char *format,
                  ...) __attribute__((format(printf, 4, 5)));
/* Adds a PASS line. */
void check_pass(struct check *c, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Sets the remedy of the last line. */
void check_remedy(struct check *c, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Adds a FAIL line with the message, detail and hint of an error. */
void check_fail(struct check *c, const struct err *err);
/* Does the same, with this remedy if the error has no hint. */
void check_fail_else(struct check *c, const struct err *err, const char *remedy);
