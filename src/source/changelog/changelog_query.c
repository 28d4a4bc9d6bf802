/* SPDX-License-Identifier: Apache-2.0 */
/* Pages of a query: keys are listed first, then its rows are read by key. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "changelog/changelog_private.h"
#include "changelog/reads.h"
#include "pg/pg_private.h"
#include "rowferry/base/text.h"
#include "sql/plancalls.h"
#include "sql/sqlquote.h"

#define ARRAY_MAX_BYTES ((size_t)256 << 20)

void changelog_release_query(struct changelog *c)
{
    depend_release(&c->depends);
    mentions_release(&c->read);
    depend_free_all(c->dependencies, c->dependency_count);
    free(c->query);
    buf_release(&c->lock);
    buf_release(&c->due);
    buf_release(&c->fan_after);
    keyset_release(&c->changed);
}

static bool changelog_query_reads_whole_rows(const struct reads *reads, const struct table *t)
{
    struct buf name;
    buf_init(&name, ARRAY_MAX_BYTES);
    buf_printf(&name, "%s.%s", t->schema, t->name);
    bool whole = plancalls_whole_rows(buf_text(&reads->plan), buf_text(&name), t->tree);
    buf_release(&name);
    return whole;
}

/* What where, query and keys read, and the views that they name. Rows that "*" makes within, and
 * that become a value, have all columns too, whichever table's. */
static void changelog_query_note_read(struct changelog *c, const struct reads *reads)
{
    const char *plan = buf_text(&reads->plan);
    mentions_add(&c->read, c->where);
    mentions_add(&c->read, c->query);
    for (size_t i = 0; i < c->dependency_count; i++) {
        mentions_add(&c->read, c->dependencies[i].keys);
    }
    for (size_t i = 0; i < reads->count; i++) {
        mentions_add(&c->read, reads->items[i].definition);
    }
    for (size_t i = 0; c->read.top && i < c->column_count; i++) {
        mentions_add_name(&c->read, c->columns[i]);
    }
    bool made = c->read.star && (strstr(plan, ".*") != NULL || strstr(plan, "ROW(") != NULL);
    c->whole_rows = made || changelog_query_reads_whole_rows(reads, c->table);
    for (size_t i = 0; i < c->depends.count; i++) {
        struct depend *d = &c->depends.items[i];
        d->whole_rows = made || changelog_query_reads_whole_rows(reads, d->table);
    }
}

/* Fanning out begins again with the entries from which it came. */
int changelog_prepare_query(struct changelog *c, struct err *err)
{
    struct reads reads = {0};
    struct query_input in = {.root = c->table,
                             .where = c->where,
                             .dependencies = c->dependencies,
                             .dependency_count = c->dependency_count};
    buf_reset(&c->fan_after);
    mentions_release(&c->read);
    if (c->query == NULL) {
        changelog_query_note_read(c, &reads);
        return 0;
    }
    int rc = depend_open(&c->depends, c->pg, &in, err);
    if (rc == 0) {
        rc = depend_install(&c->depends, c->pg, c->name, err);
    }
    if (rc == 0) {
        rc = reads_find(&reads, c->pg, &in, &c->depends, err);
    }
    if (rc == 0) {
        rc = reads_check_covered(&reads, &in, &c->depends, err);
    }
    if (rc == 0) {
        buf_reset(&c->lock);
        reads_push_lock(&c->lock, &reads, c->table);
        changelog_query_note_read(c, &reads);
    }
    if (rc == 0 && c->at.of > 0 && depend_find(&c->depends, c->at.of) == NULL) {
        rc = err_set(err, ERR_STATE,
                     "the position is in the changes of a table on which the query "
                     "does not depend any more");
        err_hint(err, POSITION_ANEW_HINT);
        err_drift(err);
    }
    reads_release(&reads);
    return rc;
}

/* --- listing ------------------------------------------------------------------------------- */

/* A statement's parameters, with types where the server could not infer them. */
struct listing {
    const char *sql;
    size_t count;
    const char *params[2 * KEY_MAX_PARTS + 1];
    Oid types[2 * KEY_MAX_PARTS + 1];
    struct buf arrays[KEY_MAX_PARTS]; /* values of the dependency's columns */
    struct buf parts;                 /* of the key after which to continue */
    char limit[24];
};

