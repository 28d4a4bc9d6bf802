/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shared by the steps of a trial.
 */
#pragma once

#include "rowferry/base/buf.h"
#include "rowferry/engine/validate/validate.h"
#include "rowferry/service/trial/trial.h"
#include "validate/judge.h"

#define VALIDATE_TEXT_BYTES ((size_t)1 << 20)
#define VALIDATE_NOTES 12       /* per step; more are only counted */
#define VALIDATE_CASES 100      /* likewise */
#define VALIDATE_CHARACTERS 120 /* of a text that a search is made of */

#define VALIDATE_SEARCH_REMEDY                                                                     \
    "check the analysis of the field and the search itself; rowferry document ID prints the "      \
    "indexed "                                                                                     \
    "document"

/* A value of a row: index of the row in the sample, and rank of the value among all values. */
struct ranked {
    size_t row;
    int64_t rank;
};

/* The values of one property, in the order of their ranks. */
struct ranking {
    struct ranked *items;
    size_t count;
    int64_t last;      /* the highest rank */
    char **texts;      /* text of each rank, from 1 */
    int64_t text_room; /* capacity of `texts` */
};

/* Texts of a field, and their rows in the sample. */
#define VALIDATE_TEXTS 8
struct known_texts {
    char *texts[VALIDATE_TEXTS];
    size_t rows[VALIDATE_TEXTS];
    size_t count;
};

struct validating {
    const struct validate_options *options;
    const struct validate_ports *ports;
    struct validate_report *report;
    struct sample *sample;
    struct trial trial;
    struct hits hits;
    size_t *places;             /* of the hits: index in the sample */
    bool *indexed;              /* by index in the sample */
    bool *marks;                /* scratch space of the same length */
    struct validate_step *step; /* the current step */
};

/* Creates the index that v->trial names. */
int validate_create(struct validating *v, struct err *err) MUST_CHECK;
/* Removes the trial's index. Retries, so that a short outage of the service does not leave it
 * behind. */
int validate_drop(struct validating *v, struct err *err) MUST_CHECK;

/* Adds a note to the current step. remedy: plain text, or null. */
void validate_note(struct validating *v, enum validate_status status, const char *remedy,
                   const char *format, ...) __attribute__((format(printf, 4, 5)));
/* Adds an error of the service as a note. */
void validate_note_error(struct validating *v, const char *remedy, const struct err *err);
/* Adds a comparison to the current step, without changing the step's status. The format is that of
 * what was found. */
void validate_case(struct validating *v, enum validate_status status, const char *asked,
                   const char *expected, const char *format, ...)
    __attribute__((format(printf, 5, 6)));
