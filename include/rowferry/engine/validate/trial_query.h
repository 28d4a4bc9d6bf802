/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A search that people have written down, and what it has to find: one of `validate.queries`.
 */
#ifndef ROWFERRY_ENGINE_TRIAL_QUERY_H
#define ROWFERRY_ENGINE_TRIAL_QUERY_H

#include <stddef.h>
#include <stdint.h>

struct trial_query {
    char *name; /* null: none was given */
    char *q;    /* as in `q=`; null: the body */
    char *body; /* JSON object of a search, one line; null: q */
    char **expect;
    size_t expect_count;
    int64_t k; /* 0: the pipeline's */
};

#endif
