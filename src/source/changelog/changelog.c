/* SPDX-License-Identifier: Apache-2.0 */
/* The change log as a capture: moves from page to page. */
#include "rowferry/source/changelog/changelog.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "changelog/changelog_private.h"
#include "pg/pg_private.h"
#include "rowferry/base/text.h"
#include "rowferry/source/pg/consumer_lock.h"

#define TEXT_MAX_BYTES ((size_t)1 << 20)
#define PRUNE_AT_START_MS 2000  /* a scheduled run has no other time to prune after a large one */
#define WAITING_COUNTED "10000" /* more are estimated */

static struct changelog *changelog_of(struct capture *capture)
{
    return (struct changelog *)capture;
}

/* --- start and resume ------------------------------------------------------------------------ */

/* Fanning out begins again with the entries from which it came. */
int changelog_prepare(struct changelog *c, struct err *err)
{
    uint64_t of = c->position.at.of;
    c->catalogue.gap = GAP_NONE;
    int rc = pg_recover(c->pg, err);
    c->page.stage = STAGE_CLOSED;
    changelog_prescan_reset(&c->prescan);
    reader_release(&c->page.reader);
    c->page.reader.pg = c->pg;
    position_release(&c->position.backup.position);
    free(c->position.fan_after);
    c->position.fan_after = NULL;
    if (rc == 0) {
        rc = catalogue_look_up(&c->catalogue, err);
    }
    if (rc == 0 && of > 0 && depend_find(&c->catalogue.depends, of) == NULL) {
        rc = err_set(err, ERR_STATE,
                     "the position is in the changes of a table on which the query "
                     "does not depend any more");
        err_hint(err, POSITION_REBUILD_HINT);
        err_drift(err);
    }
    return rc;
}

/* Notes why start or resume failed. */
static int changelog_adapt(struct changelog *c, int rc)
{
    bool joined = rc < 0 && c->catalogue.gap == GAP_MEMBER_JOINED;
    c->capture.adapted = joined ? CAPTURE_ADAPTED_MEMBER : CAPTURE_ADAPTED_NOT;
    return rc;
}

static int changelog_start(struct capture *capture, struct buf *position, struct err *err)
{
    struct changelog *c = changelog_of(capture);
    position_release(&c->position.at);
    int rc = changelog_prepare(c, err);
    if (rc == 0) {
        rc = changelog_resnapshot_begin(&c->position, &c->catalogue, err);
    }
    if (rc == 0) {
        position_print(position, &c->position.at);
    }
    return changelog_adapt(c, rc);
}

/* Subscribes to the notifications of the triggers, if they send any. */
static int changelog_listen(struct changelog *c, struct err *err)
{
    const struct depends *d = &c->catalogue.depends;
    int rc = 0;
    for (size_t i = 0; i <= d->count && rc == 0; i++) {
        const struct installed *in = i == 0 ? &c->catalogue.installed : &d->items[i - 1].installed;
        rc = in->notifies ? pg_listen(c->pg, in->capture, err) : 0;
    }
    return rc;
}

static void changelog_estimate_read(struct changelog_position *p, const struct table *table)
{
    if (p->at.kind == POSITION_BLOCKS && p->at.blocks > 0 && p->rows_read == 0 &&
        table->estimated_rows > 0) {
        p->rows_read = (int64_t)(position_share(&p->at) * (double)table->estimated_rows);
    }
}

static int changelog_resume(struct capture *capture, const char *position, struct err *err)
{
    struct changelog *c = changelog_of(capture);
    struct catalogue *catalogue = &c->catalogue;
    bool expired = false;
    bool again = false;
    capture->again = NULL;
    capture->unpruned = NULL;
    int rc = position_parse(&c->position.at, position, err);
    if (rc == 0) {
        rc = changelog_prepare(c, err);
    }
    if (rc == 0) {
        rc = consumer_attend(&catalogue->consumer, &expired, err);
    }
    if (rc == 0) {
        rc = catalogue_read_consumers(catalogue, err);
    }
    if (rc == 0 && c->options->query != NULL) {
        rc = depend_drop_former(&catalogue->depends, c->pg, c->options->consumer, err);
    }
    if (rc == 0) {
        rc = changelog_resnapshot_resume(&c->position, catalogue, expired, &again, err);
    }
    if (rc == 0) {
        capture->again = again ? c->position.reason : NULL;
        rc = catalogue_prune(catalogue, PRUNE_AT_START_MS, err);
    }
    capture->unpruned = catalogue_facts(catalogue).unpruned;
    if (rc == 0) {
        rc = changelog_listen(c, err);
    }
    if (rc == 0) {
        changelog_estimate_read(&c->position, catalogue->table);
    }
    return changelog_adapt(c, rc);
}

