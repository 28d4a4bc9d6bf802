/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The lines of check: each probe looks at one thing and says what it saw. A probe whose needs no
 * earlier probe could meet is skipped, so that one look shows all that can be seen.
 */
#ifndef ROWFERRY_CLI_PROBE_H
#define ROWFERRY_CLI_PROBE_H

#include "rowferry/base/buf.h"
#include "rowferry/daemon/session.h"
#include "rowferry/document/plan/plan.h"
#include "rowferry/service/http/product.h"
#include "rowferry/source/catalog/catalog.h"
#include "rowferry/source/pg/pg.h"
#include "setup.h"

enum verdict { VERDICT_PASS, VERDICT_WARN, VERDICT_FAIL, VERDICT_SKIP, VERDICT_COUNT };

/* What a probe provides to those after it, as bits. */
enum check_fact {
    FACT_SECRETS = 1,
    FACT_SERVICE = 2,
    FACT_SOURCE = 4,
    FACT_TABLE = 8,
    FACT_LOG = 16,
    FACT_WAY = 32,     /* to the service: a connection can be made */
    FACT_RIGHTS = 64,  /* in the service, of the account on the pipeline's names */
    FACT_PLAN = 256,   /* the mapping fits the columns */
    FACT_GRANTS = 128, /* in the source, of the role on the pipeline's tables */
};

struct check_line {
    enum verdict verdict;
    const char *pipeline; /* null: of the whole configuration */
    const char *what;
    char *text;
    char *detail; /* null: none */
    char *remedy; /* null: none */
};

struct check {
    struct setup *setup;
    unsigned facts; /* bits */
    struct session session;
    bool accept_admin; /* superusers and administrators are meant */
    struct product_info product;
    bool open_service; /* it has no accounts */
    char account[160]; /* the account's name in quotes; empty: not known */
    struct pg *pg;
    struct pg_identity identity;
    struct table *table;
    struct table **dependencies; /* of the pipeline, as far as they were looked up; null: none */
    const struct pipeline_config *pipeline; /* the one that is looked at */
    const char *what;                       /* the present probe */
    struct check_line *lines;
    size_t count;
};

struct probe {
    const char *what;
    unsigned needs;
    unsigned gives; /* where it did not fail */
    void (*run)(struct check *c);
};

/* Each ends with a null name. */
extern const struct probe probes_local[];
extern const struct probe probes_state[];
extern const struct probe probes_reach[];    /* once, before probes_service */
extern const struct probe probes_service[];  /* once */
extern const struct probe probes_source[];   /* once */
extern const struct probe probes_server[];   /* once, after probes_source */
extern const struct probe probes_standing[]; /* of each pipeline: what its state file says */
extern const struct probe probes_index[];    /* of each pipeline */
extern const struct probe probes_table[];    /* of each pipeline */
extern const struct probe probes_log[];      /* of each pipeline that reads the change log */
extern const struct probe probes_cursor[];   /* of each pipeline that follows a column */
extern const struct probe probes_mapping[];  /* of each pipeline */
extern const struct probe probes_origin[];   /* of each pipeline */
extern const struct probe probes_stream[];   /* of each pipeline into a data stream */
extern const struct probe probes_capacity[]; /* of each pipeline */

/* Of the pipeline and its table, which must be there: the caller releases all three. */
struct check_plan {
    struct mapping mapping;
    struct plan plan;
    struct plan_notes notes;
};
int check_plan(const struct check *c, struct check_plan *out, struct err *err) MUST_CHECK;
void check_plan_release(struct check_plan *p);

/* The table of an entry of the pipeline's from.depends_on; looked up once, borrowed. */
int check_dependency(struct check *c, size_t index, const struct table **out,
                     struct err *err) MUST_CHECK;

/* Adds a line; remedy may be null. */
void check_say(struct check *c, enum verdict verdict, const char *remedy, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* The remedy of the last line. */
void check_remedy(struct check *c, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Adds a FAIL line with message, detail and hint of an error. */
void check_fail(struct check *c, const struct err *err);
/* The same, with this remedy where the error has no hint. */
void check_fail_else(struct check *c, const struct err *err, const char *remedy);

#endif
