/* SPDX-License-Identifier: Apache-2.0 */
/* The keys of a page of the log or of a query, and where such a page ends. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "changelog/changelog_page.h"
#include "pg/pg_private.h"
#include "rowferry/base/text.h"
#include "rows/keyarrays.h"

#define PARTS_MAX_BYTES ((size_t)256 << 20)

/* --- listing ------------------------------------------------------------------------------- */

/* A short result, like that of the log: at most a page of keys. */
static int changelog_list_take_keys(struct changelog_page *p, const char *sql,
                                    const char *const *params, const Oid *types, size_t param_count,
                                    struct err *err)
{
    PGresult *r;
    int rc = pg_exec(p->catalogue->pg, &r, "any: text", sql, types, params, param_count, err);
    int count = rc == 0 ? PQntuples(r) : 0;
    if ((size_t)count > p->options->page_rows) {
        rc = err_set(err, ERR_TRANSIENT, "the source gave more keys than it was asked for");
    }
    for (int i = 0; i < count && rc == 0; i++) {
        struct span key = span_make(PQgetvalue(r, i, 0), (size_t)PQgetlength(r, i, 0));
        if (keyset_add(&p->keys.set, key) == KEYSET_FULL) {
            rc = err_set(err, ERR_REJECTED, "the keys of one page are too long");
        }
    }
    PQclear(r);
    return rc < 0 ? err_context(err, "could not list the keys of %s", p->catalogue->table->quoted)
                  : 0;
}

/* Lists the next page of the table's keys in the range of the initial load. */
static int changelog_list_range(struct changelog_page *p, struct err *err)
{
    struct range_query q;
    int rc = changelog_chunk_range_query(&q, p, err);
    if (rc == 0) {
        rc = changelog_list_take_keys(p, q.sql, q.params, NULL, q.count, err);
    }
    buf_release(&q.parts);
    return rc;
}

/* Lists the keys after fan_after that the dependency's keys query finds for the changed values, or
 * all if d is null. */
static int changelog_list_changed(struct changelog_page *p, const struct depend *d, struct err *err)
{
    char limit[24];
    struct buf parts;
    struct keyarrays arrays = {.count = 0};
    size_t offsets[KEY_MAX_PARTS] = {0};
    const char *params[2 * KEY_MAX_PARTS + 1];
    Oid types[2 * KEY_MAX_PARTS + 1] = {0}; /* where the server could not infer them */
    const char *after = p->position->fan_after;
    const struct rowsql *sql = &p->catalogue->sql;
    const struct rowsql_keys all = {sql->range[ROWSQL_FIRST][0], sql->range[ROWSQL_AFTER][0]};
    const struct rowsql_keys *from = d != NULL ? &d->sql : &all;
    size_t after_parts = after != NULL ? p->catalogue->table->key_count : 0;
    size_t count = 0;
    int rc = 0;
    buf_init(&parts, PARTS_MAX_BYTES);
    if (d != NULL) {
        rc = keyarrays_make(&arrays, &p->keys.changed, 0, p->keys.changed.count,
                            d->table->key_count, err);
    }
    for (; count < arrays.count; count++) {
        types[count] = d->array_types[count];
        params[count] = arrays.params[count];
    }
    if (rc == 0 && after_parts > 0) {
        rc = key_split(&parts, offsets, after, strlen(after), after_parts, err);
    }
    for (size_t i = 0; i < after_parts && rc == 0; i++) {
        params[count++] = buf_text(&parts) + offsets[i];
    }
    snprintf(limit, sizeof(limit), "%zu", p->options->page_rows);
    params[count++] = limit;
    if (rc == 0) {
        rc = changelog_list_take_keys(p, after_parts > 0 ? from->after : from->first, params, types,
                                      count, err);
    }
    keyarrays_release(&arrays);
    buf_release(&parts);
    return rc;
}

static bool changelog_list_is_full(const struct changelog_page *p)
{
    return p->keys.set.count == p->options->page_rows;
}

static const char *changelog_list_last(const struct changelog_page *p)
{
    return keyset_get(&p->keys.set, p->keys.set.count - 1).data;
}

/* --- pages --------------------------------------------------------------------------------- */

/* The session disables sorts and bitmap scans, because log and tables are read in index order. A
 * query may need them. A search for a few keys would otherwise read all of that index. */