/* --- between two pages ----------------------------------------------------------------------- */

/* Periodically: marks the consumer as present, and expires absent ones. */
static int changelog_heartbeat(struct changelog *c, struct err *err)
{
    int64_t now = pg_now_ms();
    bool expired;
    if (c->heartbeat_ms != 0 && now - c->heartbeat_ms < CHANGELOG_HEARTBEAT_MS) {
        return 0;
    }
    int rc = consumer_attend(&c->catalogue.consumer, &expired, err);
    if (rc == 0) {
        rc = catalogue_expire(&c->catalogue, err);
    }
    c->heartbeat_ms = now;
    if (rc == 0 && expired) { /* a process that was suspended for long: look at the log again */
        rc = err_set(err, ERR_TRANSIENT, "the consumer \"%s\" had expired", c->options->consumer);
    }
    return rc;
}

static int changelog_write_backup(struct changelog *c, struct err *err)
{
    int rc = changelog_backup_write(&c->position, &c->catalogue, false, err);
    c->capture.unpruned = catalogue_facts(&c->catalogue).unpruned;
    return rc;
}

static int changelog_release(struct capture *capture, const struct mirror *mirror, bool now,
                             struct err *err)
{
    struct changelog *c = changelog_of(capture);
    assert(c->page.stage == STAGE_CLOSED);
    int rc = changelog_backup_take(&c->position, &c->catalogue, mirror, now, err);
    capture->unpruned = catalogue_facts(&c->catalogue).unpruned;
    return rc;
}

static int changelog_forget(struct capture *capture, const char *consumer, struct err *err)
{
    return consumer_lock_forget(changelog_of(capture)->pg, consumer, err);
}

static int changelog_ask_news(struct changelog *c, bool *any, struct err *err)
{
    struct buf captures;
    struct pg_result *r = NULL;
    buf_init(&captures, TEXT_MAX_BYTES);
    catalogue_push_captures(&captures, &c->catalogue);
    int rc = pg_ask_again(c->pg, &r, "poll_news",
                          PG_PARAMS(buf_text(&captures), c->position.at.last,
                                    catalogue_facts(&c->catalogue).keeps ? "t" : "f",
                                    c->pg->in_recovery ? "t" : "f"),
                          err);
    if (rc == 0) {
        *any = pg_true(r, 0, 0);
    }
    pg_result_release(r);
    buf_release(&captures);
    return rc;
}

static int changelog_news(struct capture *capture, bool *any, struct err *err)
{
    struct changelog *c = changelog_of(capture);
    pg_forget_calls(c->pg);
    if (c->position.at.kind != POSITION_LOG || c->position.at.target != NULL) {
        *any = true;
        return 0;
    }
    int rc = changelog_write_backup(c, err);
    return rc == 0 ? changelog_ask_news(c, any, err) : rc;
}

/* If a stretch of the log spans several captures, entries that were already read are counted too.
 */
static int changelog_waiting(struct capture *capture, int64_t *changes, struct err *err)
{
    struct changelog *c = changelog_of(capture);
    const struct position *at = &c->position.at;
    bool within = at->target != NULL && at->of == 0 && at->part == 2;
    struct buf captures;
    struct pg_result *r = NULL;
    *changes = -1;
    if (at->kind != POSITION_LOG) {
        return 0;
    }
    buf_init(&captures, TEXT_MAX_BYTES);
    catalogue_push_captures(&captures, &c->catalogue);
    int rc =
        pg_ask_again(c->pg, &r, "log_waiting",
                     PG_PARAMS(buf_text(&captures), at->last, PG_INT(within ? at->after_xid : 0),
                               PG_INT(within ? at->after_seq : 0), WAITING_COUNTED),
                     err);
    if (rc == 0) {
        *changes = pg_int(r, 0, 0);
    }
    pg_result_release(r);
    buf_release(&captures);
    return rc < 0 ? err_context(err, "could not count what waits in the change log") : 0;
}

/* Includes all holders that can prevent pruning. */
static int changelog_hold(struct capture *capture, struct xmin_holder *out, struct err *err)
{
    struct changelog *c = changelog_of(capture);
    return xmin_holders_look(&c->xmin_holders, c->pg, true, out, err);
}

/* --- pages ----------------------------------------------------------------------------------- */

