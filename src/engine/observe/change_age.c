/* SPDX-License-Identifier: Apache-2.0 */
/* Estimates when changes were committed, between two polls of the source. */
#include "observe/change_age.h"

#include <string.h>

void change_age_nothing(struct change_age *v, int64_t now_us)
{
    v->looked_us = now_us;
    v->called_us = 0;
}

void change_age_called(struct change_age *v, int64_t now_us)
{
    v->called_us = v->called_us != 0 ? v->called_us : now_us;
}

/* Joins the oldest two marks if more windows are unsettled than there are marks. The result has
 * the age of the first. */
static void change_age_join_oldest(struct change_age *v)
{
    v->marks[1] = v->marks[0];
    memmove(v->marks, v->marks + 1, (CHANGE_AGE_MARKS - 1) * sizeof(v->marks[0]));
    v->count--;
}

void change_age_begin(struct change_age *v, uint64_t page, int64_t now_us)
{
    if (v->open) {
        return;
    }
    if (v->count == CHANGE_AGE_MARKS) {
        change_age_join_oldest(v);
    }
    int64_t from_us = v->called_us != 0 ? v->called_us : v->looked_us;
    v->marks[v->count++] = (struct change_age_mark){page, from_us, now_us};
    v->open = true;
    change_age_nothing(v, now_us);
}

bool change_age_end(struct change_age *v)
{
    bool was = v->open;
    v->open = false;
    return was;
}

/* Returns the last mark that begins at or before the page. */
static const struct change_age_mark *change_age_mark_of(const struct change_age *v, uint64_t page)
{
    for (unsigned i = v->count; i > 0; i--) {
        if (v->marks[i - 1].page <= page) {
            return &v->marks[i - 1];
        }
    }
    return NULL;
}

/* Steps of the golden section are spread evenly for any number of operations. */
int64_t change_age_us(struct change_age *v, uint64_t page, int64_t now_us)
{
    const struct change_age_mark *m = change_age_mark_of(v, page);
    if (m == NULL || m->from_us == 0) {
        return -1;
    }
    double share =
        (double)((v->turn++ * UINT64_C(0x9e3779b97f4a7c15) + (UINT64_C(1) << 63)) >> 40) /
        (double)(1 << 24);
    int64_t committed_us = m->from_us + (int64_t)(share * (double)(m->until_us - m->from_us));
    return now_us > committed_us ? now_us - committed_us : 0;
}
