/* SPDX-License-Identifier: Apache-2.0 */
/* Compares filters and sort orders of the index with SQL. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "validate/validate_private.h"

#define SORT_UP ":{\"order\":\"asc\"}}]}"
#define SORT_DOWN ":{\"order\":\"desc\"}}]}"

/* --- filter ---------------------------------------------------------------------------------- */

static void validate_fields_push_bounds(struct buf *body, const char *field, const char *low,
                                        const char *high, enum sample_how how)
{
    bool range = how == SAMPLE_DATE || strcmp(low, high) != 0;
    buf_push_text(body, range ? "{\"query\":{\"range\":{" : "{\"query\":{\"term\":{");
    text_json(body, field, strlen(field));
    buf_push_text(body, range ? ":{\"gte\":" : ":");
    text_json(body, low, strlen(low));
    if (range) {
        buf_push_literal(body, ",\"lte\":");
        text_json(body, high, strlen(high));
    }
    buf_push_text(body, range ? "}}}}" : "}}}");
}

/* Turns a refused search into a note, because the application's search would fail as well. */
static int validate_fields_refused(struct validating *v, const char *field, const char *remedy,
                                   int rc, struct err *err)
{
    if (rc == 0 || validate_ends(err)) {
        return rc;
    }
    err_context(err, "field \"%s\"", field);
    validate_note_error(v, remedy, err);
    return 0;
}

static int validate_fields_filter_between(struct validating *v, const char *field,
                                          const struct ranking *r, int64_t low, int64_t high,
                                          enum sample_how how, struct err *err)
{
    struct buf body;
    size_t row;
    bool missing;
    char rows[32];
    buf_init(&body, VALIDATE_TEXT_BYTES);
    validate_fields_push_bounds(&body, field, r->texts[low], r->texts[high], how);
    int rc = validate_search(v, buf_text(&body), 0, err);
    size_t expected = rc == 0 ? validate_ranking_mark(v, r, low, high) : 0;
    size_t differ = rc == 0 ? validate_differs(v, &row, &missing) : 0;
    if (rc == 0) {
        buf_reset(&body);
        buf_printf(&body, low == high ? "%s is \"%s\"" : "%s from \"%s\" to \"%s\"", field,
                   r->texts[low], r->texts[high]);
        snprintf(rows, sizeof(rows), "%zu row%s by SQL", expected, expected == 1 ? "" : "s");
        validate_case(v, differ > 0 ? VALIDATE_FAIL : VALIDATE_PASS, buf_text(&body), rows,
                      "%lld document%s", (long long)v->hits.total, v->hits.total == 1 ? "" : "s");
    }
    if (differ > 0) {
        validate_note(
            v, VALIDATE_FAIL,
            "give the property the type of its column, or find out by SQL why the row differs",
            "field \"%s\" from \"%s\" to \"%s\": SQL has %zu rows, the index %lld; \"%s\" "
            "is %s",
            field, r->texts[low], r->texts[high], expected, (long long)v->hits.total,
            validate_key(v, row), missing ? "missing" : "not expected");
    }
    buf_release(&body);
    return validate_fields_refused(v, field, "correct the field's type or format", rc, err);
}

static int validate_fields_filter_field(struct validating *v, const struct plan_step *step,
                                        enum sample_how how, size_t *asked, struct err *err)
{
    struct ranking r;
    int64_t probes[3];
    int rc = validate_ranking_load(v, step, &r, err);
    size_t n = rc == 0 ? validate_ranking_probes(&r, probes) : 0;
    for (size_t i = 0; i < n && rc == 0; i++) {
        rc = validate_fields_filter_between(v, step->property, &r, probes[i], probes[i], how, err);
        *asked += 1;
    }
    int64_t low = (r.last + 3) / 4;
    int64_t high = (r.last * 3 + 3) / 4;
    bool wide = (how == SAMPLE_NUMBER || how == SAMPLE_DATE) && low >= 1 && low < high;
    if (rc == 0 && wide && validate_ranking_usable(&r, low) && validate_ranking_usable(&r, high)) {
        rc = validate_fields_filter_between(v, step->property, &r, low, high, how, err);
        *asked += 1;
    }
    validate_ranking_release(&r);
    return rc;
}

char *validate_field_type(const struct validating *v, const char *field)
{
    char *type = mapping_parameter(v->options->mapping, field, "type");
    char *inside =
        type == NULL ? mapping_parameter(v->options->mapping, field, "properties") : NULL;
    if (inside != NULL) {
        free(inside);
        return text_copy("object");
    }
    return type == NULL && strcmp(field, "source_id") == 0 ? text_copy("keyword") : type;
}

