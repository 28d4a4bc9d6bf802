/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A search: what was asked for, and the best hits so far.
 */
#ifndef DEVSEARCH_SEARCH_H
#define DEVSEARCH_SEARCH_H

#include "api/server.h"
#include "search/query.h"

enum sort_by { SORT_FIELD, SORT_ID, SORT_DOC, SORT_SCORE };

struct sort_key {
    enum sort_by by;
    char *path;
    bool descending;
};

struct asked {
    struct json_object *body;
    int64_t from, size;
    int64_t track; /* count hits up to this; 0: do not tell, INT64_MAX: all */
    bool version, seq_no, source;
    bool nameless; /* hits without _id, which is a stored field */
    struct json_object *source_names;
    struct sort_key *sort;
    size_t sort_count;
    struct json_object *search_after;
    struct json_object *neighbours; /* Elasticsearch's [knn] beside a query */
    const char *query_text;         /* q= */
    const char *pit;
};

struct hit {
    const struct index *index;
    int64_t row;
    double score;
    struct value *keys; /* by sort key */
    bool *missing;
};

struct found {
    const struct asked *asked;
    struct hit *list; /* the best, in order */
    size_t count;
    size_t limit;
    struct hit *after; /* search_after as a hit, or null */
    int64_t total;
};

/* Whether an index of this index.max_result_window (null: 10,000) gives so many hits. */
int asked_check_window(const struct asked *w, const char *window, struct refusal *refusal);

int asked_read(struct asked *w, const struct server *s, const struct request *q,
               struct refusal *refusal);
void asked_release(struct asked *w);

/* Searches one index at a refresh; total and list grow. */
int search_index(struct server *s, struct index *ix, int64_t refresh, struct found *f,
                 struct refusal *refusal);
void found_release(struct found *f);

/* {"hits":..} of what was found. */
int push_hits(const struct found *f, struct buf *out, struct refusal *refusal);

/* "all shards failed", around what one index refused. */
int refuse_shards(struct refusal *refusal, const char *index);

/* The point in time of that id, or null and the refusal. */
struct pit *pit_find(struct server *s, const char *id, struct refusal *refusal);

#endif
