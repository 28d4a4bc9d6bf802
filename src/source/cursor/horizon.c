/* SPDX-License-Identifier: Apache-2.0 */
/* The horizon of a cursor. */
#include "cursor/horizon.h"

#include <stdlib.h>

#include "pg/pg_private.h"
#include "rowferry/base/text.h"

#define MARGIN_MS 5000 /* a transaction gets its start time shortly before others can see it */
#define OVERLAP_MS 60000

static void horizon_set(struct horizon *h, const char *value)
{
    char *copy = value != NULL ? text_copy(value) : NULL;
    free(h->value);
    h->value = copy;
}

static void horizon_drop_first(struct horizon *h)
{
    free(h->samples[0].largest);
    h->sample_count--;
    for (int i = 0; i < h->sample_count; i++) {
        h->samples[i] = h->samples[i + 1];
    }
}

void horizon_release(struct horizon *h)
{
    while (h->sample_count > 0) {
        horizon_drop_first(h);
    }
    horizon_set(h, NULL);
    free(h->largest_sql);
    h->largest_sql = NULL;
}

static int64_t horizon_overlap_of(const struct horizon *h)
{
    return h->overlap_ms > 0 ? h->overlap_ms : OVERLAP_MS;
}

/* The distance of samples is chosen so that those of one overlap fit. */
void horizon_sample(struct horizon *h, int64_t now_ms, const char *largest)
{
    int64_t overlap = horizon_overlap_of(h);
    int last = h->sample_count - 1;
    bool due = last < 0 || now_ms - h->samples[last].at_ms >= overlap / (HORIZON_SAMPLES / 2);
    if (due && largest != NULL && h->sample_count < HORIZON_SAMPLES) {
        h->samples[h->sample_count++] = (struct horizon_sample){now_ms, text_copy(largest)};
    }
    while (h->sample_count > 1 && now_ms - h->samples[1].at_ms >= overlap) {
        horizon_drop_first(h);
    }
    bool old = h->sample_count > 0 && now_ms - h->samples[0].at_ms >= overlap;
    horizon_set(h, old ? h->samples[0].largest : NULL);
}

static int horizon_look_activity(struct horizon *h, struct err *err)
{
    struct pg_result *r = NULL;
    int64_t margin_ms = h->overlap_ms > 0 ? h->overlap_ms : MARGIN_MS;
    int rc = pg_ask(h->pg, &r, "cursor_activity",
                    PG_PARAMS(PG_INT(margin_ms), PG_INT(horizon_overlap_of(h))), err);
    if (rc == 0) {
        horizon_set(h, pg_text(r, 0, 0));
    }
    pg_result_release(r);
    return rc;
}

static int horizon_look_largest(struct horizon *h, struct err *err)
{
    struct pg_result *r = NULL;
    int rc = pg_query(h->pg, &r, "maybe: text?", h->largest_sql, NULL, 0, err);
    if (rc == 0) {
        horizon_sample(h, pg_now_ms(), pg_text(r, 0, 0));
    }
    pg_result_release(r);
    return rc;
}

/* Prepared transactions are checked last. A transaction that is prepared in between is seen by one
 * of the two checks; one that is committed in between is in the snapshot that follows. */
int horizon_look(struct horizon *h, struct err *err)
{
    bool prepared = false;
    int rc = h->timed ? horizon_look_activity(h, err) : horizon_look_largest(h, err);
    if (rc == 0) {
        rc = pg_ask_bool(h->pg, "cursor_prepared", NULL, 0, &prepared, err);
    }
    if (prepared) {
        horizon_set(h, NULL);
    }
    return rc < 0 ? err_context(err, "could not look for the oldest transaction") : 0;
}
