/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Facts about the cluster as a whole, for the check command. Facts that the credential may not read
 * are reported as unknown.
 */
#pragma once

#include "rowferry/base/buf.h"
#include "rowferry/base/err.h"
#include "rowferry/service/http/http.h"

/* Reports the cluster's clock in whole seconds since 1970; 0 if unknown. Taken from the Date header
 * (of a proxy: the products send none), else from _cat/health. */
int cluster_clock(struct service *s, int64_t *wall_s, struct err *err) MUST_CHECK;

/* Appends the effective value of action.auto_create_index; nothing if unknown. */
int cluster_auto_create(struct service *s, struct buf *value, struct err *err) MUST_CHECK;

/* Returns true if a write creates a missing index of that name under this setting: "true", "false"
 * or patterns, first match wins ("+shop*,-*"). Pure. */
bool cluster_creates(const char *value, const char *name);

struct cluster_template {
    bool known; /* the credential may read it */
    char name[256];
    int64_t priority;
    bool stream;     /* it creates data streams */
    char alias[256]; /* first alias that it adds to an index, or "" */
};

/* Finds the index template that applies to the name: the one with the highest priority. The name in
 * *out is empty if none applies. */
int cluster_template(struct service *s, const char *name, struct cluster_template *out,
                     struct err *err) MUST_CHECK;

struct cluster_room {
    int64_t data_nodes; /* 0: unknown */
    int64_t bytes;      /* below the low watermark of the fullest node; negative: unknown */
    int64_t shards;     /* active shards; negative: unknown */
    int64_t most;       /* shards that all data nodes may have (cluster.max_shards_per_node); 0:
                           unknown */
};
int cluster_room(struct service *s, struct cluster_room *out, struct err *err) MUST_CHECK;

/* Reports the largest request that every node takes (http.max_content_length); 0 if unknown. */
int cluster_request_limit(struct service *s, int64_t *bytes, struct err *err) MUST_CHECK;

/* Reports the number of data nodes; 0 if unknown. A replica can be assigned only if there are two.
 */
int cluster_nodes(struct service *s, int *out, struct err *err) MUST_CHECK;
