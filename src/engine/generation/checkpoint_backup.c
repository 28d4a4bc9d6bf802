/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the checkpoint backup to the source. */
#include "generation/checkpoint_backup.h"

#include "pipeline/loop.h"
#include "rowferry/base/log.h"
#include "rowferry/state/deadletter.h"

#define CHECKPOINT_BACKUP_BYTES_PER_S INT64_C(262144)

/* Returns true if the backup should wait. Each change writes all dead letters as one text, so a
 * large number of them is written rarely. The position waits with them, because a newer one would
 * lose letters. */
static bool checkpoint_backup_puts_off(const struct loop *l, int64_t now_us)
{
    int64_t pause_us = (int64_t)l->letters.len * 1000000 / CHECKPOINT_BACKUP_BYTES_PER_S;
    return l->letters_revision != 0 && now_us - l->letters_us < pause_us;
}

void checkpoint_backup_write_unpruned(struct source_reader *r)
{
    const char *why = r->capture != NULL ? r->capture->unpruned : NULL;
    if (why != NULL && !r->unpruned) {
        log_event(LOG_WARN, "prune_failed", F_TEXT("pipeline", r->retry_budget->pipeline),
                  F_TEXT("reason", why));
    }
    r->unpruned = why != NULL;
}

int checkpoint_backup_write(struct loop *l, bool now, struct err *err)
{
    uint64_t revision = deadletter_revision(l->state);
    int64_t now_us = clock_monotonic_us(&l->clock);
    bool changed = l->letters_revision != revision;
    if (l->committed == NULL || (changed && !now && checkpoint_backup_puts_off(l, now_us))) {
        return 0;
    }
    if (changed) {
        buf_reset(&l->letters);
        int rc = deadletter_export(l->state, &l->letters, err);
        if (rc < 0) {
            return rc;
        }
        l->letters_revision = revision;
        l->letters_us = now_us;
    }
    source_reader_release_source(&l->source_reader, l->committed, buf_text(&l->letters), now);
    checkpoint_backup_write_unpruned(&l->source_reader);
    return 0;
}
