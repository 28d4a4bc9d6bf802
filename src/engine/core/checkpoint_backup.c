/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the checkpoint backup to the source. */
#include "core/checkpoint_backup.h"

#include <stdlib.h>

#include "rowferry/state/deadletter.h"

#define CHECKPOINT_BACKUP_LETTERS_BYTES ((size_t)64 << 20)
#define CHECKPOINT_BACKUP_BYTES_PER_S INT64_C(262144)

void checkpoint_backup_init(struct checkpoint_backup *b, struct source_reader *reader)
{
    *b = (struct checkpoint_backup){.reader = reader};
    buf_init(&b->letters, CHECKPOINT_BACKUP_LETTERS_BYTES);
}

void checkpoint_backup_release(struct checkpoint_backup *b)
{
    buf_release(&b->letters);
    free(b->position);
}

void checkpoint_backup_take(struct checkpoint_backup *b, char *position)
{
    free(b->position);
    b->position = position;
}

/* Returns true if the backup should wait. Each change writes all dead letters as one text, so a
 * large number of them is written rarely. The position waits with them, because a newer one would
 * lose letters. */
static bool checkpoint_backup_puts_off(const struct checkpoint_backup *b, int64_t now_us)
{
    int64_t pause_us = (int64_t)b->letters.len * 1000000 / CHECKPOINT_BACKUP_BYTES_PER_S;
    return b->revision != 0 && now_us - b->filled_us < pause_us;
}

int checkpoint_backup_write(struct checkpoint_backup *b, bool now, struct err *err)
{
    struct state *state = b->reader->state;
    uint64_t revision = deadletter_revision(state);
    int64_t now_us = clock_monotonic_us(&b->reader->clock);
    bool changed = b->revision != revision;
    if (b->position == NULL || (changed && !now && checkpoint_backup_puts_off(b, now_us))) {
        return 0;
    }
    if (changed) {
        buf_reset(&b->letters);
        int rc = deadletter_export(state, &b->letters, err);
        if (rc < 0) {
            return rc;
        }
        b->revision = revision;
        b->filled_us = now_us;
    }
    source_reader_release_source(b->reader, b->position, buf_text(&b->letters), now);
    return 0;
}
