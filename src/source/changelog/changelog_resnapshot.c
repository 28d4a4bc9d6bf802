/* SPDX-License-Identifier: Apache-2.0 */
/* Checks if reading can continue at a position; if not, begins a re-snapshot in place. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "changelog/changelog_position.h"
#include "pg/pg_private.h"
#include "rowferry/base/text.h"

void changelog_position_release(struct changelog_position *p)
{
    position_release(&p->at);
    position_release(&p->backup.position);
    free(p->backup.letters);
    free(p->reconciled_members);
    free(p->fan_after);
}

void changelog_position_print_history(const struct changelog_position *p, const struct catalogue *c,
                                      struct buf *out)
{
    struct position now = {.timeline = c->consumer.server.timeline,
                           .again = p->reconcile != RECONCILE_NONE,
                           .since = c->consumer.since,
                           .table = c->table->oid,
                           .database = c->consumer.server.database,
                           .life = c->consumer.server.life};
    position_print_history(out, &now);
}

/* --- the start of an initial load ------------------------------------------------------------ */

/* Begins by blocks if rows can be found by their place without reading the table, else by keys. A
 * query may return rows without a key, whatever the table's constraints are. */
static void changelog_resnapshot_set_start(struct position *p, const struct catalogue *c,
                                           const struct page_look *l)
{
    bool query = c->options->query != NULL;
    bool blocks = !query && c->table->is_heap && PQserverVersion(c->pg->conn) >= 140000;
    position_release(p);
    *p = (struct position){.kind = blocks ? POSITION_BLOCKS : POSITION_KEYS,
                           .last = text_copy(l->snapshot),
                           .filenode = l->filenode,
                           .blocks = l->blocks,
                           .range =
                               c->table->key_not_null && !query ? KEY_RANGE_FIRST : KEY_RANGE_NULLS,
                           .timeline = c->consumer.server.timeline,
                           .since = c->consumer.since,
                           .table = c->table->oid,
                           .database = c->consumer.server.database,
                           .life = c->consumer.server.life};
}

/* The consumer's row is committed before the position is taken, so all later entries are kept. */
int changelog_resnapshot_begin(struct changelog_position *p, struct catalogue *c, struct err *err)
{
    struct page_look look = {0};
    int rc = catalogue_register(c, &look, p->at.last, err);
    if (rc == 0) {
        rc = catalogue_look_now(c, &look, p->at.last, err);
    }
    if (rc == 0) {
        rc = catalogue_check_first(c, &look, err);
    }
    if (rc == 0) {
        changelog_resnapshot_set_start(&p->at, c, &look);
        p->rows_read = 0;
    }
    page_look_release(&look);
    return rc;
}

/* --- resume ---------------------------------------------------------------------------------- */

/* After a restart or a crash recovery, the server may have reused transaction numbers that the
 * position regards as seen. So the log is read again from the checkpoint backup, which was
 * durable. */
static void changelog_resnapshot_fall_back(struct changelog_position *p, const struct consumer *k)
{
    const struct position *mirror = &k->mirror;
    if (p->at.life == k->server.life || position_compare(mirror, &p->at) >= 0) {
        return;
    }
    if (p->at.kind == POSITION_LOG) {
        const struct position was = {
            .again = p->at.again, .since = p->at.since, .table = p->at.table};
        position_copy(&p->at, mirror);
        p->at.again = was.again;
        p->at.since = was.since;
        p->at.table = was.table;
    } else {
        free(p->at.last);
        p->at.last = text_copy(mirror->last);
    }
}

static uint64_t changelog_resnapshot_oldest_of(const struct position *p)
{
    struct snapshot last = {0};
    position_snapshot_parse(&last, p->last);
    return last.xmin;
}

/* Returns true if the position belongs to another history of the server. */
static bool changelog_resnapshot_report_history(struct changelog_position *p,
                                                const struct consumer *k)
{
    uint64_t seen = changelog_resnapshot_oldest_of(&p->at);
    if (p->at.timeline != 0 && k->server.timeline != 0 && p->at.timeline != k->server.timeline) {
        snprintf(p->reason, sizeof(p->reason),
                 "the server is on timeline %" PRIu64 ", the position on %" PRIu64
                 ": it was promoted or restored",
                 k->server.timeline, p->at.timeline);
        return true;
    }
    if (p->at.database != 0 && p->at.database != k->server.database) {
        snprintf(p->reason, sizeof(p->reason),
                 "the database has the oid %" PRIu32 ", that of the position %" PRIu32
                 ": it was replaced by a copy",
                 k->server.database, p->at.database);
        return true;
    }
    if (seen > k->server.next) {
        snprintf(p->reason, sizeof(p->reason),
                 "the server is at transaction %" PRIu64 ", the position at %" PRIu64
                 ": it was restored, or lost some in a crash",
                 k->server.next, seen);
        return true;
    }
    return false;
}

