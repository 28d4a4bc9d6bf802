/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checks whether an index grows in proportion to its documents during the initial load, and whether
 * the service counts as many as it acknowledged. Pure.
 *
 * The caller reports the documents sent and the index size about every half minute. The check uses
 * bytes per document since the first call of the run, because an index without refreshes reports no
 * document count. Documents are counted by the shards' index operations, which need no refresh. A
 * shard that moves begins at 0 again: then the next comparison starts there.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "rowferry/service/cluster/storage.h"

#define GROWTH_KEPT 64 /* samples for the median */

enum growth_news {
    GROWTH_WELL,
    GROWTH_FEWER, /* the service counts fewer documents than it acknowledged */
    GROWTH_HEAVY, /* a document takes more than twice the median of the run */
    GROWTH_FULL,  /* the remaining documents would exceed the low disk watermark */
};

/* The documents of this run. */
struct growth_sent {
    int64_t settled;   /* acknowledged before the index was examined */
    int64_t unsettled; /* read and not acknowledged: may be counted already */
    int64_t left;      /* still to come; negative if unknown */
};

struct growth {
    bool examined;   /* not the first call */
    bool counted;    /* least is valid */
    int64_t indexed; /* count of the last call */
    int64_t least;   /* the count may not be below this, plus what was settled */
    int64_t missing; /* documents by which the last count was too low */
    int64_t first_documents;
    int64_t first_bytes;
    double kept[GROWTH_KEPT]; /* bytes per document, most recent samples */
    unsigned looks;
    double bytes_per_document; /* latest value; 0 = not known yet */
};

enum growth_news growth_judge(struct growth *g, const struct storage *storage,
                              const struct growth_sent *sent);
