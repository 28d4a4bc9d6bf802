/* SPDX-License-Identifier: Apache-2.0 */
/* Queries between two pages of the change log: whether another page is worthwhile, how many changes
 * wait, and which transaction prevents pruning. */
#include <inttypes.h>
#include <stdio.h>

#include "changelog/changelog_private.h"
#include "pg/pg_private.h"

#define CAPTURES_MAX_BYTES ((size_t)64 * 1024)
#define WAITING_COUNTED "10000" /* more are estimated */

int changelog_listen(struct changelog *c, struct err *err)
{
    int rc = c->installed.notifies ? pg_listen(c->pg, c->installed.capture, err) : 0;
    for (size_t i = 0; i < c->depends.count && rc == 0; i++) {
        const struct installed *other = &c->depends.items[i].installed;
        rc = other->notifies ? pg_listen(c->pg, other->capture, err) : 0;
    }
    return rc;
}

/* Pushes the captures of the table and of its query's dependencies, as an array. */
static void changelog_news_push_captures(struct buf *out, const struct changelog *c)
{
    buf_printf(out, "{%s", c->installed.capture);
    for (size_t i = 0; i < c->depends.count; i++) {
        buf_printf(out, ",%s", c->depends.items[i].installed.capture);
    }
    buf_push_char(out, '}');
}

static int changelog_news_ask(struct changelog *c, bool *any, struct err *err)
{
    struct buf captures;
    struct pg_result *r = NULL;
    bool keeps = c->consumer.keeps || depend_keep(&c->depends);
    buf_init(&captures, CAPTURES_MAX_BYTES);
    changelog_news_push_captures(&captures, c);
    const char *const params[] = {buf_text(&captures), c->at.last, keeps ? "t" : "f",
                                  c->pg->in_recovery ? "t" : "f"};
    int rc = pg_ask_again(c->pg, &r, "poll_news", params, 4, err);
    if (rc == 0) {
        *any = pg_true(r, 0, 0);
    }
    pg_result_release(r);
    buf_release(&captures);
    return rc;
}

int changelog_news(struct capture *capture, bool *any, struct err *err)
{
    struct changelog *c = (struct changelog *)capture;
    pg_forget_calls(c->pg);
    if (c->at.kind != POSITION_LOG || c->at.target != NULL) {
        *any = true;
        return 0;
    }
    int rc = changelog_mirror_pending(c, false, err);
    return rc == 0 ? changelog_news_ask(c, any, err) : rc;
}

/* If a window spans several captures, entries that were already read are counted too. */
int changelog_waiting(struct capture *capture, int64_t *changes, struct err *err)
{
    struct changelog *c = (struct changelog *)capture;
    const struct position *at = &c->at;
    bool within = at->target != NULL && at->of == 0 && at->part == 2;
    char xid[24];
    char seq[24];
    struct buf captures;
    struct pg_result *r = NULL;
    *changes = -1;
    if (at->kind != POSITION_LOG) {
        return 0;
    }
    buf_init(&captures, CAPTURES_MAX_BYTES);
    changelog_news_push_captures(&captures, c);
    snprintf(xid, sizeof(xid), "%" PRIu64, within ? at->after_xid : 0);
    snprintf(seq, sizeof(seq), "%" PRId64, within ? at->after_seq : 0);
    const char *const params[] = {buf_text(&captures), at->last, xid, seq, WAITING_COUNTED};
    int rc = pg_ask_again(c->pg, &r, "log_waiting", params, 5, err);
    if (rc == 0) {
        *changes = pg_int(r, 0, 0);
    }
    pg_result_release(r);
    buf_release(&captures);
    return rc < 0 ? err_context(err, "could not count what waits in the change log") : 0;
}

/* Includes all holders that can prevent pruning. */
int changelog_hold(struct capture *capture, struct xmin_holder *out, struct err *err)
{
    struct changelog *c = (struct changelog *)capture;
    return xmin_holders_look(&c->holds, c->pg, true, out, err);
}