/* Returns true if entries between the position and the start of the log were pruned. */
static bool changelog_resnapshot_report_pruned(struct changelog_position *p, struct catalogue *c,
                                               bool expired)
{
    uint64_t horizon = catalogue_facts(c).horizon;
    uint64_t seen = changelog_resnapshot_oldest_of(&p->at);
    if (seen >= horizon) {
        return false;
    }
    snprintf(p->reason, sizeof(p->reason),
             "%s: the change log was pruned up to transaction %" PRIu64
             ", the position is at %" PRIu64,
             expired ? "the consumer was absent for too long and expired"
                     : "the state file is an older copy",
             horizon, seen);
    return true;
}

/* Returns true if the position is older than the registration of its consumer. */
static bool changelog_resnapshot_report_registered(struct changelog_position *p,
                                                   const struct catalogue *c)
{
    const struct consumer *k = &c->consumer;
    if (!k->known) {
        snprintf(p->reason, sizeof(p->reason), "the source does not know the consumer \"%s\"",
                 c->options->consumer);
        return true;
    }
    for (size_t i = 0; i < c->depends.count; i++) {
        const struct depend *d = &c->depends.items[i];
        if (!d->consumer.known) {
            snprintf(p->reason, sizeof(p->reason),
                     "the source does not know the consumer \"%s\", of %s", d->name,
                     d->table->quoted);
            return true;
        }
    }
    if ((p->at.timeline == 0 && p->at.since == 0) || p->at.since == k->since) {
        return false;
    }
    snprintf(p->reason, sizeof(p->reason),
             "the position is older than what the source keeps of the consumer: the state file is "
             "an older copy, or a copy broke off as it began");
    return true;
}

bool changelog_resnapshot_needed(struct changelog_position *p, struct catalogue *c, bool expired)
{
    bool needed = changelog_resnapshot_report_history(p, &c->consumer);
    if (!needed && c->consumer.known) {
        changelog_resnapshot_fall_back(p, &c->consumer);
        needed = changelog_resnapshot_report_pruned(p, c, expired);
    }
    return needed || changelog_resnapshot_report_registered(p, c);
}

/* Sets *again if triggers or rows were changed without entries. Other errors are left to the first
 * page, unless this is only a trial. */
static int changelog_resnapshot_check_tables(struct changelog_position *p, struct catalogue *c,
                                             bool *again, struct err *err)
{
    bool altered;
    struct page_look look = {0};
    int rc = catalogue_look_now(c, &look, p->at.last, err);
    if (rc == 0) {
        bool by_blocks = p->at.kind == POSITION_BLOCKS;
        rc = catalogue_check_rewritten(c, &look, by_blocks, &altered, err);
    }
    page_look_release(&look);
    if (rc == 0 || c->gap != GAP_MISSED) {
        return rc == ERR_STATE && !p->trial ? 0 : rc;
    }
    snprintf(p->reason, sizeof(p->reason), "%s", err->message);
    *again = true;
    return 0;
}

int changelog_resnapshot_examine(struct changelog_position *p, struct catalogue *c, struct err *err)
{
    p->trial = true;
    int rc = position_check_table(p->at.table, c->table->oid, c->table->quoted, err);
    bool missed = rc == 0 && changelog_resnapshot_report_registered(p, c);
    if (rc == 0 && !missed) {
        rc = changelog_resnapshot_check_tables(p, c, &missed, err);
    }
    if (missed) {
        err_set(err, ERR_STATE, "%s", p->reason);
        err_hint(err, "run: rowferry sync " ERR_PIPELINE "; it reads the whole table again");
        rc = 1;
    }
    return rc;
}

/* A position that replaces a lost state file must be valid as it is. */
int changelog_resnapshot_resume(struct changelog_position *p, struct catalogue *c, bool expired,
                                bool *again, struct err *err)
{
    int rc = position_check_table(p->at.table, c->table->oid, c->table->quoted, err);
    *again = rc == 0 && changelog_resnapshot_needed(p, c, expired);
    if (rc == 0 && !*again) {
        rc = changelog_resnapshot_check_tables(p, c, again, err);
    }
    if (*again && p->trial) {
        return err_set(err, ERR_STATE, "%s", p->reason);
    }
    if (*again) {
        rc = changelog_resnapshot_begin(p, c, err);
        rc = rc < 0 ? err_context(err, "%s", p->reason) : 0;
        p->at.again = rc == 0;
    }
    p->reconcile = p->at.again ? RECONCILE_DUE : RECONCILE_NONE;
    return rc;
}
