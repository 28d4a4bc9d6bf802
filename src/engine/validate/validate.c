/* SPDX-License-Identifier: Apache-2.0 */
/* Runs a trial: choose rows, create an index, run the steps, remove the index. */
#include "rowferry/engine/validate/validate.h"
#include "rowferry/base/clock.h"
#include "rowferry/base/stop.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rowferry/source/pg/pg.h"
#include "validate/validate_private.h"

#define REMOVE_TRIES 10
#define REMOVE_PAUSE_MS 2000
#define MAPPING_MAX_BYTES ((size_t)4 << 20)

static void validate_report_stage(const struct validating *v, const char *words)
{
    if (v->options->stage != NULL) {
        v->options->stage(v->options->context, words);
    }
}

/* --- rows and index -------------------------------------------------------------------------- */

size_t validate_named_keys(const struct validate_options *o, const char ***out)
{
    size_t count = 0;
    const char **named = NULL;
    for (size_t i = 0; i < o->query_count; i++) {
        for (size_t k = 0; k < o->queries[i].expect_count; k++) {
            named = mem_grow(named, count + 1, sizeof(*named));
            named[count++] = o->queries[i].expect[k];
        }
        for (size_t k = 0; k < o->queries[i].judgement_count; k++) {
            named = mem_grow(named, count + 1, sizeof(*named));
            named[count++] = o->queries[i].judgements[k].id;
        }
    }
    *out = named;
    return count;
}

static int validate_choose(struct validating *v, struct err *err)
{
    const struct validate_options *o = v->options;
    struct pg *pg = NULL;
    const char **named;
    struct sample_options options = {.rows = v->ports->rows,
                                     .mapping = o->mapping,
                                     .fields = o->fields,
                                     .field_count = o->field_count,
                                     .document_bytes = o->document_bytes,
                                     .count = o->sample};
    validate_report_stage(v, "choosing rows");
    options.named_count = validate_named_keys(o, &named);
    options.named = named;
    int rc = pg_open(&pg, v->ports->source, err);
    if (rc == 0) {
        rc = sample_open(&v->sample, pg, &options, err);
    }
    free(named);
    if (rc == 0 && (sample_count(v->sample) == 0 || sample_rows(v->sample) == 0)) {
        rc = err_set(err, ERR_REJECTED, "table %s has no rows for the trial",
                     sample_table(v->sample));
    }
    if (rc == 0) {
        struct validate_figures *f = &v->report->figures;
        f->rows = sample_rows(v->sample);
        f->rows_exact = sample_rows_exact(v->sample);
        v->indexed = mem_zero(sample_count(v->sample) + 1, sizeof(bool));
        v->marks = mem_zero(sample_count(v->sample) + 1, sizeof(bool));
    }
    return rc;
}

static int validate_name_index(struct validating *v, struct err *err)
{
    uint64_t random = clock_random(&v->ports->clock);
    int rc =
        trial_name(&v->trial, v->options->pipeline, v->options->alias, "validate", random, err);
    snprintf(v->report->index, sizeof(v->report->index), "%s", v->trial.index);
    return rc;
}

int validate_create(struct validating *v, struct err *err)
{
    struct buf mappings;
    validate_report_stage(v, "creating an index");
    buf_init(&mappings, MAPPING_MAX_BYTES);
    trial_push_mappings(&mappings, &v->trial, v->options->mapping);
    int rc =
        trial_create(v->ports->service, &v->trial, buf_text(&mappings), v->options->settings, err);
    buf_release(&mappings);
    return rc;
}

int validate_drop(struct validating *v, struct err *err)
{
    int rc = trial_remove(v->ports->service, &v->trial, err);
    for (int i = 1; rc == ERR_TRANSIENT && i < REMOVE_TRIES; i++) {
        clock_sleep(REMOVE_PAUSE_MS, NULL);
        rc = trial_remove(v->ports->service, &v->trial, err);
    }
    if (rc < 0 && err->hint[0] == '\0') {
        err_hint(err, "the index \"%s\" may still exist: DELETE /%s removes it", v->trial.index,
                 v->trial.index);
    }
    return rc;
}

/* --- steps ----------------------------------------------------------------------------------- */