static void changelog_query_listing_release(struct listing *l)
{
    for (size_t i = 0; i < KEY_MAX_PARTS; i++) {
        buf_release(&l->arrays[i]);
    }
    buf_release(&l->parts);
}

static int changelog_query_add_key(struct listing *l, struct span key, size_t count,
                                   const char *between, struct buf *parts, struct err *err)
{
    size_t offsets[KEY_MAX_PARTS];
    buf_reset(parts);
    int rc = key_split(parts, offsets, key.data, key.len, count, err);
    for (size_t i = 0; i < count && rc == 0; i++) {
        buf_push_text(&l->arrays[i], between);
        sqlquote_item(&l->arrays[i], buf_text(parts) + offsets[i]);
    }
    return rc;
}

static int changelog_query_push_arrays(struct listing *l, const struct depend *d,
                                       const struct keyset *changed, struct err *err)
{
    struct buf parts;
    size_t count = d->table->key_count;
    int rc = 0;
    buf_init(&parts, ARRAY_MAX_BYTES);
    for (size_t i = 0; i < count; i++) {
        buf_push_literal(&l->arrays[i], "{");
    }
    for (size_t i = 0; i < changed->count && rc == 0; i++) {
        rc = changelog_query_add_key(l, keyset_get(changed, i), count, i > 0 ? "," : "", &parts,
                                     err);
    }
    for (size_t i = 0; i < count; i++) {
        buf_push_literal(&l->arrays[i], "}");
        l->types[l->count] = d->array_types[i];
        l->params[l->count++] = buf_text(&l->arrays[i]);
    }
    buf_release(&parts);
    return rc;
}

static int changelog_query_push_after(struct listing *l, const char *after, size_t count,
                                      struct err *err)
{
    size_t offsets[KEY_MAX_PARTS];
    int rc = key_split(&l->parts, offsets, after, strlen(after), count, err);
    for (size_t i = 0; i < count && rc == 0; i++) {
        l->params[l->count++] = buf_text(&l->parts) + offsets[i];
    }
    return rc;
}

/* A short result, like that of the log: at most a page of keys. */
static int changelog_query_take_keys(struct changelog *c, const char *sql,
                                     const char *const *params, const Oid *types,
                                     size_t param_count, struct err *err)
{
    PGresult *r;
    int rc = pg_exec(c->pg, &r, "any: text", sql, types, params, param_count, err);
    int count = rc == 0 ? PQntuples(r) : 0;
    if ((size_t)count > c->page_rows) {
        rc = err_set(err, ERR_TRANSIENT, "the source gave more keys than it was asked for");
    }
    for (int i = 0; i < count && rc == 0; i++) {
        struct span key = span_make(PQgetvalue(r, i, 0), (size_t)PQgetlength(r, i, 0));
        if (keyset_add(&c->keys, key) == KEYSET_FULL) {
            rc = err_set(err, ERR_REJECTED, "the keys of one page are too long");
        }
    }
    PQclear(r);
    return rc < 0 ? err_context(err, "could not list the keys of %s", c->table->quoted) : 0;
}

/* Lists the next page of the root's keys in the range of the initial load. */
static int changelog_query_list_range(struct changelog *c, struct err *err)
{
    struct range_query q;
    int rc = changelog_range_query(&q, c, err);
    if (rc == 0) {
        rc = changelog_query_take_keys(c, q.sql, q.params, NULL, q.count, err);
    }
    buf_release(&q.parts);
    return rc;
}

/* Lists the keys that the dependency's keys query finds for the changed values, or all if d is
 * null. after: null at the beginning. */
static int changelog_query_list(struct changelog *c, const struct depend *d, const char *after,
                                struct err *err)
{
    struct listing l = {.count = 0};
    const struct rowsql_keys all = {c->sql.range[ROWSQL_FIRST][0], c->sql.range[ROWSQL_AFTER][0]};
    const struct rowsql_keys *sql = d != NULL ? &d->sql : &all;
    int rc = 0;
    for (size_t i = 0; i < KEY_MAX_PARTS; i++) {
        buf_init(&l.arrays[i], ARRAY_MAX_BYTES);
    }
    buf_init(&l.parts, ARRAY_MAX_BYTES);
    l.sql = after != NULL ? sql->after : sql->first;
    if (d != NULL) {
        rc = changelog_query_push_arrays(&l, d, &c->changed, err);
    }
    if (rc == 0 && after != NULL) {
        rc = changelog_query_push_after(&l, after, c->table->key_count, err);
    }
    snprintf(l.limit, sizeof(l.limit), "%zu", c->page_rows);
    l.params[l.count++] = l.limit;
    if (rc == 0) {
        rc = changelog_query_take_keys(c, l.sql, l.params, l.types, l.count, err);
    }
    changelog_query_listing_release(&l);
    return rc;
}

