/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the steps of a trial share.
 */
#ifndef ROWFERRY_ENGINE_VALIDATE_PRIVATE_H
#define ROWFERRY_ENGINE_VALIDATE_PRIVATE_H

#include "rowferry/base/buf.h"
#include "rowferry/engine/validate/validate.h"
#include "rowferry/service/trial/trial.h"
#include "validate/judge.h"

#define VALIDATE_TEXT_BYTES ((size_t)1 << 20)
#define VALIDATE_NOTES 12 /* of a step; more are counted */

/* A value of a row, by its place in the sample and its rank among all. */
struct ranked {
    size_t row;
    int64_t rank;
};

/* The values of one property, in the order of their ranks. */
struct ranking {
    struct ranked *items;
    size_t count;
    int64_t last;      /* the highest rank */
    char **texts;      /* of each rank from 1 on */
    int64_t text_room; /* of that list */
};

struct validating {
    const struct validate_options *options;
    const struct validate_ports *ports;
    struct validate_report *report;
    struct sample *sample;
    struct trial trial;
    struct hits hits;
    size_t *places;             /* of the hits, in the sample */
    bool *indexed;              /* of the sample */
    bool *marks;                /* scratch, of the same length */
    struct validate_step *step; /* the present one */
};

/* Notes of the present step; the remedy is a format without arguments of its own or null. */
void validate_note(struct validating *v, enum validate_status status, const char *remedy,
                   const char *format, ...) __attribute__((format(printf, 4, 5)));
/* A refusal of the service as a note. */
void validate_note_error(struct validating *v, const char *remedy, const struct err *err);
/* The step's line. */
void validate_say(struct validating *v, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void validate_skip(struct validating *v, const char *why);

/* A text that searches look into by its words. */
bool validate_searches_words(const struct validating *v, const struct property *p);

/* What of an answer ends the trial: the service is away, or does not know the account. */
bool validate_ends(const struct err *err);

/* Searches; the places of the hits are in v->places. size 0: as many as the sample has. */
int validate_search(struct validating *v, const char *body, size_t size,
                    struct err *err) MUST_CHECK;
int validate_search_text(struct validating *v, const char *q, struct err *err) MUST_CHECK;

/* The key of a row; "?" for a stranger. */
const char *validate_key(const struct validating *v, size_t row);
/* Whether the mapping says "false" to a parameter of a property. */
bool validate_said_off(const struct validating *v, const char *property, const char *parameter);

void ranking_release(struct ranking *r);
int ranking_load(struct validating *v, const struct plan_step *step, struct ranking *r,
                 struct err *err) MUST_CHECK;
/* Marks the indexed rows that have a value of a rank from low to high; how many. */
size_t ranking_mark(struct validating *v, const struct ranking *r, int64_t low, int64_t high);
/* Whether a rank's value can be asked for as it stands. */
bool ranking_usable(const struct ranking *r, int64_t rank);
/* Up to three ranks that are asked for: the most frequent, a middle one, the last. */
size_t ranking_probes(const struct ranking *r, int64_t probes[3]);
/* How the hits differ from the marks: 0, or a row that is in one of them alone in *row, and
 * *missing says that it is not among the hits. */
size_t validate_differs(struct validating *v, size_t *row, bool *missing);

/* Steps; each is called with its step as the present one. */
int validate_fill(struct validating *v, struct err *err) MUST_CHECK;
int validate_counts(struct validating *v, struct err *err) MUST_CHECK;
int validate_queries(struct validating *v, struct err *err) MUST_CHECK;
int validate_analysis(struct validating *v, struct err *err) MUST_CHECK;
int validate_filter(struct validating *v, struct err *err) MUST_CHECK;
int validate_sort(struct validating *v, struct err *err) MUST_CHECK;
int validate_relevance(struct validating *v, struct err *err) MUST_CHECK;
int validate_vectors(struct validating *v, struct err *err) MUST_CHECK;
int validate_growth(struct validating *v, struct err *err) MUST_CHECK;

/* Dimensions that do not fit, by the rows alone: also where no document could be indexed. */
int validate_dimensions(struct validating *v, struct err *err) MUST_CHECK;

#endif
