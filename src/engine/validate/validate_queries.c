/* SPDX-License-Identifier: Apache-2.0 */
/* Runs the configured searches, and generated ones for known values. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "validate/validate_private.h"

#define CHARACTERS 120
#define ENOUGH 0.8 /* required share of generated searches with a hit within the first k */

static const char remedy_of_search[] = "check the analysis of the field and the search itself; "
                                       "rowferry document ID prints the indexed document";

/* --- configured searches --------------------------------------------------------------------- */

static void validate_queries_name_query(char *out, size_t size, const struct validating *v,
                                        size_t i)
{
    const struct trial_query *q = &v->options->queries[i];
    if (q->name != NULL) {
        snprintf(out, size, "%s", q->name);
    } else {
        snprintf(out, size, "validate.queries[%zu]", i);
    }
}

static int validate_queries_run_query(struct validating *v, size_t i, struct err *err)
{
    const struct trial_query *q = &v->options->queries[i];
    return q->q != NULL ? validate_search_text(v, q->q, err) : validate_search(v, q->body, 0, err);
}

/* Returns the rank of the expected key among the hits; 0: it is not among them. */
static size_t validate_queries_rank_of(const struct validating *v, const char *key)
{
    size_t place;
    bool known = sample_find(v->sample, span_make(key, strlen(key)), &place);
    return known ? judge_rank(v->places, v->hits.ids.count, place) : 0;
}

/* Returns the number of expected keys among the hits. *missing is the first one that is not. */
static size_t validate_queries_among_hits(const struct validating *v, const struct trial_query *q,
                                          const char **missing)
{
    size_t found = 0;
    *missing = NULL;
    for (size_t i = 0; i < q->expect_count; i++) {
        if (validate_queries_rank_of(v, q->expect[i]) > 0) {
            found++;
        } else if (*missing == NULL) {
            *missing = q->expect[i];
        }
    }
    return found;
}

/* Returns the field of "field:value" if the mapping does not have it, as a copy, otherwise null. */
static char *validate_queries_unknown_field(const struct validating *v, const char *q)
{
    size_t len = strcspn(q, ": \t(\"");
    if (q[len] != ':' || len == 0) {
        return NULL;
    }
    char *name = text_copy_span(span_make(q, len));
    char *type = mapping_parameter(v->options->mapping, name, "type");
    bool known = type != NULL || name[0] == '_' || strcmp(name, "source_id") == 0;
    free(type);
    if (known) {
        free(name);
        return NULL;
    }
    return name;
}

/* Adds a configured search with the documents that it should find. */
static void validate_queries_add_case(struct validating *v, size_t i, enum validate_status status,
                                      size_t first, const char *found)
{
    char name[128];
    struct buf asked;
    struct buf expected;
    const struct trial_query *q = &v->options->queries[i];
    buf_init(&asked, VALIDATE_TEXT_BYTES);
    buf_init(&expected, VALIDATE_TEXT_BYTES);
    buf_push_text(&expected, q->expect_count == 1 ? "document" : "documents");
    validate_queries_name_query(name, sizeof(name), v, i);
    buf_printf(&asked, "%s: %s%s", name, q->q != NULL ? "q=" : "", q->q != NULL ? q->q : q->body);
    for (size_t e = 0; e < q->expect_count; e++) {
        buf_printf(&expected, "%s\"%s\"", e > 0 ? ", " : " ", q->expect[e]);
    }
    if (first > 0) {
        buf_printf(&expected, " among the first %zu", first);
    }
    validate_case(v, status, buf_text(&asked), buf_text(&expected), "%s", found);
    buf_release(&asked);
    buf_release(&expected);
}