static bool changelog_query_list_is_full(const struct changelog *c)
{
    return c->keys.count == c->page_rows;
}

static const char *changelog_query_last_listed(const struct changelog *c)
{
    return keyset_get(&c->keys, c->keys.count - 1).data;
}

/* --- pages --------------------------------------------------------------------------------- */

/* The session disables sorts and bitmap scans, because log and tables are read in index order. A
 * query may need them. A search for a few keys would otherwise read all of that index. */
static int changelog_query_plan_freely(struct changelog *c, struct err *err)
{
    return pg_script(c->pg, "set local enable_sort = on; set local enable_bitmapscan = on", err);
}

int changelog_send_query(struct changelog *c, struct err *err)
{
    bool reads = c->keys.count > 0 || c->page.window.null_keys;
    int rc = 0;
    if (c->query != NULL && reads) {
        rc = changelog_query_plan_freely(c, err);
    } else if (c->keys_only && reads) {
        rc = key_existence_plan(c->pg, err);
    }
    return rc == 0 ? changelog_send_keys(c, err) : rc;
}

int changelog_begin_listed(struct changelog *c, struct err *err)
{
    int rc = changelog_query_list_range(c, err);
    if (rc < 0) {
        return rc;
    }
    if (changelog_query_list_is_full(c)) {
        rc = changelog_expect_later(&c->at, changelog_query_last_listed(c), err);
        if (rc < 0) {
            return rc;
        }
        position_copy(&c->reached, &c->at);
        free(c->reached.key);
        c->reached.range = KEY_RANGE_AFTER;
        c->reached.key = text_copy(changelog_query_last_listed(c));
    } else {
        position_release(&c->reached);
        c->reached.kind = POSITION_LOG;
        c->reached.last = text_copy(c->at.last);
    }
    return changelog_send_query(c, err);
}

void changelog_leave_capture(const struct changelog *c, struct position *p, const char *target)
{
    uint64_t due = c->page.window.due;
    *p = (struct position){.kind = POSITION_LOG, .last = text_copy(due > 0 ? c->at.last : target)};
    if (due > 0) {
        p->target = text_copy(target);
        p->part = 1;
        p->of = due;
    }
}

/* The part of the entries is complete when the last of their keys were listed. */
static void changelog_query_reach_fan(struct changelog *c)
{
    const struct page_window *w = &c->page.window;
    buf_reset(&c->fan_after);
    position_copy(&c->reached, &c->at);
    if (changelog_query_list_is_full(c)) {
        buf_push_text(&c->fan_after, changelog_query_last_listed(c));
    } else if (w->full) {
        c->reached.part = w->part;
        c->reached.after_xid = w->after_xid;
        c->reached.after_seq = w->after_seq;
    } else {
        position_release(&c->reached);
        changelog_leave_capture(c, &c->reached, c->at.target);
    }
}

int changelog_begin_fan(struct changelog *c, struct err *err)
{
    struct depend *d = depend_find(&c->depends, c->at.of);
    const char *after = c->fan_after.len > 0 ? buf_text(&c->fan_after) : NULL;
    bool all = c->page.window.truncated;
    int rc = 0;
    c->page.window.null_keys = false;
    d->consumer.keeps = true;
    if (!all) {
        rc = changelog_query_plan_freely(c, err);
    }
    if (rc == 0 && (all || c->changed.count > 0)) {
        rc = changelog_query_list(c, all ? NULL : d, after, err);
    }
    if (rc < 0) {
        return rc;
    }
    c->keys_only = changelog_looks_ahead(c);
    changelog_query_reach_fan(c);
    return changelog_send_query(c, err);
}