void validate_note_unknown_field(struct validating *v, const char *field, const char *use,
                                 const char *where)
{
    char remedy[512];
    const char *dot = strrchr(field, '.');
    char *parent = dot != NULL ? text_copy_span(span_make(field, (size_t)(dot - field))) : NULL;
    char *type = parent != NULL ? validate_field_type(v, parent) : NULL;
    bool subfield = type != NULL && validate_type_is_text(type);
    if (subfield) {
        snprintf(remedy, sizeof(remedy),
                 "add a subfield to \"%.150s\", \"fields\": {\"%.150s\": {\"type\": \"keyword\"}}",
                 parent, dot + 1);
    }
    validate_note(
        v, VALIDATE_FAIL,
        subfield ? remedy
                 : "add it to to.mappings with its column, or correct the name of the field",
        "field \"%s\" cannot be %s by: the mapping has no field of this name%s", field, use, where);
    free(type);
    free(parent);
}

void validate_note_text_field(struct validating *v, const char *field, const char *use,
                              const char *where)
{
    char remedy[512];
    char *keyword = mapping_keyword_of(v->options->mapping, field);
    if (keyword != NULL) {
        snprintf(remedy, sizeof(remedy), "use its keyword \"%.100s.%.100s\"", field, keyword);
    } else {
        snprintf(
            remedy, sizeof(remedy),
            "add a keyword subfield to \"%.100s\", \"fields\": {\"raw\": {\"type\": \"keyword\"}}, "
            "and use \"%.100s.raw\"; or make it a keyword",
            field, field);
    }
    validate_note(v, VALIDATE_FAIL, remedy,
                  "field \"%s\" cannot be %s by: it is a text field, which is split into words%s",
                  field, use, where);
    free(keyword);
}

bool validate_type_is_text(const char *type)
{
    return strcmp(type, "text") == 0 || strcmp(type, "match_only_text") == 0 ||
           strcmp(type, "search_as_you_type") == 0;
}

/* Checks a configured filter field: it must exist, must not be a text, and must be in some
 * document. */
static int validate_fields_filter_named(struct validating *v, const char *field, struct err *err)
{
    char *type = validate_field_type(v, field);
    int rc = 0;
    if (type == NULL) {
        validate_note_unknown_field(v, field, "filtered", "");
    } else if (validate_type_is_text(type)) {
        validate_note_text_field(v, field, "filtered", "");
    } else {
        rc = validate_search_filled(v, field, 1, err);
        if (rc == 0) {
            validate_case(v, v->hits.total == 0 ? VALIDATE_WARN : VALIDATE_PASS, field,
                          "documents with a value", "%lld documents", (long long)v->hits.total);
        }
        if (rc == 0 && v->hits.total == 0) {
            validate_note(v, VALIDATE_WARN, "check if rows have a value there",
                          "field \"%s\" is in no document that was tried", field);
        }
    }
    free(type);
    return rc;
}

/* Calls `use` for each property that SQL can compare. */
static int validate_fields_each_comparable(struct validating *v, bool orders,
                                           int (*use)(struct validating *, const struct plan_step *,
                                                      enum sample_how, size_t *, struct err *),
                                           size_t *fields, size_t *asked, struct err *err)
{
    const struct plan *plan = sample_plan(v->sample);
    int rc = 0;
    for (size_t i = 0; i < plan->count && rc == 0; i++) {
        const char *why;
        enum sample_how how = sample_how(v->sample, &plan->steps[i], &why);
        bool can = how != SAMPLE_NOT &&
                   (!orders || (how != SAMPLE_ADDRESS &&
                                !validate_said_off(v, plan->steps[i].property, "doc_values")));
        if (can) {
            *fields += 1;
            rc = use(v, &plan->steps[i], how, asked, err);
        }
    }
    return rc;
}

static void validate_fields_set_result(struct validating *v, size_t fields, size_t asked,
                                       const char *what, size_t used)
{
    char log[64] = "";
    if (v->options->log != NULL) {
        snprintf(log, sizeof(log), "; %zu fields of the application's searches", used);
    }
    validate_set_result(v, "%zu fields, %zu %s compared with SQL%s", fields, asked, what, log);
}

int validate_filter(struct validating *v, struct err *err)
{
    size_t fields = 0;
    size_t asked = 0;
    int rc = validate_fields_each_comparable(v, false, validate_fields_filter_field, &fields,
                                             &asked, err);
    for (size_t i = 0; i < v->options->filter_count && rc == 0; i++) {
        rc = validate_fields_filter_named(v, v->options->filter[i], err);
        asked++;
    }
    size_t used = rc == 0 ? validate_log_judge(v, USE_FILTER, USE_MATCH) : 0;
    if (rc == 0 && asked + used == 0) {
        validate_skip(v, "no field can be used as a filter");
    } else if (rc == 0) {
        validate_fields_set_result(v, fields, asked, "filters", used);
    }
    return rc;
}

/* --- sort ------------------------------------------------------------------------------------ */

