/* SPDX-License-Identifier: Apache-2.0 */
/* The checkpoint backup in the source: written, read back and tested. And the number of entries
 * after a checkpoint. */
#include <stdlib.h>

#include "changelog/changelog_private.h"
#include "pg/pg_private.h"
#include "rowferry/base/text.h"
#include "sql/sqlquote.h"

#define INTERVAL_MS 1000
#define NAMES_MAX_BYTES ((size_t)1 << 20)

/* The letters are never older than the position: they are written with it or after it, and never by
 * a process that is behind. */
static void changelog_backup_note(struct position_backup *b, const struct consumer *k,
                                  const struct position *p, const struct mirror *mirror)
{
    int order = position_compare(p, &k->mirror);
    bool known = k->clock != 0 && consumer_letters_sum(mirror->letters) == k->letters_sum;
    /* within a stretch of the log nothing more can be pruned than at its beginning */
    bool moved = order > 0 && p->target == NULL;
    if (order < 0 || (!moved && known)) {
        return;
    }
    if (moved) {
        position_copy(&b->position, p);
    } else if (b->position.last == NULL) {
        position_copy(&b->position, &k->mirror);
    }
    free(b->letters);
    b->letters = known ? NULL : text_copy(mirror->letters);
    b->clock = mirror->clock;
}

/* Returns true for a position of a former registration of the consumer. Also for one from an
 * earlier life of the server that is ahead of what was durable then. If the server has lost
 * transactions, such a position is ahead of new entries and would have them pruned. */
static bool changelog_backup_is_former(const struct consumer *k, const struct position *p)
{
    return (p->since != 0 && p->since != k->since) ||
           (p->life != k->server.life && position_compare(p, &k->mirror) > 0);
}

int changelog_backup_take(struct changelog_position *p, struct catalogue *c,
                          const struct mirror *mirror, bool at_once, struct err *err)
{
    struct position released = {0};
    int rc = position_parse(&released, mirror->position, err);
    if (rc == 0 && released.kind == POSITION_LOG &&
        !changelog_backup_is_former(&c->consumer, &released)) {
        changelog_backup_note(&p->backup, &c->consumer, &released, mirror);
        rc = p->backup.position.last != NULL ? changelog_backup_write(p, c, at_once, err) : 0;
    }
    position_release(&released);
    return rc;
}

int changelog_backup_write(struct changelog_position *p, struct catalogue *c, bool at_once,
                           struct err *err)
{
    struct position_backup *b = &p->backup;
    int64_t now = pg_now_ms();
    bool pending = b->position.last != NULL;
    if ((!pending && !catalogue_facts(c).more) ||
        (!at_once && b->written_ms != 0 && now - b->written_ms < INTERVAL_MS)) {
        return 0;
    }
    int rc = pending ? catalogue_mirror(c, &b->position, b->clock, b->letters, err)
                     : catalogue_prune(c, CONSUMER_PRUNE_MS, err);
    if (rc == 0) {
        position_release(&b->position);
        free(b->letters);
        b->letters = NULL;
        b->written_ms = now;
    }
    return rc;
}

/* Tests everything that a run checks before its first page. A position that would be refused there
 * is not restored again and again. */
static int changelog_backup_try_out(struct pg *pg, const struct changelog_options *options,
                                    const char *position, struct err *err)
{
    struct changelog *c = changelog_new(pg, options);
    c->position.trial = true;
    int rc = changelog_ops.resume(&c->capture, position, err);
    c->pg = NULL; /* stays the caller's */
    changelog_ops.free(&c->capture);
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

int changelog_examine(struct pg *pg, const struct changelog_options *options, const char *position,
                      struct err *err)
{
    struct changelog *c = changelog_new(pg, options);
    int rc = position_parse(&c->position.at, position, err);
    if (rc == 0) {
        rc = changelog_prepare(c, err);
    }
    if (rc == 0) {
        rc = catalogue_read_consumers(&c->catalogue, err);
    }
    if (rc == 0) {
        rc = changelog_resnapshot_examine(&c->position, &c->catalogue, err);
    }
    c->pg = NULL; /* stays the caller's */
    changelog_ops.free(&c->capture);
    return rc;
}

int changelog_pending(struct pg *pg, const char *const *tables, size_t count, const char *position,
                      int64_t *entries, struct err *err)
{
    struct position p = {0};
    struct pg_result *r = NULL;
    struct buf names;
    *entries = -1;
    buf_init(&names, NAMES_MAX_BYTES);
    sqlquote_array(&names, tables, count);
    int rc = position_parse(&p, position, err);
    if (rc == 0) {
        rc = pg_ask(pg, &r, "look_pending", PG_PARAMS(buf_text(&names), p.last), err);
    }
    if (rc == 0 && pg_text(r, 0, 0) != NULL) {
        *entries = pg_int(r, 0, 0);
    }
    pg_result_release(r);
    position_release(&p);
    buf_release(&names);
    return rc;
}
