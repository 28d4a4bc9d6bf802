/* SPDX-License-Identifier: Apache-2.0 */
/* A snapshot worker: reads ranges of an initial load for another change log, with a connection of
 * its own. */
#include <stdlib.h>
#include <string.h>

#include "changelog/changelog_private.h"
#include "pg/pg_private.h"

#define LOCK_NOT_AVAILABLE "55P03"

static int changelog_help_look(struct changelog *c, struct err *err)
{
    int rc = consumer_look(&c->consumer, err);
    for (size_t i = 0; i < c->depends.count && rc == 0; i++) {
        rc = consumer_look(&c->depends.items[i].consumer, err);
    }
    c->consumer.more = false;
    for (size_t i = 0; i < c->depends.count; i++) {
        c->depends.items[i].consumer.more = false;
    }
    return rc;
}

int changelog_helper(struct changelog **out, const struct changelog *c, struct err *err)
{
    const struct changelog_options options = {.consumer = c->name,
                                              .table = c->table_name,
                                              .key = (const char *const *)c->key,
                                              .key_count = c->key_count,
                                              .where = c->where,
                                              .query = c->query,
                                              .dependencies = c->dependencies,
                                              .dependency_count = c->dependency_count,
                                              .columns = (const char *const *)c->columns,
                                              .column_count = c->column_count,
                                              .fingerprint = c->fingerprint,
                                              .page_rows = c->page_rows,
                                              .page_blocks = c->page_blocks,
                                              .chunk_bytes = c->chunk_bytes};
    struct pg *pg = NULL;
    *out = NULL;
    int rc = pg_open_like(&pg, c->pg, err);
    if (rc < 0) {
        return rc;
    }
    struct changelog *helper = changelog_new(pg, &options);
    helper->helps = true;
    free(helper->unreadable);
    helper->unreadable = c->unreadable;
    rc = changelog_prepare(helper, err);
    if (rc == 0) {
        rc = changelog_help_look(helper, err);
    }
    if (rc < 0) {
        helper->capture.ops->free(&helper->capture);
        return rc;
    }
    *out = helper;
    return 0;
}

/* A queued lock request waits for the leader, which must not wait behind it in turn, so the worker
 * does not wait for locks. Only the leader records changes of the table; the worker looks them up
 * again for the next page. */
int changelog_help(struct changelog *c, struct err *err)
{
    bool any = false;
    changelog_clear(c);
    int rc = changelog_read_page(c, err);
    bool queued = rc < 0 && strcmp(err->sqlstate, LOCK_NOT_AVAILABLE) == 0;
    if (queued) {
        rc = pg_recover(c->pg, err);
        return rc == 0 ? 1 : rc;
    }
    if (rc == 0) {
        rc = changelog_check_news(c, &any, err);
    }
    if (rc == 0 && any) {
        rc = pg_script(c->pg, "rollback", err);
        rc = rc == 0 ? changelog_help_look(c, err) : rc;
        return rc == 0 ? 1 : rc;
    }
    return rc == 0 ? changelog_send_page(c, err) : rc;
}