static int validate_queries_expect_written(struct validating *v, size_t i, struct err *err)
{
    char name[128];
    char result[96];
    const char *missing;
    const struct trial_query *q = &v->options->queries[i];
    validate_queries_name_query(name, sizeof(name), v, i);
    int rc = validate_queries_run_query(v, i, err);
    if (rc < 0 && !validate_ends(err)) {
        validate_queries_add_case(v, i, VALIDATE_FAIL, 0, "the service refuses the search");
        err_context(err, "search \"%s\"", name);
        validate_note_error(v, "correct the search, or the mapping of its fields", err);
        return 0;
    }
    if (rc < 0) {
        return rc;
    }
    size_t found = validate_queries_among_hits(v, q, &missing);
    snprintf(result, sizeof(result), "%zu of %zu among %lld hit%s", found, q->expect_count,
             (long long)v->hits.total, v->hits.total == 1 ? "" : "s");
    validate_queries_add_case(v, i, found < q->expect_count ? VALIDATE_FAIL : VALIDATE_PASS, 0,
                              result);
    char *unknown =
        q->q != NULL && found < q->expect_count ? validate_queries_unknown_field(v, q->q) : NULL;
    if (unknown != NULL) {
        validate_note(v, VALIDATE_FAIL,
                      "add it to to.mappings with its column, or correct the name",
                      "search \"%s\": the mapping has no field \"%s\"", name, unknown);
    } else if (found < q->expect_count) {
        validate_note(
            v, VALIDATE_FAIL, remedy_of_search,
            "search \"%s\" finds %zu of the %zu expected documents; \"%s\" is not among its "
            "%lld hits",
            name, found, q->expect_count, missing, (long long)v->hits.total);
    }
    free(unknown);
    return 0;
}

/* --- generated searches: q=field:value ------------------------------------------------------- */

/* Characters that separate words or have a meaning in the syntax of q=. */
static const char q_special[] = " :\\()\"+-!^[]{}~*?/&|";

static void validate_queries_push_quoted(struct buf *q, const char *field, const char *value)
{
    for (; *field != '\0'; field++) {
        buf_push_text(q, strchr(q_special, *field) != NULL ? "\\" : "");
        buf_push_char(q, *field);
    }
    buf_push_literal(q, ":\"");
    for (; *value != '\0'; value++) {
        buf_push_text(q, *value == '"' || *value == '\\' ? "\\" : "");
        buf_push_char(q, *value);
    }
    buf_push_char(q, '"');
}

static int validate_queries_ask_value(struct validating *v, const char *field,
                                      const struct ranking *r, int64_t rank, struct err *err)
{
    struct buf q;
    size_t row;
    bool missing;
    char rows[32];
    buf_init(&q, VALIDATE_TEXT_BYTES);
    validate_queries_push_quoted(&q, field, r->texts[rank]);
    int rc = validate_search_text(v, buf_text(&q), err);
    size_t expected = rc == 0 ? validate_ranking_mark(v, r, rank, rank) : 0;
    bool differs = rc == 0 && validate_differs(v, &row, &missing) > 0;
    if (rc == 0) {
        snprintf(rows, sizeof(rows), "%zu row%s", expected, expected == 1 ? "" : "s");
        validate_case(v, differs ? VALIDATE_FAIL : VALIDATE_PASS, buf_text(&q), rows,
                      "%lld document%s", (long long)v->hits.total, v->hits.total == 1 ? "" : "s");
    }
    if (differs) {
        validate_note(v, VALIDATE_FAIL, remedy_of_search,
                      "q=%s finds %lld documents, but %zu rows have the value", buf_text(&q),
                      (long long)v->hits.total, expected);
    }
    buf_release(&q);
    return rc;
}

static int validate_queries_ask_values(struct validating *v, const struct plan_step *step,
                                       size_t *asked, struct err *err)
{
    struct ranking r;
    int64_t probes[3];
    int rc = validate_ranking_load(v, step, &r, err);
    size_t n = rc == 0 ? validate_ranking_probes(&r, probes) : 0;
    for (size_t i = 0; i < n && rc == 0; i++) {
        if (strchr(r.texts[probes[i]], '\n') == NULL) {
            rc = validate_queries_ask_value(v, step->property, &r, probes[i], err);
            *asked += 1;
        }
    }
    validate_ranking_release(&r);
    return rc;
}

/* --- texts ----------------------------------------------------------------------------------- */

/* Finds out if the analyzer drops a word, as an English one drops "the". Such a word is not
 * searched for. */