/* Sends the statements of a page of the log, which is part of a prescan if one runs. */
static int changelog_send_log(struct changelog *c, void (*reach)(struct changelog_page *),
                              struct err *err)
{
    bool prescan = changelog_prescan_runs(&c->prescan, &c->page);
    c->page.content = prescan ? CONTENT_GONE : CONTENT_ROWS;
    reach(&c->page);
    return changelog_list_send(&c->page, err);
}

static int changelog_begin_log(struct changelog *c, struct err *err)
{
    struct changelog_position *position = &c->position;
    if (position->reconcile == RECONCILE_DUE && position->at.target == NULL) {
        c->page.content = CONTENT_RESNAPSHOT;
        return changelog_chunk_begin_nothing(&c->page, err);
    }
    if (position->reconcile == RECONCILE_REPORTED) {
        position->reconcile = RECONCILE_NONE;
    }
    if (changelog_prescan_truncated(&c->prescan, &c->page)) {
        return changelog_chunk_begin_nothing(&c->page, err);
    }
    return changelog_send_log(c, changelog_list_reach_log, err);
}

static int changelog_begin_fan(struct changelog *c, struct err *err)
{
    int rc = changelog_list_fan(&c->page, err);
    return rc == 0 ? changelog_send_log(c, changelog_list_reach_fan, err) : rc;
}

int changelog_send_page(struct changelog *c, struct err *err)
{
    switch (c->page.kind) {
    case PAGE_BLOCKS:
        return changelog_chunk_begin_blocks(&c->page, err);
    case PAGE_RANGE:
        return changelog_chunk_begin_range(&c->page, err);
    case PAGE_LISTED:
        return changelog_list_begin(&c->page, err);
    case PAGE_FAN:
        return changelog_begin_fan(c, err);
    default:
        return changelog_begin_log(c, err);
    }
}

/* The requested reconcile is complete: the position now relies on the remaining members. */
static int changelog_note_left(struct changelog *c, struct err *err)
{
    int rc = pg_script(c->pg, "commit", err);
    if (rc == 0) {
        rc = catalogue_note_members(&c->catalogue, &c->page.page.look, err);
    }
    if (rc == 0) {
        changelog_page_reset(&c->page, c->page.kind);
        rc = changelog_page_open_checked(&c->page, err);
    }
    return rc;
}

/* After a member left: requests a reconcile, which is all that the page reports, or continues after
 * it. A prescan must be repeated. */
static int changelog_handle_left(struct changelog *c, struct err *err)
{
    char **reconciled = &c->position.reconciled_members;
    bool done = *reconciled != NULL && strcmp(*reconciled, c->page.page.look.triggers) == 0;
    free(*reconciled);
    *reconciled = NULL;
    int rc = done ? changelog_note_left(c, err) : 0;
    if (rc == 0 && c->catalogue.gap == GAP_MEMBER_LEFT) {
        *reconciled = text_copy(c->page.page.look.triggers);
        changelog_prescan_abandon(&c->prescan, &c->position);
        c->page.content = CONTENT_MEMBER_LEFT;
    }
    return rc;
}

static int changelog_begin_page(struct changelog *c, struct err *err)
{
    struct changelog_page *p = &c->page;
    assert(p->stage == STAGE_CLOSED);
    changelog_page_reset(p, changelog_page_next_kind(p));
    pg_forget_calls(c->pg);
    int rc = changelog_heartbeat(c, err);
    if (rc == 0) {
        rc = changelog_write_backup(c, err);
    }
    if (rc == 0) {
        rc = changelog_page_open_checked(p, err);
    }
    if (rc == 0 && c->catalogue.gap == GAP_MEMBER_LEFT &&
        (p->kind == PAGE_LOG || p->kind == PAGE_FAN)) {
        rc = changelog_handle_left(c, err);
    }
    if (rc == 0 && p->content == CONTENT_MEMBER_LEFT) {
        return changelog_chunk_begin_nothing(p, err);
    }
    return rc == 0 ? changelog_send_page(c, err) : rc;
}

/* If reading on would be wrong, the checkpoint backup would be wrong too. If only an entry shows
 * that, just the next page notices it; so the consumer is removed, and the next resume makes a
 * re-snapshot. */
