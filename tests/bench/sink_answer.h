/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Responses of the null sink: they have OpenSearch's structure, with as little work as possible.
 *
 * It keeps the names, mappings and aliases of indices, so that a client finds what it created. Of
 * documents it keeps only the number. Thread-safe, except for struct bulk, which belongs to one
 * request.
 *
 * If a document has a member "stamped" (microseconds since 1970) among its first members, the sink
 * records its age when its request was answered.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "rowferry/base/buf.h"
#include "rowferry/base/text.h"

#define AGES_MAX_MS 20000 /* older ones count as this */

struct sink_stats {
    atomic_llong requests;
    atomic_llong bulks;
    atomic_llong upserts;
    atomic_llong deletes;
    atomic_llong bytes;                 /* of bulk bodies */
    atomic_llong ages[AGES_MAX_MS + 1]; /* stamped documents by their age in milliseconds */
};

#define BULK_HEAD_BYTES 1024
#define BULK_STAMPS_MAX 16384

/* A bulk body while it arrives: an action line, followed by its document unless it is a delete. */
struct bulk {
    struct sink_stats *stats;
    bool filtered;    /* items have an index, an id, a status and nothing else */
    char index[320];  /* how these begin */
    bool source_next; /* the next line is a document */
    int64_t count;
    size_t head_len;
    char head[BULK_HEAD_BYTES]; /* beginning of the action line or document */
    struct buf *body;           /* of the response */
    size_t stamp_count;
    int64_t stamps[BULK_STAMPS_MAX];
};

void bulk_begin(struct bulk *b, struct sink_stats *stats, const char *target, struct buf *body);
void bulk_feed(struct bulk *b, const char *bytes, size_t len);
void bulk_end(struct bulk *b);

/* Returns the age that this share of the stamped documents did not exceed; -1 if there are none. */
int64_t sink_age_ms(struct sink_stats *stats, double share);
int64_t sink_ages(struct sink_stats *stats);
void sink_forget_ages(struct sink_stats *stats);

/* Answers all other requests: appends the body of the response and returns its status. */
int sink_answer(struct buf *body, const struct sink_stats *stats, const char *method,
                const char *target, struct span request);
