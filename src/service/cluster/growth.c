/* SPDX-License-Identifier: Apache-2.0 */
/* Compares bytes per document with the run's median, the remaining documents with the disk, and the
 * service's count with the acknowledged documents. */
#include "rowferry/service/cluster/growth.h"

#include <stdlib.h>
#include <string.h>

#define TELLING 1000   /* minimum of documents since the first sample */
#define MEDIAN_LEAST 4 /* samples */

static int growth_compare(const void *a, const void *b)
{
    double x = *(const double *)a;
    double y = *(const double *)b;
    return (x > y) - (x < y);
}

static double growth_median_of(const struct growth *g)
{
    double sorted[GROWTH_KEPT];
    unsigned count = g->looks < GROWTH_KEPT ? g->looks : GROWTH_KEPT;
    memcpy(sorted, g->kept, count * sizeof(*sorted));
    qsort(sorted, count, sizeof(*sorted), growth_compare);
    return sorted[count / 2];
}

static bool growth_is_heavy(const struct growth *g)
{
    return g->looks >= MEDIAN_LEAST && g->bytes_per_document > 2 * growth_median_of(g);
}

/* Compares the counts since the last comparison that started anew: after a count that fell or was
 * unknown, and after each difference, so that a moved shard is reported once at most. The index had
 * no documents, or more, when this run began. */
static bool growth_is_fewer(struct growth *g, const struct storage *storage,
                            const struct growth_sent *sent)
{
    bool known = storage->indexed >= 0;
    bool again = storage->indexed < g->indexed || (g->examined && !g->counted);
    int64_t least = g->counted ? g->least : 0;
    g->missing = known && !again ? least + sent->settled - storage->indexed : 0;
    g->indexed = storage->indexed;
    if (again || !g->counted || g->missing > 0) {
        g->least = storage->indexed - sent->settled - sent->unsettled;
        g->counted = known;
    }
    g->examined = true;
    return g->missing > 0;
}

enum growth_news growth_judge(struct growth *g, const struct storage *storage,
                              const struct growth_sent *sent)
{
    int64_t documents = sent->settled;
    int64_t left = sent->left;
    if (growth_is_fewer(g, storage, sent)) {
        return GROWTH_FEWER;
    }
    if (g->first_documents == 0 && g->first_bytes == 0) {
        g->first_documents = documents;
        g->first_bytes = storage->bytes;
    }
    int64_t more = documents - g->first_documents;
    int64_t grown = storage->bytes - g->first_bytes;
    if (more < TELLING || grown <= 0) {
        return GROWTH_WELL;
    }
    g->bytes_per_document = (double)grown / (double)more;
    bool heavy = growth_is_heavy(g);
    g->kept[g->looks++ % GROWTH_KEPT] = g->bytes_per_document;
    if (storage->room_bytes >= 0 && left > 0 &&
        g->bytes_per_document * (double)left > (double)storage->room_bytes) {
        return GROWTH_FULL;
    }
    return heavy ? GROWTH_HEAVY : GROWTH_WELL;
}