static int changelog_begin(struct capture *capture, struct err *err)
{
    struct changelog *c = changelog_of(capture);
    struct consumer *consumer = &c->catalogue.consumer;
    struct err ignored;
    int rc = changelog_begin_page(c, err);
    if (rc < 0 && c->catalogue.gap == GAP_MISSED) {
        capture->adapted = CAPTURE_ADAPTED_MISSED;
    }
    if ((rc == ERR_STATE || (rc < 0 && c->catalogue.gap == GAP_MISSED)) &&
        pg_recover(c->pg, &ignored) == 0) {
        (void)!(rc != ERR_STATE && c->page.page.stretch.anything
                    ? consumer_drop(consumer, &ignored)
                    : consumer_spoil(consumer, &ignored));
    }
    return rc;
}

static int changelog_begin_keys(struct capture *capture, const struct span *keys, size_t count,
                                bool only_gone, struct err *err)
{
    struct changelog *c = changelog_of(capture);
    struct changelog_page *p = &c->page;
    assert(p->stage == STAGE_CLOSED);
    changelog_page_reset(p, PAGE_ASKED);
    p->content = only_gone ? CONTENT_GONE : CONTENT_ROWS;
    p->existence.way = KEY_EXISTENCE_COUNT;
    for (size_t i = 0; i < count; i++) {
        if (keyset_add(&p->keys.set, keys[i]) == KEYSET_FULL) {
            return err_set(err, ERR_REJECTED, "the keys to be read again are too long");
        }
    }
    int rc = c->catalogue.table == NULL ? changelog_prepare(c, err) : 0;
    if (rc == 0) {
        rc = changelog_page_open(p, err);
    }
    return rc == 0 ? changelog_list_send(p, err) : rc;
}

static void changelog_end_page(struct changelog *c, struct change *change)
{
    struct changelog_page *p = &c->page;
    bool asked = p->kind == PAGE_ASKED;
    bool copying = p->kind == PAGE_BLOCKS || p->kind == PAGE_RANGE || p->kind == PAGE_LISTED;
    if (p->content == CONTENT_MEMBER_LEFT) {
        *change = (struct change){.kind = CHANGE_PRESCAN_END, .left = true};
        return;
    }
    if (p->content == CONTENT_RESNAPSHOT) {
        c->position.reconcile = RECONCILE_REPORTED;
        *change = (struct change){.kind = CHANGE_PRESCAN_END, .again = true};
        return;
    }
    if (c->prescan.state == PRESCAN_RUNNING && !asked) {
        changelog_prescan_end_page(&c->prescan, p, change);
        return;
    }
    *change = (struct change){
        .kind = CHANGE_PAGE, .copying = copying, .drained = changelog_page_drained(p)};
    if (!asked) {
        changelog_page_report_position(p, &p->end, change);
        position_copy(&c->position.at, &p->end);
        change->whole = p->end.target == NULL;
    }
    if (change->whole) {
        changelog_prescan_reset(&c->prescan);
    }
    if (copying) {
        c->position.rows_read += (int64_t)p->rows;
    }
}

static int changelog_next(struct capture *capture, struct change *change, struct err *err)
{
    struct changelog *c = changelog_of(capture);
    int rc = changelog_page_next(&c->page, change, err);
    if (rc == 0) {
        changelog_end_page(c, change);
    }
    return rc < 0 ? rc : 0;
}

/* --- the capture ----------------------------------------------------------------------------- */

static void changelog_free(struct capture *capture)
{
    struct changelog *c = changelog_of(capture);
    changelog_page_release(&c->page);
    changelog_position_release(&c->position);
    changelog_prescan_reset(&c->prescan);
    catalogue_release(&c->catalogue);
    changelog_options_free(c->options);
    pg_close(c->pg);
    free(c);
}

const struct capture_ops changelog_ops = {.start = changelog_start,
                                          .resume = changelog_resume,
                                          .begin = changelog_begin,
                                          .begin_keys = changelog_begin_keys,
                                          .next = changelog_next,
                                          .release = changelog_release,
                                          .forget = changelog_forget,
                                          .free = changelog_free,
                                          .news = changelog_news,
                                          .waiting = changelog_waiting,
                                          .hold = changelog_hold};

void changelog_init(struct changelog *c, struct pg *pg, const struct changelog_options *options)
{
    c->capture.ops = &changelog_ops;
    c->pg = pg;
    c->options = changelog_options_copy(options);
    catalogue_init(&c->catalogue, pg, c->options);
    changelog_page_init(&c->page, c->options);
    c->page.capture = &c->capture;
    c->page.catalogue = &c->catalogue;
    c->page.position = &c->position;
}

struct changelog *changelog_new(struct pg *pg, const struct changelog_options *options)
{
    struct changelog *c = mem_zero(1, sizeof(*c));
    changelog_init(c, pg, options);
    return c;
}
