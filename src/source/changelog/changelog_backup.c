/* SPDX-License-Identifier: Apache-2.0 */
/* The checkpoint backup in the source: written, read back and tested. */
#include <assert.h>
#include <stdlib.h>

#include "changelog/changelog_private.h"

/* The letters are never older than the position: they are written with it or after it, and never by
 * a process that is behind. */
static void changelog_backup_note_pending(struct changelog *c, const struct position *p,
                                          const struct mirror *mirror)
{
    int order = position_compare(p, &c->consumer.mirror);
    bool known =
        c->consumer.clock != 0 && consumer_letters_sum(mirror->letters) == c->consumer.letters_sum;
    /* within a window nothing more can be pruned than at its beginning */
    bool moved = order > 0 && p->target == NULL;
    if (order < 0 || (!moved && known)) {
        return;
    }
    if (moved) {
        position_copy(&c->pending, p);
    } else if (c->pending.last == NULL) {
        position_copy(&c->pending, &c->consumer.mirror);
    }
    free(c->pending_letters);
    c->pending_letters = known ? NULL : text_copy(mirror->letters);
    c->pending_clock = mirror->clock;
}

/* Returns true for a position of a former registration of the consumer. Also for one from an
 * earlier life of the server that is ahead of what was durable then. If the server has lost
 * transactions, such a position is ahead of new entries and would have them pruned. */
static bool changelog_backup_is_former(const struct changelog *c, const struct position *p)
{
    return (p->since != 0 && p->since != c->consumer.since) ||
           (p->life != c->consumer.life && position_compare(p, &c->consumer.mirror) > 0);
}

int changelog_release(struct capture *capture, const struct mirror *mirror, bool now,
                      struct err *err)
{
    struct changelog *c = (struct changelog *)capture;
    struct position p = {0};
    assert(c->stage == STAGE_CLOSED);
    int rc = position_parse(&p, mirror->position, err);
    if (rc == 0 && p.kind == POSITION_LOG && !changelog_backup_is_former(c, &p)) {
        changelog_backup_note_pending(c, &p, mirror);
        rc = c->pending.last != NULL ? changelog_mirror_pending(c, now, err) : 0;
    }
    position_release(&p);
    return rc;
}

/* Tests everything that a run checks before its first page. A position that would be refused there
 * is not restored again and again. */
static int changelog_backup_try_out(struct pg *pg, const struct changelog_options *options,
                                    const char *position, struct err *err)
{
    struct changelog *c = changelog_new(pg, options);
    struct capture *capture = &c->capture;
    c->tried = true;
    int rc = capture->ops->resume(capture, position, err);
    c->pg = NULL; /* stays the caller's */
    capture->ops->free(capture);
    return rc;
}

/* The backup is written after the checkpoint. If it is ahead of the checkpoint, another process
 * wrote it. */
static int changelog_backup_compare(const char *own, struct mirrored *out, struct err *err)
{
    struct position here = {0};
    struct position there = {0};
    int rc = position_parse(&here, own, err);
    if (rc == 0) {
        rc = position_parse(&there, out->position, err);
    }
    if (rc == 0) {
        out->order = position_compare(&there, &here);
    }
    if (rc == 0 && out->order < 0) {
        rc = err_set(err, ERR_STATE, "the state file is ahead of it");
    }
    position_release(&here);
    position_release(&there);
    return rc;
}

int changelog_mirrored(struct pg *pg, const struct changelog_options *options, const char *own,
                       struct mirrored *out, struct err *err)
{
    int rc = consumer_mirrored(pg, options->consumer, out, err);
    out->order = 1;
    if (rc == 0 && out->usable && own != NULL) {
        rc = changelog_backup_compare(own, out, err);
    }
    if (rc == 0 && out->usable) {
        rc = changelog_backup_try_out(pg, options, out->position, err);
    }
    if (rc == ERR_STATE) {
        out->usable = false;
        out->why = *err;
        rc = 0;
    }
    return rc;
}
