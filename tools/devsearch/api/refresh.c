/* SPDX-License-Identifier: Apache-2.0 */
/* Refreshes: they make writes searchable. */
#include "api/server.h"

#include <stdlib.h>

int64_t now_ms(const struct server *s)
{
    return clock_wall_us(&s->clock) / 1000;
}

/* Removes expired points in time and releases their rows. */
void pits_drop_old(struct server *s)
{
    size_t kept = 0;
    for (size_t i = 0; i < s->pit_count; i++) {
        struct pit *pit = &s->pits[i];
        if (pit->ends_ms > now_ms(s)) {
            s->pits[kept++] = *pit;
            continue;
        }
        free(pit->id);
        free(pit->numbers);
        free(pit->refreshes);
        *pit = (struct pit){0};
    }
    s->pit_count = kept;
}

/* Returns the oldest refresh of the index that a point in time still needs. */
static int64_t oldest_seen(struct server *s, const struct index *ix)
{
    int64_t oldest = ix->refresh;
    pits_drop_old(s);
    for (size_t i = 0; i < s->pit_count; i++) {
        for (size_t k = 0; k < s->pits[i].count; k++) {
            /* NOLINTNEXTLINE(clang-analyzer-unix.Malloc): freed entries are not kept */
            if (s->pits[i].numbers[k] == ix->number && s->pits[i].refreshes[k] < oldest) {
                oldest = s->pits[i].refreshes[k];
            }
        }
    }
    return oldest;
}

int index_refresh(struct server *s, struct index *ix, struct refusal *refusal)
{
    ix->refreshed_ms = now_ms(s);
    if (!ix->dirty) {
        return 0;
    }
    ix->refresh++;
    ix->dirty = false;
    int64_t gc_ms = settings_ms(&ix->settings, "index.gc_deletes", 60000);
    return shelf_purge(ix->shelf, oldest_seen(s, ix), now_ms(s) - (gc_ms > 0 ? gc_ms : 0), refusal);
}

static int64_t interval_ms(const struct index *ix)
{
    return settings_ms(&ix->settings, "index.refresh_interval", 1000);
}

int index_refresh_as_asked(struct server *s, const struct request *q, struct index *ix,
                           struct refusal *refusal)
{
    const char *asked = request_parameter(q, "refresh");
    bool now = asked != NULL && strcmp(asked, "false") != 0;
    return now ? index_refresh(s, ix, refusal) : 0;
}

int refresh_check(const struct server *s, const struct request *q, const char *name,
                  struct refusal *refusal)
{
    const char *asked = request_parameter(q, "refresh");
    if (asked == NULL || asked[0] == '\0' || strcmp(asked, "true") == 0 ||
        strcmp(asked, "false") == 0) {
        return 0;
    }
    if (strcmp(asked, "wait_for") != 0) {
        return refuse(refusal, 400, "illegal_argument_exception",
                      "Unknown value for refresh: [%s].", asked);
    }
    const struct index *ix = catalogue_write_target(&s->catalogue, name, refusal);
    if (ix == NULL || interval_ms(ix) >= 0) {
        return 0;
    }
    return refuse(refusal, 400, "illegal_argument_exception",
                  "devsearch does not wait for a refresh of [%s]: refresh_interval is -1, a real "
                  "service would not answer before somebody refreshes",
                  ix->name);
}

int index_catch_up(struct server *s, struct index *ix, struct refusal *refusal)
{
    int64_t interval = interval_ms(ix);
    if (interval < 0 || now_ms(s) - ix->refreshed_ms < interval) {
        return 0;
    }
    return index_refresh(s, ix, refusal);
}

HANDLER(refresh)
{
    struct indices list;
    int total = 0;
    if (catalogue_resolve_open(&s->catalogue, q->segment_count == 2 ? q->segments[0] : "_all",
                               &list, refusal) != 0) {
        return -1;
    }
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < list.count; i++) {
        const char *replicas = settings_get(&list.list[i]->settings, "index.number_of_replicas");
        total += 1 + (replicas != NULL ? (int)strtol(replicas, NULL, 10) : 0);
        rc = index_refresh(s, list.list[i], refusal);
    }
    buf_printf(&a->body, "{\"_shards\":{\"total\":%d,\"successful\":%zu,\"failed\":0}}", total,
               list.count);
    free(list.list);
    return rc;
}
