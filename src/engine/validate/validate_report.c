/* SPDX-License-Identifier: Apache-2.0 */
/* Notes and result lines of a trial's steps. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "validate/validate_private.h"

#define CASE_BYTES 400

static const char *const step_names[VALIDATE_STEPS] = {
    [VALIDATE_COUNTS] = "counts",     [VALIDATE_QUERIES] = "queries",
    [VALIDATE_ANALYSIS] = "analysis", [VALIDATE_FILTER] = "filter",
    [VALIDATE_SORT] = "sort",         [VALIDATE_RELEVANCE] = "relevance",
    [VALIDATE_VECTORS] = "vectors",   [VALIDATE_GROWTH] = "growth",
    [VALIDATE_SEMANTIC] = "semantic", [VALIDATE_AGAINST] = "against",
};

void validate_report_init(struct validate_report *r)
{
    *r = (struct validate_report){0};
    r->figures.rows = -1;
    r->figures.room_bytes = -1;
    r->step_count = VALIDATE_AGAINST;
    for (size_t i = 0; i < VALIDATE_STEPS; i++) {
        r->steps[i] = (struct validate_step){.name = step_names[i], .status = VALIDATE_SKIP};
    }
}

void validate_report_release(struct validate_report *r)
{
    for (size_t i = 0; i < VALIDATE_STEPS; i++) {
        struct validate_step *s = &r->steps[i];
        for (size_t k = 0; k < s->note_count; k++) {
            free(s->notes[k].text);
            free(s->notes[k].remedy);
        }
        for (size_t k = 0; k < s->case_count; k++) {
            free(s->cases[k].asked);
            free(s->cases[k].expected);
            free(s->cases[k].found);
        }
        free(s->notes);
        free(s->cases);
        free(s->text);
    }
    for (size_t i = 0; i < r->figures.neighbour_count; i++) {
        free(r->figures.neighbours[i].field);
    }
    free(r->figures.neighbours);
    for (size_t i = 0; i < r->figures.judged_count; i++) {
        free(r->figures.judged[i].name);
    }
    free(r->figures.judged);
    for (size_t i = 0; i < r->figures.compared_count; i++) {
        free(r->figures.compared[i].name);
    }
    free(r->figures.compared);
}

double validate_mean_ndcg(const struct validate_figures *f)
{
    double sum = 0;
    for (size_t i = 0; i < f->judged_count; i++) {
        sum += f->judged[i].ndcg;
    }
    return f->judged_count > 0 ? sum / (double)f->judged_count : 0;
}

enum validate_status validate_worst(const struct validate_report *r, size_t steps)
{
    enum validate_status worst = VALIDATE_PASS;
    for (size_t i = 0; i < steps; i++) {
        worst = r->steps[i].status > worst ? r->steps[i].status : worst;
    }
    return worst;
}

const char *validate_verdict_name(enum validate_verdict v)
{
    static const char *const names[VERDICT_COUNT] = {"win", "loss", "tie", "differs"};
    return names[v];
}

const char *validate_status_name(enum validate_status s)
{
    static const char *const names[] = {"PASS", "SKIP", "WARN", "FAIL"};
    return names[s];
}

static void validate_report_add_note(struct validating *v, enum validate_status status, char *text,
                                     const char *remedy)
{
    struct validate_step *s = v->step;
    s->status = status > s->status ? status : s->status;
    if (s->note_count == VALIDATE_NOTES) {
        s->notes_left_out++;
        free(text);
        return;
    }
    s->notes = mem_grow(s->notes, s->note_count + 1, sizeof(*s->notes));
    s->notes[s->note_count++] =
        (struct validate_note){status, text, remedy != NULL ? text_copy(remedy) : NULL};
}

/* Copies a text, cut at `most` bytes, as valid UTF-8. */
static char *validate_report_copy(const char *text, size_t most)
{
    struct buf copy;
    size_t len = strlen(text);
    size_t kept = text_cut(text, len, most);
    buf_init(&copy, VALIDATE_TEXT_BYTES);
    text_valid(&copy, text, kept);
    buf_push_text(&copy, kept < len ? "..." : "");
    return buf_detach(&copy);
}

__attribute__((format(printf, 1, 0))) static char *validate_report_format(const char *format,
                                                                          va_list list)
{
    char line[2048];
    vsnprintf(line, sizeof(line), format, list);
    return validate_report_copy(line, sizeof(line) - 1);
}

void validate_note(struct validating *v, enum validate_status status, const char *remedy,
                   const char *format, ...)
{
    va_list list;
    va_start(list, format);
    validate_report_add_note(v, status, validate_report_format(format, list), remedy);
    va_end(list);
}

void validate_case(struct validating *v, enum validate_status status, const char *asked,
                   const char *expected, const char *format, ...)
{
    va_list list;
    struct validate_step *s = v->step;
    if (s->case_count == VALIDATE_CASES) {
        s->cases_left_out++;
        return;
    }
    va_start(list, format);
    s->cases = mem_grow(s->cases, s->case_count + 1, sizeof(*s->cases));
    s->cases[s->case_count++] = (struct validate_case){
        status, validate_report_copy(asked, CASE_BYTES), validate_report_copy(expected, CASE_BYTES),
        validate_report_format(format, list)};
    va_end(list);
}

/* Appends the last reason in the response body if the message is only that all shards failed. */
static void validate_report_push_cause(struct buf *text, const struct err *err)
{
    static const char mark[] = "\"reason\":\"";
    const char *at = NULL;
    for (const char *p = strstr(err->detail, mark); p != NULL; p = strstr(p + 1, mark)) {
        at = p + sizeof(mark) - 1;
    }
    if (at != NULL && strcmp(err->service_type, "search_phase_execution_exception") == 0) {
        buf_push_literal(text, ": ");
        buf_push(text, at, strcspn(at, "\""));
    }
}

void validate_note_error(struct validating *v, const char *remedy, const struct err *err)
{
    struct buf text;
    const char *hint = remedy != NULL ? remedy : err->hint[0] != '\0' ? err->hint : NULL;
    buf_init(&text, VALIDATE_TEXT_BYTES);
    buf_push_text(&text, err->message);
    validate_report_push_cause(&text, err);
    validate_report_add_note(v, VALIDATE_FAIL, buf_detach(&text), hint);
}

void validate_set_result(struct validating *v, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    free(v->step->text);
    v->step->text = validate_report_format(format, list);
    va_end(list);
}

void validate_skip(struct validating *v, const char *why)
{
    validate_set_result(v, "%s", why);
    if (v->step->status == VALIDATE_PASS) {
        v->step->status = VALIDATE_SKIP;
    }
}

bool validate_ends(const struct err *err)
{
    return err->class != ERR_REJECTED || err->http_status == 401 || err->http_status == 403 ||
           err->http_status == 0;
}