static int validate_queries_left_out(struct validating *v, const char *field, const char *word,
                                     bool *out, struct err *err)
{
    struct trial_terms terms;
    char *analyzer = mapping_parameter(v->options->mapping, field, "search_analyzer");
    int rc = trial_analyze(v->ports->service, v->trial.index, field, analyzer, word, &terms, err);
    *out = rc == 0 && terms.count == 0;
    trial_terms_release(&terms);
    free(analyzer);
    return rc;
}

/* Checks that a word of a row's text finds the row. */
static int validate_queries_ask_word(struct validating *v, const char *field, const char *text,
                                     size_t row, size_t *asked, struct err *err)
{
    struct buf q;
    struct span word;
    size_t at = 0;
    if (!v->indexed[row] || !judge_word(text, &at, &word) || text[at] == '\0') {
        return 0;
    }
    char *copy = text_copy_span(word);
    buf_init(&q, VALIDATE_TEXT_BYTES);
    validate_queries_push_quoted(&q, field, copy);
    int rc = validate_search_text(v, buf_text(&q), err);
    bool stop = false;
    if (rc == 0 && v->hits.total == 0) {
        rc = validate_queries_left_out(v, field, copy, &stop, err);
    }
    bool found = rc == 0 && judge_rank(v->places, v->hits.ids.count, row) > 0;
    if (rc == 0) {
        char expected[128];
        snprintf(expected, sizeof(expected), "row \"%s\"", validate_key(v, row));
        validate_case(v, found || stop ? VALIDATE_PASS : VALIDATE_FAIL, buf_text(&q), expected,
                      stop ? "the analyzer drops this word" : "%samong %lld hit%s",
                      found ? "" : "not ", (long long)v->hits.total, v->hits.total == 1 ? "" : "s");
    }
    if (rc == 0 && !stop && !found) {
        validate_note(v, VALIDATE_FAIL, remedy_of_search,
                      "q=%s does not find \"%s\", whose text contains the word", buf_text(&q),
                      sample_key(v->sample, row).data);
    }
    *asked += 1;
    free(copy);
    buf_release(&q);
    return rc;
}

/* Returns the length of the text without its last word if the text was truncated. */
static size_t validate_queries_whole_words(const char *text)
{
    size_t len = strlen(text);
    if (len < CHARACTERS) {
        return len;
    }
    while (len > 0 && text[len - 1] != ' ') {
        len--;
    }
    return len;
}

/* A single document that is not found is no failure: see ENOUGH. */
static void validate_queries_add_match(struct validating *v, const char *field, struct span text,
                                       size_t row, size_t rank)
{
    char asked[512];
    char expected[160];
    snprintf(asked, sizeof(asked), "%s: %.*s", field, (int)text.len, text.data);
    snprintf(expected, sizeof(expected), "row \"%.100s\" among the first %lld",
             validate_key(v, row), (long long)v->options->k);
    validate_case(v, rank > 0 ? VALIDATE_PASS : VALIDATE_WARN, asked, expected,
                  rank > 0 ? "at place %zu" : "not among them", rank);
}

static int validate_queries_ask_match(struct validating *v, const char *field, const char *text,
                                      size_t row, size_t *asked, struct err *err)
{
    struct buf body;
    size_t len = validate_queries_whole_words(text);
    if (!v->indexed[row] || len == 0) {
        return 0;
    }
    buf_init(&body, VALIDATE_TEXT_BYTES);
    buf_push_literal(&body, "{\"query\":{\"match\":{");
    text_json(&body, field, strlen(field));
    buf_push_char(&body, ':');
    text_json(&body, text, len);
    buf_push_literal(&body, "}}}");
    int rc = validate_search(v, buf_text(&body), (size_t)v->options->k, err);
    if (rc == 0) {
        size_t rank = judge_rank(v->places, v->hits.ids.count, row);
        judge_relevance_add(&v->report->figures.relevance, rank);
        *asked += rank > 0 ? 1 : 0;
        validate_queries_add_match(v, field, span_make(text, len), row, rank);
    }
    buf_release(&body);
    return rc;
}

