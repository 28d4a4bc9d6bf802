/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether an index that fills grows as its documents tell. Pure.
 *
 * Fed with what was sent and how large the index is at about every half minute; judges by bytes
 * per document since the first look of the run, as an index that is not refreshed tells no count.
 */
#ifndef ROWFERRY_SERVICE_GROWTH_H
#define ROWFERRY_SERVICE_GROWTH_H

#include <stdint.h>

#include "rowferry/service/cluster/storage.h"

#define GROWTH_KEPT 64 /* looks of which the median is taken */

enum growth_news {
    GROWTH_WELL,
    GROWTH_HEAVY, /* a document takes more than twice the median of the run */
    GROWTH_FULL,  /* what is still to come would pass the low disk watermark */
};

struct growth {
    int64_t first_documents;
    int64_t first_bytes;
    double kept[GROWTH_KEPT]; /* bytes per document, the last looks */
    unsigned looks;
    double bytes_per_document; /* the latest; 0 = not known yet */
};

/* documents: sent to the index so far; left: still to come, negative where unknown. */
enum growth_news growth_judge(struct growth *g, const struct storage *storage, int64_t documents,
                              int64_t left);

#endif