static int changelog_list_plan_freely(const struct changelog_page *p, struct err *err)
{
    return pg_script(p->catalogue->pg,
                     "set local enable_sort = on; set local enable_bitmapscan = on", err);
}

int changelog_list_send(struct changelog_page *p, struct err *err)
{
    bool reads = p->keys.set.count > 0 || p->page.stretch.null_keys;
    int rc = 0;
    if (p->options->query != NULL && reads) {
        rc = changelog_list_plan_freely(p, err);
    } else if (p->content == CONTENT_GONE && reads) {
        rc = key_existence_plan(p->catalogue->pg, err);
    }
    return rc == 0 ? changelog_chunk_begin_keys(p, err) : rc;
}

int changelog_list_begin(struct changelog_page *p, struct err *err)
{
    int rc = changelog_list_range(p, err);
    if (rc == 0 && changelog_list_is_full(p)) {
        rc = changelog_chunk_reach_key(p, changelog_list_last(p), err);
    } else if (rc == 0) {
        changelog_chunk_reach_log(p);
    }
    return rc == 0 ? changelog_list_send(p, err) : rc;
}

int changelog_list_fan(struct changelog_page *p, struct err *err)
{
    struct depend *d = depend_find(&p->catalogue->depends, p->position->at.of);
    bool all = p->page.stretch.truncated;
    p->page.stretch.null_keys = false;
    d->consumer.keeps = true;
    int rc = all ? 0 : changelog_list_plan_freely(p, err);
    if (rc == 0 && (all || p->keys.changed.count > 0)) {
        rc = changelog_list_changed(p, all ? NULL : d, err);
    }
    return rc;
}

/* --- ends of pages ------------------------------------------------------------------------- */

void changelog_list_place(const struct changelog_page *p, struct page_place place,
                          struct position *out)
{
    const struct position *at = &p->position->at;
    position_release(out);
    *out = (struct position){.kind = POSITION_LOG,
                             .last = text_copy(at->last),
                             .target =
                                 text_copy(at->target != NULL ? at->target : p->page.look.snapshot),
                             .part = place.part,
                             .after_xid = place.xid,
                             .after_seq = place.seq,
                             .of = at->of};
}

/* Sets the end of the stretch, or the beginning of the next capture's entries in it. */
static void changelog_list_leave_capture(struct changelog_page *p)
{
    struct position *end = &p->end;
    changelog_list_place(p, (struct page_place){.part = 1}, end);
    end->of = p->page.stretch.due;
    if (end->of == 0) {
        free(end->last);
        end->last = end->target;
        end->target = NULL;
    }
}

/* A stretch without entries moves the position only if the source can then prune entries. Otherwise
 * every idle poll would be a new checkpoint, and its backup a new transaction to be read. */
static bool changelog_list_moves(const struct changelog_page *p)
{
    struct snapshot last;
    struct snapshot target;
    if (p->page.stretch.taken > 0 || p->page.stretch.due > 0 || p->position->at.target != NULL) {
        return true;
    }
    position_snapshot_parse(&last, p->position->at.last);
    position_snapshot_parse(&target, p->page.look.snapshot);
    return catalogue_facts(p->catalogue).keeps && target.xmin > last.xmin;
}

void changelog_list_reach_log(struct changelog_page *p)
{
    const struct page_stretch *w = &p->page.stretch;
    if (w->full) {
        changelog_list_place(p, (struct page_place){w->part, w->after_xid, w->after_seq}, &p->end);
    } else if (changelog_list_moves(p)) {
        changelog_list_leave_capture(p);
    } else {
        changelog_chunk_reach_log(p);
    }
    p->catalogue->consumer.keeps = p->catalogue->consumer.keeps || w->taken > 0;
}

/* The part of the entries is complete when the last of their keys were listed. */
void changelog_list_reach_fan(struct changelog_page *p)
{
    const struct page_stretch *w = &p->page.stretch;
    free(p->position->fan_after);
    p->position->fan_after = NULL;
    if (changelog_list_is_full(p)) {
        position_copy(&p->end, &p->position->at);
        p->position->fan_after = text_copy(changelog_list_last(p));
    } else if (w->full) {
        changelog_list_place(p, (struct page_place){w->part, w->after_xid, w->after_seq}, &p->end);
    } else {
        changelog_list_leave_capture(p);
    }
}
