/* SPDX-License-Identifier: Apache-2.0 */
/* Checks if reading can continue at a position; if not, begins a re-snapshot in place. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "changelog/changelog_private.h"
#include "pg/pg_private.h"
#include "rowferry/base/text.h"

/* After a restart or a crash recovery, the server may have reused transaction numbers that the
 * position regards as seen. So the log is read again from the checkpoint backup, which was
 * durable. */
static void changelog_resnapshot_fall_back(struct changelog *c)
{
    const struct position *mirror = &c->consumer.mirror;
    if (c->at.life == c->consumer.life || position_compare(mirror, &c->at) >= 0) {
        return;
    }
    if (c->at.kind == POSITION_LOG) {
        const struct position was = {
            .again = c->at.again, .since = c->at.since, .table = c->at.table};
        position_copy(&c->at, mirror);
        c->at.again = was.again;
        c->at.since = was.since;
        c->at.table = was.table;
    } else {
        free(c->at.last);
        c->at.last = text_copy(mirror->last);
    }
}

static uint64_t changelog_resnapshot_oldest_of(const struct position *p)
{
    struct snapshot last = {0};
    position_snapshot_parse(&last, p->last);
    return last.xmin;
}

/* Returns true if the position belongs to another history of the server. */
static bool changelog_resnapshot_report_history(struct changelog *c)
{
    const struct consumer *k = &c->consumer;
    uint64_t seen = changelog_resnapshot_oldest_of(&c->at);
    if (c->at.timeline != 0 && c->at.timeline != k->timeline) {
        snprintf(c->why_again, sizeof(c->why_again),
                 "the server is on timeline %" PRIu64 ", the position on %" PRIu64
                 ": it was promoted or restored",
                 k->timeline, c->at.timeline);
        return true;
    }
    if (c->at.database != 0 && c->at.database != k->database) {
        snprintf(c->why_again, sizeof(c->why_again),
                 "the database has the oid %" PRIu32 ", that of the position %" PRIu32
                 ": it was replaced by a copy",
                 k->database, c->at.database);
        return true;
    }
    if (seen > k->next) {
        snprintf(c->why_again, sizeof(c->why_again),
                 "the server is at transaction %" PRIu64 ", the position at %" PRIu64
                 ": it was restored, or lost some in a crash",
                 k->next, seen);
        return true;
    }
    return false;
}

/* Returns true if entries between the position and the start of the log were pruned. */
static bool changelog_resnapshot_report_pruned(struct changelog *c, bool expired)
{
    uint64_t horizon = depend_horizon(&c->depends);
    uint64_t seen = changelog_resnapshot_oldest_of(&c->at);
    horizon = horizon > c->consumer.horizon ? horizon : c->consumer.horizon;
    if (seen >= horizon) {
        return false;
    }
    snprintf(c->why_again, sizeof(c->why_again),
             "%s: the change log was pruned up to transaction %" PRIu64
             ", the position is at %" PRIu64,
             expired ? "the consumer was absent for too long and expired"
                     : "the state file is an older copy",
             horizon, seen);
    return true;
}

/* Returns true if the position is older than the registration of its consumer. */
static bool changelog_resnapshot_report_registered(struct changelog *c)
{
    const struct consumer *k = &c->consumer;
    if (!k->known) {
        snprintf(c->why_again, sizeof(c->why_again), "the source does not know the consumer \"%s\"",
                 c->name);
        return true;
    }
    for (size_t i = 0; i < c->depends.count; i++) {
        const struct depend *d = &c->depends.items[i];
        if (!d->consumer.known) {
            snprintf(c->why_again, sizeof(c->why_again),
                     "the source does not know the consumer \"%s\", of %s", d->name,
                     d->table->quoted);
            return true;
        }
    }
    if (c->at.timeline == 0 || c->at.since == k->since) {
        return false;
    }
    snprintf(c->why_again, sizeof(c->why_again),
             "the position is older than what the source keeps of the consumer: the state file is "
             "an older copy, or a copy broke off as it began");
    return true;
}

