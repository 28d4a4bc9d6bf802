/* SPDX-License-Identifier: Apache-2.0 */
/* Checks that every row has a document with all of its values. */
#include <stdio.h>
#include <string.h>

#include "rowferry/service/index/index.h"
#include "validate/validate_private.h"

static bool validate_counts_has_presence(const struct property *p)
{
    return (p->family != FAMILY_OTHER && p->family != FAMILY_FEATURE) ||
           strcmp(p->type, "dense_vector") == 0 || strcmp(p->type, "knn_vector") == 0;
}

/* Checks that every row with a value has a document with the field. */
static int validate_counts_count_field(struct validating *v, const struct plan_step *step,
                                       size_t *fields, struct err *err)
{
    size_t missing = 0;
    size_t wanted = 0;
    size_t row = 0;
    char expected[64];
    const struct property *p = mapping_find(v->options->mapping, step->property);
    if (p == NULL || !validate_counts_has_presence(p) || validate_said_off(v, p->name, "index") ||
        p->ignore_above > 0 || strcmp(p->type, "binary") == 0) {
        return 0;
    }
    int rc = sample_filled(v->sample, step, v->marks, err);
    for (size_t i = 0; rc == 0 && i < sample_count(v->sample); i++) {
        wanted += v->marks[i] && v->indexed[i] ? 1 : 0;
    }
    if (rc == 0) {
        rc = validate_search_filled(v, p->name, 0, err);
    }
    for (size_t i = 0; rc == 0 && i < v->hits.ids.count; i++) {
        v->marks[v->places[i] != JUDGE_STRANGER ? v->places[i] : sample_count(v->sample)] = false;
    }
    for (size_t i = 0; rc == 0 && i < sample_count(v->sample); i++) {
        bool lost = v->marks[i] && v->indexed[i];
        missing += lost ? 1 : 0;
        row = lost ? i : row;
    }
    if (missing > 0) {
        validate_note(
            v, VALIDATE_FAIL,
            "let the service keep every value: check the ingest pipeline, and ignore_malformed and "
            "ignore_above of this property",
            "field \"%s\" is missing in %zu documents whose rows have a value, for example \"%s\"",
            p->name, missing, validate_key(v, row));
    }
    if (rc == 0) {
        snprintf(expected, sizeof(expected), "%zu rows with a value", wanted);
        validate_case(v, missing > 0 ? VALIDATE_FAIL : VALIDATE_PASS, p->name, expected,
                      "%zu documents", wanted - missing);
    }
    *fields += 1;
    return rc;
}

/* Checks that a field without a column is filled by the service. */
static int validate_counts_count_filled_there(struct validating *v, const struct field *field,
                                              size_t *fields, struct err *err)
{
    if (field->column != NULL) {
        return 0;
    }
    int rc = validate_search_filled(v, field->property, 1, err);
    if (rc == 0 && v->hits.total == 0) {
        validate_note(v, VALIDATE_FAIL,
                      "let to.ingest_pipeline fill it, name its column in fields, or remove it "
                      "from the mapping",
                      "field \"%s\" is in no document: nothing fills it", field->property);
    }
    if (rc == 0) {
        validate_case(v, v->hits.total == 0 ? VALIDATE_FAIL : VALIDATE_PASS, field->property,
                      "filled by the service", "%lld documents", (long long)v->hits.total);
    }
    *fields += 1;
    return rc;
}

int validate_counts(struct validating *v, struct err *err)
{
    int64_t count = 0;
    size_t fields = 0;
    const struct validate_figures *f = &v->report->figures;
    const struct plan *plan = sample_plan(v->sample);
    int rc = index_count(v->ports->service, v->trial.index, &count, err);
    if (rc == 0 && count != (int64_t)f->indexed) {
        validate_note(v, VALIDATE_FAIL, "keep other programs from writing to the trial's index",
                      "the index counts %lld documents, but %zu were accepted", (long long)count,
                      f->indexed);
    }
    for (size_t i = 0; rc == 0 && f->indexed > 0 && i < plan->count; i++) {
        rc = validate_counts_count_field(v, &plan->steps[i], &fields, err);
    }
    for (size_t i = 0; rc == 0 && f->indexed > 0 && i < v->options->field_count; i++) {
        rc = validate_counts_count_filled_there(v, &v->options->fields[i], &fields, err);
    }
    if (rc == 0) {
        validate_set_result(v, "%zu rows, %lld documents; %zu fields counted", f->sampled,
                            (long long)count, fields);
    }
    return rc;
}
