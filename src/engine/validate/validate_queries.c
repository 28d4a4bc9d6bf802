/* SPDX-License-Identifier: Apache-2.0 */
/* Runs the configured searches, and generated ones for known values. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "validate/validate_private.h"

/* --- configured searches --------------------------------------------------------------------- */

void validate_query_name(char *out, size_t size, const struct validating *v, size_t i)
{
    const struct trial_query *q = &v->options->queries[i];
    if (q->name != NULL) {
        snprintf(out, size, "%s", q->name);
    } else {
        snprintf(out, size, "validate.queries[%zu]", i);
    }
}

/* Returns how many hits a search asks for, 0: all. Combinations of searches refuse more than their
 * parts find. */
static size_t validate_queries_size(const struct validating *v, size_t i)
{
    const struct trial_query *q = &v->options->queries[i];
    size_t size = (size_t)(q->k > 0 ? q->k : v->options->k);
    size = q->expect_count > size ? q->expect_count : size;
    size = q->judgement_count > 0 && size < NDCG_HITS ? NDCG_HITS : size;
    return q->q == NULL && validate_query_is_semantic(v, i) ? size : 0;
}

int validate_query_run(struct validating *v, size_t i, struct err *err)
{
    const struct trial_query *q = &v->options->queries[i];
    return q->q != NULL ? validate_search_text(v, q->q, q->search_pipeline, err)
                        : validate_search_through(v, q->body, validate_queries_size(v, i),
                                                  q->search_pipeline, err);
}

/* Returns the rank of the expected key among the hits; 0: it is not among them. */
size_t validate_query_rank(const struct validating *v, const char *key)
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
        if (validate_query_rank(v, q->expect[i]) > 0) {
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
void validate_query_case(struct validating *v, size_t i, enum validate_status status, size_t first,
                         const char *found)
{
    char name[128];
    struct buf asked;
    struct buf expected;
    const struct trial_query *q = &v->options->queries[i];
    buf_init(&asked, VALIDATE_TEXT_BYTES);
    buf_init(&expected, VALIDATE_TEXT_BYTES);
    buf_push_text(&expected, q->expect_count == 0   ? "hits"
                             : q->expect_count == 1 ? "document"
                                                    : "documents");
    validate_query_name(name, sizeof(name), v, i);
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

int validate_query_expect(struct validating *v, size_t i, struct err *err)
{
    char name[128];
    char result[96];
    const char *missing;
    const struct trial_query *q = &v->options->queries[i];
    validate_query_name(name, sizeof(name), v, i);
    int rc = validate_query_run(v, i, err);
    if (rc < 0 && !validate_ends(err)) {
        validate_query_case(v, i, VALIDATE_FAIL, 0, "the service refuses the search");
        err_context(err, "search \"%s\"", name);
        validate_note_error(v, "correct the search, or the mapping of its fields", err);
        return 0;
    }
    if (rc < 0) {
        return rc;
    }
    size_t size = validate_queries_size(v, i);
    size_t found = validate_queries_among_hits(v, q, &missing);
    int at = 0;
    if (q->expect_count > 0) {
        at = snprintf(result, sizeof(result), "%zu of %zu among ", found, q->expect_count);
    }
    snprintf(result + at, sizeof(result) - (size_t)at, "%lld hit%s", (long long)v->hits.total,
             v->hits.total == 1 ? "" : "s");
    validate_query_case(v, i, found < q->expect_count ? VALIDATE_FAIL : VALIDATE_PASS, size,
                        result);
    char *unknown =
        q->q != NULL && found < q->expect_count ? validate_queries_unknown_field(v, q->q) : NULL;
    if (unknown != NULL) {
        validate_note(v, VALIDATE_FAIL,
                      "add it to to.mappings with its column, or correct the name",
                      "search \"%s\": the mapping has no field \"%s\"", name, unknown);
    } else if (found < q->expect_count) {
        validate_note(
            v, VALIDATE_FAIL, VALIDATE_SEARCH_REMEDY,
            "search \"%s\" finds %zu of the %zu expected documents; \"%s\" is not among its "
            "%s%lld hits",
            name, found, q->expect_count, missing, size > 0 ? "first " : "",
            size > 0 ? (long long)size : (long long)v->hits.total);
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
    int rc = validate_search_text(v, buf_text(&q), NULL, err);
    size_t expected = rc == 0 ? validate_ranking_mark(v, r, rank, rank) : 0;
    bool differs = rc == 0 && validate_differs(v, &row, &missing) > 0;
    if (rc == 0) {
        snprintf(rows, sizeof(rows), "%zu row%s", expected, expected == 1 ? "" : "s");
        validate_case(v, differs ? VALIDATE_FAIL : VALIDATE_PASS, buf_text(&q), rows,
                      "%lld document%s", (long long)v->hits.total, v->hits.total == 1 ? "" : "s");
    }
    if (differs) {
        validate_note(v, VALIDATE_FAIL, VALIDATE_SEARCH_REMEDY,
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
    int rc = validate_search_text(v, buf_text(&q), NULL, err);
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
        validate_note(v, VALIDATE_FAIL, VALIDATE_SEARCH_REMEDY,
                      "q=%s does not find \"%s\", whose text contains the word", buf_text(&q),
                      sample_key(v->sample, row).data);
    }
    *asked += 1;
    free(copy);
    buf_release(&q);
    return rc;
}

int validate_each_text(struct validating *v,
                       int (*use)(struct validating *, const char *, const char *, size_t, size_t *,
                                  struct err *),
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
        rc = validate_texts_load(v, &plan->steps[i], VALIDATE_CHARACTERS, VALIDATE_TEXTS, &known,
                                 err);
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
    size_t written = 0;
    size_t found = 0;
    char log[128] = "";
    int rc = 0;
    const struct plan *plan = sample_plan(v->sample);
    for (size_t i = 0; i < v->options->query_count && rc == 0; i++) {
        bool here = !validate_query_is_semantic(v, i);
        rc = here ? validate_query_expect(v, i, err) : 0;
        written += here ? 1 : 0;
    }
    for (size_t i = 0; i < plan->count && rc == 0; i++) {
        const char *why;
        if (sample_how(v->sample, &plan->steps[i], &why) != SAMPLE_NOT) {
            rc = validate_queries_ask_values(v, &plan->steps[i], &asked, err);
        }
    }
    if (rc == 0) {
        rc = validate_each_text(v, validate_queries_ask_word, &asked, err);
    }
    if (rc == 0) {
        rc = validate_log_run(v, &found, err);
    }
    if (rc == 0 && v->options->log != NULL) {
        snprintf(log, sizeof(log),
                 "; %zu different ones of the application, of which %zu have hits",
                 v->options->log->count, found);
    }
    if (rc == 0) {
        validate_set_result(v, "%zu searches of the configuration, %zu by q= for known values%s",
                            written, asked, log);
    }
    return rc;
}