static int validate_queries_each_text(struct validating *v,
                                      int (*use)(struct validating *, const char *, const char *,
                                                 size_t, size_t *, struct err *),
                                      size_t *asked, struct err *err)
{
    const struct plan *plan = sample_plan(v->sample);
    int rc = 0;
    for (size_t i = 0; i < plan->count && rc == 0; i++) {
        struct known_texts known;
        const char *name = plan->steps[i].property;
        const struct property *p = mapping_find(v->options->mapping, name);
        if (p == NULL || !validate_searches_words(v, p)) {
            continue;
        }
        rc = validate_texts_load(v, &plan->steps[i], CHARACTERS, VALIDATE_TEXTS, &known, err);
        for (size_t k = 0; k < known.count && rc == 0; k++) {
            rc = use(v, name, known.texts[k], known.rows[k], asked, err);
        }
        validate_texts_release(&known);
    }
    return rc;
}

int validate_queries(struct validating *v, struct err *err)
{
    size_t asked = 0;
    int rc = 0;
    const struct plan *plan = sample_plan(v->sample);
    for (size_t i = 0; i < v->options->query_count && rc == 0; i++) {
        rc = validate_queries_expect_written(v, i, err);
    }
    for (size_t i = 0; i < plan->count && rc == 0; i++) {
        const char *why;
        if (sample_how(v->sample, &plan->steps[i], &why) != SAMPLE_NOT) {
            rc = validate_queries_ask_values(v, &plan->steps[i], &asked, err);
        }
    }
    if (rc == 0) {
        rc = validate_queries_each_text(v, validate_queries_ask_word, &asked, err);
    }
    if (rc == 0) {
        validate_set_result(v, "%zu searches of the configuration, %zu by q= for known values",
                            v->options->query_count, asked);
    }
    return rc;
}

/* --- relevance ------------------------------------------------------------------------------- */

static int validate_queries_rank_written(struct validating *v, size_t i, struct err *err)
{
    char name[128];
    const struct trial_query *q = &v->options->queries[i];
    size_t k = (size_t)(q->k > 0 ? q->k : v->options->k);
    size_t best = 0;
    int rc = validate_queries_run_query(v, i, err);
    if (rc < 0) { /* reported by the step "queries" */
        return validate_ends(err) ? rc : 0;
    }
    for (size_t e = 0; e < q->expect_count; e++) {
        size_t rank = validate_queries_rank_of(v, q->expect[e]);
        best = rank > 0 && (best == 0 || rank < best) ? rank : best;
    }
    judge_relevance_add(&v->report->figures.relevance, best <= k ? best : 0);
    snprintf(name, sizeof(name), best > 0 ? "at place %zu" : "not among the hits", best);
    validate_queries_add_case(v, i, best == 0 || best > k ? VALIDATE_FAIL : VALIDATE_PASS, k, name);
    if (best == 0 || best > k) {
        validate_queries_name_query(name, sizeof(name), v, i);
        validate_note(
            v, VALIDATE_FAIL,
            "weigh the fields (boosts, multi_match), check their analysis, or expect another hit",
            best == 0 ? "search \"%s\" has no expected hit among the first %zu"
                      : "search \"%s\" has its first expected hit after place %zu, at %zu",
            name, k, best);
    }
    return 0;
}

int validate_relevance(struct validating *v, struct err *err)
{
    size_t found = 0;
    int rc = 0;
    struct relevance *r = &v->report->figures.relevance;
    for (size_t i = 0; i < v->options->query_count && rc == 0; i++) {
        rc = validate_queries_rank_written(v, i, err);
    }
    size_t written = r->asked;
    if (rc == 0) {
        rc = validate_queries_each_text(v, validate_queries_ask_match, &found, err);
    }
    size_t made = r->asked - written;
    if (rc == 0 && made > 0 && (double)found < ENOUGH * (double)made) {
        validate_note(v, VALIDATE_FAIL, remedy_of_search,
                      "of %zu documents that were searched for by their own text, %zu are among "
                      "the first %lld",
                      made, found, (long long)v->options->k);
    }
    if (rc == 0 && r->asked == 0) {
        validate_skip(v, "no text field, and no validate.queries");
    } else if (rc == 0) {
        validate_set_result(v, "%zu of %zu within the first %lld, MRR %.3f", r->found, r->asked,
                            (long long)v->options->k, judge_relevance_mrr(r));
    }
    return rc;
}
