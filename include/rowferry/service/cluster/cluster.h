/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a cluster says of itself beside any index, for check. A credential need not be allowed to
 * ask: then it is not known.
 */
#ifndef ROWFERRY_SERVICE_CLUSTER_H
#define ROWFERRY_SERVICE_CLUSTER_H

#include "rowferry/base/buf.h"
#include "rowferry/base/err.h"
#include "rowferry/service/http/http.h"

/* Its clock, in whole seconds since 1970; 0: not known. By the Date of an answer (of a proxy: the
 * products send none), else by _cat/health. */
int cluster_clock(struct service *s, int64_t *wall_s, struct err *err) MUST_CHECK;

/* Appends action.auto_create_index as it is in force; nothing where it is not known. */
int cluster_auto_create(struct service *s, struct buf *value, struct err *err) MUST_CHECK;

/* Whether a missing index of that name is created by a write, by such a value: "true", "false" or
 * patterns, the first that fits counts: "+shop*,-*". Pure. */
bool cluster_creates(const char *value, const char *name);

struct cluster_template {
    bool known; /* it may be asked */
    char name[256];
    int64_t priority;
    bool stream;     /* it makes data streams */
    char alias[256]; /* the first that it gives an index, or "" */
};

/* The index template that the name would fall under, of several the one of the highest priority; an
 * empty name where there is none. */
int cluster_template(struct service *s, const char *name, struct cluster_template *out,
                     struct err *err) MUST_CHECK;

struct cluster_room {
    int64_t data_nodes; /* 0: not known */
    int64_t bytes;      /* until the low watermark of the fullest node; negative: not known */
    int64_t shards;     /* active ones; negative: not known */
};
int cluster_room(struct service *s, struct cluster_room *out, struct err *err) MUST_CHECK;

#endif
