/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A search: the parsed request and the best hits so far.
 */
#pragma once

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
    int64_t track; /* counts hits up to this; 0: not reported, INT64_MAX: all */
    bool version, seq_no, source;
    bool nameless; /* omits _id, which is a stored field */
    struct json_object *source_names;
    struct sort_key *sort;
    size_t sort_count;
    struct json_object *search_after;
    struct json_object *neighbours; /* Elasticsearch's [knn] beside a query */
    const char *query_text;         /* value of q= */
    const char *pit;
};

struct hit {
    const struct index *index;
    int64_t row;
    double score;
    struct value *keys; /* one per sort key */
    bool *missing;
};

struct found {
    const struct asked *asked;
    struct hit *list; /* best hits, in order */
    size_t count;
    size_t limit;
    struct hit *after; /* search_after as a hit, or null */
    int64_t total;
};

/* Checks from and size against index.max_result_window (null: 10,000). */
int asked_check_window(const struct asked *w, const char *window, struct refusal *refusal);

int asked_read(struct asked *w, const struct server *s, const struct request *q,
               struct refusal *refusal);
void asked_release(struct asked *w);

/* Searches one index at a refresh; adds to total and list. */
int search_index(struct server *s, struct index *ix, int64_t refresh, struct found *f,
                 struct refusal *refusal);
void found_release(struct found *f);

/* Appends the results as {"hits":..}. */
int push_hits(const struct found *f, struct buf *out, struct refusal *refusal);

/* Wraps an index's refusal in "all shards failed". */
int refuse_shards(struct refusal *refusal, const char *index);

/* Returns the point in time of that id, or null with the refusal. */
struct pit *pit_find(struct server *s, const char *id, struct refusal *refusal);
