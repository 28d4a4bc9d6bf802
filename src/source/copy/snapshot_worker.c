/* SPDX-License-Identifier: Apache-2.0 */
/* A further connection of an initial load. */
#include "copy/snapshot_worker.h"

#include <stdlib.h>
#include <string.h>

#include "pg/pg_private.h"

#define LOCK_NOT_AVAILABLE "55P03"

/* Only the leader prunes. */
static int snapshot_worker_look(struct changelog *c, struct err *err)
{
    struct consumer *k = NULL;
    int rc = catalogue_read_consumers(&c->catalogue, err);
    for (size_t i = 0; (k = catalogue_consumer(&c->catalogue, i)) != NULL; i++) {
        k->more = false;
    }
    return rc;
}

int snapshot_worker_open(struct changelog **out, const struct changelog *leader, struct err *err)
{
    struct pg *pg = NULL;
    *out = NULL;
    int rc = pg_open_like(&pg, leader->pg, err);
    if (rc < 0) {
        return rc;
    }
    struct changelog *worker = changelog_new(pg, leader->options);
    worker->page.worker = true;
    free(worker->page.unreadable);
    worker->page.unreadable = leader->page.unreadable;
    rc = changelog_prepare(worker, err);
    if (rc == 0) {
        rc = snapshot_worker_look(worker, err);
    }
    if (rc < 0) {
        changelog_ops.free(&worker->capture);
        return rc;
    }
    *out = worker;
    return 0;
}

/* A queued lock request waits for the leader, which must not wait behind it in turn, so the worker
 * does not wait for locks. Only the leader records changes of the table; the worker looks them up
 * again for the next page. */
int snapshot_worker_begin(struct changelog *c, struct err *err)
{
    bool altered = false;
    struct changelog_page *p = &c->page;
    changelog_page_reset(p, changelog_page_next_kind(p));
    pg_forget_calls(c->pg);
    int rc = changelog_page_open(p, err);
    if (rc < 0 && strcmp(err->sqlstate, LOCK_NOT_AVAILABLE) == 0) {
        rc = pg_recover(c->pg, err);
        return rc == 0 ? 1 : rc;
    }
    if (rc == 0) {
        rc = catalogue_check_rewritten(&c->catalogue, &p->page.look, p->kind == PAGE_BLOCKS,
                                       &altered, err);
    }
    if (rc == 0 && altered) {
        rc = pg_script(c->pg, "rollback", err);
        rc = rc == 0 ? snapshot_worker_look(c, err) : rc;
        return rc == 0 ? 1 : rc;
    }
    return rc == 0 ? changelog_send_page(c, err) : rc;
}