/* Finds each row's rank: the smallest of an array, or the largest for descending order. */
static void validate_fields_best_ranks(const struct ranking *r, bool descending, int64_t *best,
                                       size_t count)
{
    memset(best, 0, count * sizeof(*best));
    for (size_t i = 0; i < r->count; i++) {
        int64_t *at = &best[r->items[i].row];
        if (*at == 0 || descending) {
            *at = r->items[i].rank;
        }
    }
}

static int validate_fields_order_field(struct validating *v, const char *field,
                                       const struct ranking *r, bool descending, struct err *err)
{
    size_t count = sample_count(v->sample);
    int64_t *best = mem_zero(count + 1, sizeof(*best));
    int64_t *ranks = mem_zero(count + 1, sizeof(*ranks));
    int rc =
        validate_search_field(v, "{\"sort\":[{", field, descending ? SORT_DOWN : SORT_UP, 0, err);
    validate_fields_best_ranks(r, descending, best, count);
    for (size_t i = 0; rc == 0 && i < v->hits.ids.count; i++) {
        ranks[i] = v->places[i] != JUDGE_STRANGER ? best[v->places[i]] : 0;
    }
    size_t n = rc == 0 ? v->hits.ids.count : 0;
    size_t wrong = judge_order(ranks, n, descending);
    if (rc == 0) {
        bool good = wrong >= n && n == v->report->figures.indexed;
        char asked[300];
        snprintf(asked, sizeof(asked), "%.200s%s", field, descending ? ", from the last" : "");
        validate_case(v, good ? VALIDATE_PASS : VALIDATE_FAIL, asked, "the order of SQL",
                      wrong < n ? "another order from place %zu on" : "%zu documents in this order",
                      wrong < n ? wrong + 1 : n);
    }
    if (rc == 0 && wrong < n) {
        validate_note(v, VALIDATE_FAIL, "give the property the type of its column",
                      "sorted by \"%s\"%s, \"%s\" comes after \"%s\", but in SQL before it", field,
                      descending ? " from the last" : "", validate_key(v, v->places[wrong]),
                      validate_key(v, v->places[wrong - 1]));
    } else if (rc == 0 && n != v->report->figures.indexed) {
        validate_note(v, VALIDATE_FAIL, NULL, "sorted by \"%s\" there are %zu documents of %zu",
                      field, n, v->report->figures.indexed);
    }
    free(ranks);
    free(best);
    return validate_fields_refused(
        v, field, "sort with \"missing\" or \"unmapped_type\", or by a field of another type", rc,
        err);
}

static int validate_fields_sort_field(struct validating *v, const struct plan_step *step,
                                      enum sample_how how, size_t *asked, struct err *err)
{
    struct ranking r;
    (void)how;
    int rc = validate_ranking_load(v, step, &r, err);
    for (int turn = 0; turn < 2 && rc == 0; turn++) {
        rc = validate_fields_order_field(v, step->property, &r, turn == 1, err);
        *asked += 1;
    }
    validate_ranking_release(&r);
    return rc;
}

struct named_sort {
    struct validating *v;
    size_t asked;
    struct err *err;
    int rc;
};

static void validate_fields_sort_named(void *context, enum field_use use, const char *field)
{
    struct named_sort *n = context;
    struct validating *v = n->v;
    if (n->rc < 0 || use != USE_SORT || field[0] == '_') {
        return;
    }
    char *type = validate_field_type(v, field);
    n->rc = validate_search_field(v, "{\"sort\":[{", field, SORT_UP, 1, n->err);
    n->asked++;
    if (n->rc < 0 && !validate_ends(n->err)) {
        n->rc = 0;
        if (type == NULL) {
            validate_note_unknown_field(v, field, "sorted", "");
        } else if (validate_type_is_text(type)) {
            validate_note_text_field(v, field, "sorted", "");
        } else {
            validate_note_error(v, "sort by a keyword, a number or a date", n->err);
        }
    }
    free(type);
}

int validate_sort(struct validating *v, struct err *err)
{
    size_t fields = 0;
    struct named_sort n = {.v = v, .err = err};
    n.rc = validate_fields_each_comparable(v, true, validate_fields_sort_field, &fields, &n.asked,
                                           err);
    for (size_t i = 0; i < v->options->sort_count; i++) {
        validate_fields_sort_named(&n, USE_SORT, v->options->sort[i]);
    }
    for (size_t i = 0; i < v->options->query_count; i++) {
        if (v->options->queries[i].body != NULL) {
            querylog_fields(v->options->queries[i].body, validate_fields_sort_named, &n);
        }
    }
    size_t used = n.rc == 0 ? validate_log_judge(v, USE_SORT, USE_AGGREGATE) : 0;
    if (n.rc == 0 && n.asked + used == 0) {
        validate_skip(v, "no field can be used for sorting");
    } else if (n.rc == 0) {
        validate_fields_set_result(v, fields, n.asked, "orders", used);
    }
    return n.rc;
}
