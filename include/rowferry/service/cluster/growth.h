/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checks whether an index grows in proportion to its documents during the initial load. Pure.
 *
 * The caller reports the documents sent and the index size about every half minute. The check uses
 * bytes per document since the first call of the run, because an index without refreshes reports no
 * document count.
 */
#pragma once

#include <stdint.h>

#include "rowferry/service/cluster/storage.h"

#define GROWTH_KEPT 64 /* samples for the median */

enum growth_news {
    GROWTH_WELL,
    GROWTH_HEAVY, /* a document takes more than twice the median of the run */
    GROWTH_FULL,  /* the remaining documents would exceed the low disk watermark */
};

struct growth {
    int64_t first_documents;
    int64_t first_bytes;
    double kept[GROWTH_KEPT]; /* bytes per document, most recent samples */
    unsigned looks;
    double bytes_per_document; /* latest value; 0 = not known yet */
};

/* documents: sent to the index so far; left: still to come, negative if unknown. */
enum growth_news growth_judge(struct growth *g, const struct storage *storage, int64_t documents,
                              int64_t left);
