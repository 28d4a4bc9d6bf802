/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Size of an index and free disk space. Reads _stats of the index and, if the credential may, the
 * fullest disk of the cluster and its low watermark.
 */
#pragma once

#include "rowferry/base/err.h"
#include "rowferry/service/http/http.h"

struct storage {
    int64_t bytes;      /* all shards of the index, replicas included */
    int64_t indexed;    /* index operations of the primary shards since they were started;
                           negative = unknown. Counted at once, without a refresh */
    int64_t room_bytes; /* below the low watermark of the fullest node; negative = unknown */
};

/* ERR_REJECTED if the credential may not read the statistics of the index. */
int storage_look(struct service *s, const char *index, struct storage *out,
                 struct err *err) MUST_CHECK;

/* Reports the free space only; negative if the credential may not read it. */
int storage_room_of_cluster(struct service *s, int64_t *room_bytes, struct err *err) MUST_CHECK;

/* Returns the free bytes of a disk below a watermark in the products' notation: "85%", "0.85"
 * (usable share of the total) or "50gb" (must stay free). Negative if the text is invalid. Pure. */
int64_t storage_room(const char *watermark, int64_t total_bytes, int64_t available_bytes);
