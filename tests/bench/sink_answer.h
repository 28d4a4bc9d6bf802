/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the null sink answers: the shapes of OpenSearch, for as little work as it takes.
 *
 * It keeps the names, mappings and aliases of indices, so that a client finds what it made, and of
 * documents nothing but their number. Thread-safe but for struct bulk, which belongs to a request.
 */
#ifndef ROWFERRY_BENCH_SINK_ANSWER_H
#define ROWFERRY_BENCH_SINK_ANSWER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "rowferry/base/buf.h"
#include "rowferry/base/text.h"

struct sink_stats {
    atomic_llong requests;
    atomic_llong bulks;
    atomic_llong upserts;
    atomic_llong deletes;
    atomic_llong bytes; /* of bulk bodies */
};

#define BULK_HEAD_BYTES 1024

/* A bulk body on its way in: an action line, then its document unless it is a delete. */
struct bulk {
    struct sink_stats *stats;
    bool filtered;    /* items have a status and nothing else */
    bool source_next; /* the next line is a document */
    int64_t count;
    size_t head_len;
    char head[BULK_HEAD_BYTES]; /* the beginning of the action line */
    struct buf *body;           /* of the answer */
};

void bulk_begin(struct bulk *b, struct sink_stats *stats, const char *target, struct buf *body);
void bulk_feed(struct bulk *b, const char *bytes, size_t len);
void bulk_end(struct bulk *b);

/* Every other request: appends the answer's body and returns its status. */
int sink_answer(struct buf *body, const struct sink_stats *stats, const char *method,
                const char *target, struct span request);

#endif