/* Sets the result line of the step. */
void validate_set_result(struct validating *v, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void validate_skip(struct validating *v, const char *why);

/* Returns true for a text field that searches match by words. */
bool validate_searches_words(const struct validating *v, const struct property *p);

/* Returns true if the error ends the trial: the service is unreachable, or it rejects the
 * account. */
bool validate_ends(const struct err *err);

/* Searches and sets v->places to the hits' indexes in the sample. size 0: as many hits as the
 * sample has rows. */
int validate_search(struct validating *v, const char *body, size_t size,
                    struct err *err) MUST_CHECK;
/* The same through a search pipeline; null: none. */
int validate_search_through(struct validating *v, const char *body, size_t size,
                            const char *pipeline, struct err *err) MUST_CHECK;
int validate_search_text(struct validating *v, const char *q, const char *pipeline,
                         struct err *err) MUST_CHECK;
/* Like validate_search; the body is `before`, the field's name as JSON, and `after`. */
int validate_search_field(struct validating *v, const char *before, const char *field,
                          const char *after, size_t size, struct err *err) MUST_CHECK;
/* Searches for documents that have the field. */
int validate_search_filled(struct validating *v, const char *field, size_t size,
                           struct err *err) MUST_CHECK;

/* A search of the configuration, number i. */
void validate_query_name(char *out, size_t size, const struct validating *v, size_t i);
int validate_query_run(struct validating *v, size_t i, struct err *err) MUST_CHECK;
/* Runs it and checks that it finds the expected documents. */
int validate_query_expect(struct validating *v, size_t i, struct err *err) MUST_CHECK;
/* Returns true for a search by meaning or a combination of searches: it belongs to the step
 * "semantic", and has no more hits than it asks for. */
bool validate_query_is_semantic(const struct validating *v, size_t i);
bool validate_is_semantic_type(const char *type);
/* Returns the rank of a key among the hits; 0: it is not among them. */
size_t validate_query_rank(const struct validating *v, const char *key);
/* Returns the nDCG of the hits by the judgements. */
double validate_query_ndcg(const struct validating *v, const struct trial_query *q);
/* Adds the search with the documents that it should find, as a case. first: the hits among which
 * they should be; 0: all. */
void validate_query_case(struct validating *v, size_t i, enum validate_status status, size_t first,
                         const char *found);

/* Returns the type of a field of the mapping, "object" for an object; null: there is none. The
 * caller frees it. */
char *validate_field_type(const struct validating *v, const char *field);
bool validate_type_is_text(const char *type);
/* Add notes about a field. use: "filtered"; where: of the search that uses it, or "". */
void validate_note_unknown_field(struct validating *v, const char *field, const char *use,
                                 const char *where);
void validate_note_text_field(struct validating *v, const char *field, const char *use,
                              const char *where);

/* Runs the searches of the application; *found is the number of those with a hit. */
int validate_log_run(struct validating *v, size_t *found, struct err *err) MUST_CHECK;
/* Judges the fields that they filter by or sort by: the uses from first to last. Returns the number
 * of fields. */
size_t validate_log_judge(struct validating *v, enum field_use first, enum field_use last);

/* Calls `use` with field, text, row and `asked` for some texts of each field that is searched by
 * words. */
int validate_each_text(struct validating *v,
                       int (*use)(struct validating *, const char *, const char *, size_t, size_t *,
                                  struct err *),
                       size_t *asked, struct err *err) MUST_CHECK;

/* Returns the key of a row; "?" for JUDGE_STRANGER. */
const char *validate_key(const struct validating *v, size_t row);
/* Returns true if a parameter of the property is "false" in the mapping. */
bool validate_said_off(const struct validating *v, const char *property, const char *parameter);

/* Loads up to `most` texts of a field, each cut to `characters`. */
int validate_texts_load(struct validating *v, const struct plan_step *step, size_t characters,
                        size_t most, struct known_texts *out, struct err *err) MUST_CHECK;
void validate_texts_release(struct known_texts *k);

void validate_ranking_release(struct ranking *r);
int validate_ranking_load(struct validating *v, const struct plan_step *step, struct ranking *r,
                          struct err *err) MUST_CHECK;
/* Marks the indexed rows with a value whose rank is from low to high. Returns their number. */
size_t validate_ranking_mark(struct validating *v, const struct ranking *r, int64_t low,
                             int64_t high);
/* Returns true if the value of a rank can be used in a query. */
bool validate_ranking_usable(const struct ranking *r, int64_t rank);
/* Chooses up to three ranks to query: the most frequent, a middle one, the last. Returns their
 * number. */
size_t validate_ranking_probes(const struct ranking *r, int64_t probes[3]);
/* Returns the number of rows that are only among the hits or only among the marks. *row is one of
 * them; *missing is true if it is not among the hits. */
size_t validate_differs(struct validating *v, size_t *row, bool *missing);

/* Steps; each is called as the current step. */
/* Collects the keys that the searches expect, because the sample must contain them; borrowed texts
 * in a list that the caller frees. */
size_t validate_named_keys(const struct validate_options *o, const char ***out);

int validate_fill(struct validating *v, struct err *err) MUST_CHECK;
int validate_counts(struct validating *v, struct err *err) MUST_CHECK;
int validate_queries(struct validating *v, struct err *err) MUST_CHECK;
int validate_analysis(struct validating *v, struct err *err) MUST_CHECK;
int validate_filter(struct validating *v, struct err *err) MUST_CHECK;
int validate_sort(struct validating *v, struct err *err) MUST_CHECK;
int validate_relevance(struct validating *v, struct err *err) MUST_CHECK;
int validate_vectors(struct validating *v, struct err *err) MUST_CHECK;
int validate_semantic(struct validating *v, struct err *err) MUST_CHECK;
int validate_growth(struct validating *v, struct err *err) MUST_CHECK;
int validate_against(struct validating *v, struct err *err) MUST_CHECK;

/* Checks the dimensions of vectors by the rows alone, so it works without indexed documents. */
int validate_dimensions(struct validating *v, struct err *err) MUST_CHECK;
