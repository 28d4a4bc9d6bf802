/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A test search and its expected documents: one entry of `validate.queries`.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* A person's judgement of a document for a search: 0, irrelevant, to GRADE_MOST, exactly right. */
#define GRADE_MOST 3
struct judgement {
    char *id;
    int64_t grade;
};

struct trial_query {
    char *name; /* null: unnamed */
    char *q;    /* as in `q=`; null: use body */
    char *body; /* search request as one-line JSON object; null: use q */
    char **expect;
    size_t expect_count;
    char *search_pipeline; /* of OpenSearch; null: the index's own, or none */
    int64_t k;             /* 0: the pipeline's default */
    struct judgement *judgements;
    size_t judgement_count;
    double min_ndcg; /* 0: none */
};
