/* SPDX-License-Identifier: Apache-2.0 */
/* The families of a sync, and how each is read from a sample. */
#include "rowferry/serve/sync_metrics.h"

#include <stdbool.h>

#include "exposition.h"

#define PREFIX "rowferry_sync_"

static double sync_metrics_seconds(int64_t us)
{
    return (double)us / 1e6;
}

static double sync_metrics_ended(const struct sync_sample *s)
{
    return sync_metrics_seconds(s->ended_us);
}

static double sync_metrics_succeeded(const struct sync_sample *s)
{
    return sync_metrics_seconds(s->succeeded_us);
}

static double sync_metrics_exit_code(const struct sync_sample *s)
{
    return s->exit_code;
}

static double sync_metrics_took(const struct sync_sample *s)
{
    return (double)s->took_ms / 1000;
}

static double sync_metrics_upserts(const struct sync_sample *s)
{
    return (double)s->upserts;
}

static double sync_metrics_deletes(const struct sync_sample *s)
{
    return (double)s->deletes;
}

static double sync_metrics_rejected(const struct sync_sample *s)
{
    return (double)s->rejected;
}

static double sync_metrics_dead_letters(const struct sync_sample *s)
{
    return (double)s->dead_letters;
}

static const struct sync_family {
    const char *name;
    double (*value)(const struct sync_sample *s);
    bool may_be_unknown; /* a value of 0 has no sample */
    const char *help;
} families[] = {
    {PREFIX "timestamp_seconds", sync_metrics_ended, false, "when the last sync ended"},
    {PREFIX "last_success_timestamp_seconds", sync_metrics_succeeded, true,
     "when the last sync that succeeded ended"},
    {PREFIX "exit_code", sync_metrics_exit_code, false, "exit code of the last sync"},
    {PREFIX "duration_seconds", sync_metrics_took, false, "duration of the last sync"},
    {PREFIX "upserts", sync_metrics_upserts, false, "upserts of the last sync"},
    {PREFIX "deletes", sync_metrics_deletes, false, "deletes of the last sync"},
    {PREFIX "rejected", sync_metrics_rejected, false,
     "operations of the last sync that became dead letters"},
    {PREFIX "dead_letters", sync_metrics_dead_letters, false, "open dead letters"},
};

void sync_metrics_push(struct buf *out, const struct sync_sample *samples, size_t count)
{
    for (size_t f = 0; f < sizeof(families) / sizeof(families[0]); f++) {
        exposition_head(out, families[f].name, "gauge", families[f].help);
        for (size_t i = 0; i < count; i++) {
            const struct label labels[] = {{"pipeline", samples[i].pipeline}, {0}};
            double value = families[f].value(&samples[i]);
            if (value != 0 || !families[f].may_be_unknown) {
                exposition_real(out, families[f].name, "", labels, value);
            }
        }
    }
}