/* Sets *again if triggers or rows were changed without entries. A crash between the consumer's new
 * row and the first checkpoint of the load is handled by tell_registered. Other errors are left to
 * the first page, unless this is only a test. */
static int changelog_resnapshot_report_table(struct changelog *c, bool *again, struct err *err)
{
    int rc = changelog_look_over(c, err);
    if (rc == 0 || !c->lost) {
        return rc == ERR_STATE && !c->tried ? 0 : rc;
    }
    snprintf(c->why_again, sizeof(c->why_again), "%s", err->message);
    *again = true;
    return 0;
}

/* A position that replaces a lost state file must be valid as it is. */
static int changelog_resnapshot_refuse(const struct changelog *c, struct err *err)
{
    return err_set(err, ERR_STATE, "%s", c->why_again);
}

static int changelog_resnapshot_report(struct changelog *c, bool expired, bool *again,
                                       struct err *err)
{
    int rc = position_check_table(c->at.table, c->table->oid, c->table->quoted, err);
    if (rc < 0) {
        return rc;
    }
    *again = changelog_resnapshot_report_history(c);
    if (!*again && c->consumer.known) {
        changelog_resnapshot_fall_back(c);
        *again = changelog_resnapshot_report_pruned(c, expired);
    }
    *again = *again || changelog_resnapshot_report_registered(c);
    return *again ? 0 : changelog_resnapshot_report_table(c, again, err);
}

int changelog_go_on(struct changelog *c, bool expired, struct err *err)
{
    bool again = false;
    int rc = changelog_resnapshot_report(c, expired, &again, err);
    if (again && c->tried) {
        return changelog_resnapshot_refuse(c, err);
    }
    if (again) {
        rc = changelog_note_position(c, err);
        rc = rc < 0 ? err_context(err, "%s", c->why_again) : 0;
    }
    if (rc == 0 && again) {
        c->at.again = true;
        c->rows_read = 0;
        c->capture.again = c->why_again;
    }
    c->sweep = c->at.again ? SWEEP_DUE : SWEEP_NONE;
    return rc;
}

void changelog_print_history(const struct changelog *c, struct buf *out)
{
    struct position p = {.timeline = c->consumer.timeline,
                         .again = c->sweep != SWEEP_NONE,
                         .since = c->consumer.since,
                         .table = c->table->oid,
                         .database = c->consumer.database,
                         .life = c->consumer.life};
    position_print_history(out, &p);
}

bool changelog_begins_sweep(struct changelog *c)
{
    if (c->sweep == SWEEP_DUE && c->at.target == NULL) {
        c->sweep = SWEEP_TELLS;
        return true;
    }
    if (c->sweep == SWEEP_TOLD) {
        c->sweep = SWEEP_NONE;
    }
    return false;
}

bool changelog_reports_sweep(struct changelog *c, struct change *change)
{
    if (c->sweep != SWEEP_TELLS) {
        return false;
    }
    c->sweep = SWEEP_TOLD;
    *change = (struct change){.kind = CHANGE_PRESCAN_END, .again = true};
    return true;
}

int changelog_attend(struct changelog *c, struct err *err)
{
    int64_t now = pg_now_ms();
    bool expired;
    if (c->attended_ms != 0 && now - c->attended_ms < CHANGELOG_ATTEND_MS) {
        return 0;
    }
    int rc = consumer_attend(&c->consumer, &expired, err);
    if (rc == 0) {
        rc = depend_expire(&c->depends, &c->retain, err);
    }
    if (rc == 0) {
        rc = consumer_expire(&c->consumer, &c->retain, err);
    }
    c->attended_ms = now;
    if (rc == 0 && expired) { /* a process that was suspended for long: look at the log again */
        rc = err_set(err, ERR_TRANSIENT, "the consumer \"%s\" had expired", c->name);
    }
    return rc;
}