/* needed: the trial cannot continue without this step. */
static int validate_run_step(struct validating *v, enum validate_step_id id, bool needed,
                             int (*step)(struct validating *, struct err *), struct err *err)
{
    int64_t began_us = clock_monotonic_us(&v->ports->clock);
    v->step = &v->report->steps[id];
    v->step->status = v->step->status == VALIDATE_SKIP ? VALIDATE_PASS : v->step->status;
    validate_report_stage(v, v->step->name);
    int rc = step(v, err);
    v->step->took_us += clock_monotonic_us(&v->ports->clock) - began_us;
    if (rc < 0 && (needed || validate_ends(err))) {
        validate_note_error(v, NULL, err);
        return rc;
    }
    if (rc < 0) {
        validate_note_error(v, NULL, err);
        validate_set_result(v, "the service refuses a request of this step");
    }
    return 0;
}

/* Reports that the service refused to create the index, for its analysis, mapping or vectors. The
 * rows can still show whether the vectors' dimensions fit. */
static int validate_creation_refused(struct validating *v, struct err *err)
{
    struct err why = *err;
    bool vectors = why.service_reason == SERVICE_REASON_VECTOR;
    v->step = &v->report->steps[vectors ? VALIDATE_VECTORS : VALIDATE_ANALYSIS];
    validate_note_error(v,
                        why.hint[0] != '\0' ? NULL
                        : vectors
                            ? "correct the vector in to.mappings and to.settings as the reason says"
                            : "correct to.mappings or to.settings as the reason says: name an "
                              "analyzer that the service has, or define it in "
                              "to.settings.analysis",
                        &why);
    validate_set_result(v, "the service refuses the index, so nothing else could be tried");
    v->step = &v->report->steps[VALIDATE_VECTORS];
    return validate_dimensions(v, err);
}

static int validate_none_indexed(struct validating *v, struct err *err)
{
    (void)err;
    validate_skip(v, "no document was indexed");
    return 0;
}

static int validate_run_steps(struct validating *v, struct err *err)
{
    static const struct {
        enum validate_step_id id;
        int (*run)(struct validating *, struct err *);
        bool always; /* runs also if no document was indexed */
    } steps[] = {
        {VALIDATE_COUNTS, validate_counts, true},
        {VALIDATE_QUERIES, validate_queries, false},
        {VALIDATE_ANALYSIS, validate_analysis, true},
        {VALIDATE_FILTER, validate_filter, false},
        {VALIDATE_SORT, validate_sort, false},
        {VALIDATE_RELEVANCE, validate_relevance, false},
        {VALIDATE_VECTORS, validate_vectors, true},
        {VALIDATE_SEMANTIC, validate_semantic, false},
        {VALIDATE_GROWTH, validate_growth, false},
        {VALIDATE_AGAINST, validate_against, false},
    };
    int rc = validate_run_step(v, VALIDATE_COUNTS, true, validate_fill, err);
    for (size_t i = 0; rc == 0 && i < v->report->step_count; i++) {
        bool can = steps[i].always || v->report->figures.indexed > 0;
        rc = stop_is_set(v->options->stop)
                 ? err_set(err, ERR_TRANSIENT, "interrupted before step \"%s\"",
                           v->report->steps[steps[i].id].name)
                 : validate_run_step(v, steps[i].id, false,
                                     can ? steps[i].run : validate_none_indexed, err);
    }
    return rc;
}

static int validate_try_it(struct validating *v, struct err *err)
{
    int rc = product_detect(v->ports->service, &v->report->product, err);
    if (rc == 0) {
        rc = validate_choose(v, err);
    }
    if (rc == 0) {
        rc = validate_name_index(v, err);
    }
    if (rc < 0) {
        return rc;
    }
    rc = validate_create(v, err);
    if (rc == 0) {
        return validate_run_steps(v, err);
    }
    return rc == ERR_REJECTED && !validate_ends(err) ? validate_creation_refused(v, err) : rc;
}

int validate_run(const struct validate_options *options, const struct validate_ports *ports,
                 struct validate_report *report, struct err *err)
{
    struct validating v = {.options = options, .ports = ports, .report = report};
    struct err removing = {0};
    scan_list_init(&v.hits.ids, TRIAL_IDS_BYTES);
    report->figures.k = options->k;
    report->step_count = options->against != NULL ? VALIDATE_STEPS : VALIDATE_AGAINST;
    int rc = validate_try_it(&v, err);
    if (rc < 0 && err->http_status == 403) {
        err_hint(err, "grant the account the privileges of a reindex and \"monitor\" on \"%s-*\"",
                 options->alias);
    }
    if (validate_drop(&v, &removing) < 0 && rc == 0) {
        *err = removing;
        rc = (int)removing.class;
    }
    scan_list_release(&v.hits.ids);
    sample_free(v.sample);
    free(v.places);
    free(v.indexed);
    free(v.marks);
    return rc;
}
