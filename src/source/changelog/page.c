/* SPDX-License-Identifier: Apache-2.0 */
/* The beginning of a page. */
#include "changelog/page.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pg/pg_private.h"
#include "pg/pg_shape.h"
#include "pg/pg_wait.h"
#include "rowferry/base/embed.h"
#include "rowferry/base/text.h"
#include "rowferry/base/units.h"
#include "rowferry/document/model/key.h"

#define SQL_MAX_BYTES ((size_t)2 << 20)
#define LOCK_NOT_AVAILABLE "55P03"
#define KEYS_BYTES ((size_t)4 << 20)       /* a page with longer keys ends earlier */
#define PAGE_MAX_BYTES ((uint64_t)1 << 30) /* only one row at a time is in memory */

/* Operations of an entry other than "read the key again" (migrations/source). */
#define OP_TRUNCATED 'T'
#define DOTS "..."
#define OP_LONG 'L'      /* an existing row; the key is truncated, and too long for a document */
#define OP_LONG_GONE 'M' /* the same for a deleted row */
#define OP_ANYTHING 'A'  /* any row may have changed */

/* One statement of the pipeline and the receiver of its results. */
struct page_step {
    const char *sql;
    const char *const *params;
    int count;
    int (*take)(struct page *page, const PGresult *row, struct err *err); /* null: nothing */
    int part; /* of the stretch; 0: another statement */
    void (*look)(struct page_look *l, const PGresult *row); /* null: none */
    struct page_look *found;                                /* filled by look */
};

void page_look_release(struct page_look *l)
{
    free(l->snapshot);
    free(l->triggers);
    free(l->definition);
    free(l->versions);
    *l = (struct page_look){0};
}

static const char *page_field(const PGresult *r, int column)
{
    return PQgetisnull(r, 0, column) ? "" : PQgetvalue(r, 0, column);
}

static void page_take_look(struct page_look *l, const PGresult *r)
{
    free(l->snapshot);
    free(l->triggers);
    free(l->versions);
    l->snapshot = text_copy(page_field(r, 0));
    l->in_recovery = page_field(r, 1)[0] == 't';
    l->same_table = page_field(r, 2)[0] == 't';
    l->filenode = (uint32_t)strtoul(page_field(r, 3), NULL, 10);
    l->blocks = strtoull(page_field(r, 4), NULL, 10);
    l->triggers = text_copy(page_field(r, 5));
    l->versions = text_copy(page_field(r, 6));
}

static void page_take_definition(struct page_look *l, const PGresult *r)
{
    free(l->definition);
    l->definition = text_copy(page_field(r, 0));
}

/* Appends after the table's own lines. */
static void page_take_types(struct page_look *l, const PGresult *r)
{
    size_t len = strlen(l->definition);
    const char *types = page_field(r, 0);
    l->definition = mem_grow(l->definition, len + strlen(types) + 1, 1);
    memcpy(l->definition + len, types, strlen(types) + 1);
}

static int page_take_due(struct page *page, const PGresult *r, struct err *err)
{
    (void)err;
    page->stretch.due = strtoull(page_field(r, 0), NULL, 10);
    return 0;
}

static void page_push_place(struct places *p, struct page_place place)
{
    if (p->count == p->capacity) {
        p->capacity = p->capacity > 0 ? p->capacity * 2 : 64;
        p->items = mem_grow(p->items, p->capacity, sizeof(*p->items));
    }
    p->items[p->count++] = place;
}

/* Returns the key's text. A cut key ends with dots, because another row may have exactly its
 * beginning as a key. */
static struct span page_key_text(const PGresult *r, bool cut, char out[KEY_LONG_MAX_BYTES])
{
    struct span key = span_make(PQgetvalue(r, 0, 3), (size_t)PQgetlength(r, 0, 3));
    if (cut && key.len > KEY_MAX_BYTES && key.len + sizeof(DOTS) <= KEY_LONG_MAX_BYTES) {
        memcpy(out, key.data, key.len);
        memcpy(out + key.len, DOTS, sizeof(DOTS));
        key = span_make(out, key.len + sizeof(DOTS) - 1);
    }
    return key;
}

static int page_take_key(struct page_stretch *w, const PGresult *r, enum keyset_cut cut,
                         struct page_place before, struct err *err)
{
    char text[KEY_LONG_MAX_BYTES];
    if (PQgetisnull(r, 0, 3)) {
        w->null_keys = true;
        return 0;
    }
    struct span key = page_key_text(r, cut != KEYSET_WHOLE, text);
    switch (keyset_add(w->keys, key)) {
    case KEYSET_NEW:
        page_push_place(w->befores, before);
        break;
    case KEYSET_KNOWN:
        break;
    default:
        return err_set(err, ERR_REJECTED, "the change log holds a key of %zu bytes", key.len);
    }
    if (cut != KEYSET_WHOLE && key.len > KEY_MAX_BYTES) {
        keyset_set_cut(w->keys, key, cut);
    }
    return 0;
}

static int page_take_entry(struct page *page, const PGresult *r, struct err *err)
{
    struct page_stretch *w = &page->stretch;
    uint64_t xid = strtoull(page_field(r, 0), NULL, 10);
    int64_t seq = strtoll(page_field(r, 1), NULL, 10);
    if (w->full) {
        return 0;
    }
    if (xid < w->after_xid || (xid == w->after_xid && seq <= w->after_seq)) {
        return err_set(err, ERR_INTERNAL, "the change log was not read in its order");
    }
    if (w->taken > 0 && w->keys->bytes.len >= KEYS_BYTES) {
        w->full = true;
        return 0;
    }
    struct page_place before = {w->part, w->after_xid, w->after_seq};
    w->after_xid = xid;
    w->after_seq = seq;
    w->taken++;
    char op = page_field(r, 2)[0];
    bool cut = op == OP_LONG || op == OP_LONG_GONE;
    bool anything = op == OP_ANYTHING || (cut && w->recorded);
    bool unreadable = op == UNREADABLE_ENTRY;
    if (op == OP_TRUNCATED || ((anything || unreadable) && w->recorded)) {
        w->truncated = true;
        return 0;
    }
    if (anything || unreadable) {
        w->anything = w->anything || anything;
        w->unreadable = w->unreadable || unreadable;
        return 0;
    }
    return page_take_key(w, r,
                         op == OP_LONG        ? KEYSET_CUT_ROW
                         : op == OP_LONG_GONE ? KEYSET_CUT_GONE
                                              : KEYSET_WHOLE,
                         before, err);
}

/* Enters a part of the stretch. The second begins at its start, unless an earlier page got
 * further. */
static void page_enter_part(struct page_stretch *w, int part)
{
    if (part == 2 && w->part == 1 && !w->full) {
        w->part = 2;
        w->after_xid = 0;
        w->after_seq = 0;
    }
}

static int page_misshaped(struct pg *pg, const char *why, struct err *err)
{
    return pg_give_up(pg, err, "the source's answer does not have the expected form: %s", why);
}

/* Checks a row, or the end of a statement, and passes the row to its step. */
static int page_take(struct page *page, struct pg *pg, const struct page_step *step,
                     const PGresult *r, size_t *rows, struct err *err)
{
    char why[160];
    ExecStatusType status = PQresultStatus(r);
    const char *shape = pg_shape_of(step->sql);
    bool row = status == PGRES_SINGLE_TUPLE;
    if (status == PGRES_FATAL_ERROR || status == PGRES_PIPELINE_ABORTED) {
        return pg_fail(pg, r, err);
    }
    if (!row && status != PGRES_TUPLES_OK && status != PGRES_COMMAND_OK) {
        return page_misshaped(pg, "no rows", err);
    }
    if ((row || *rows == 0) && (step->part == 0 || row) &&
        !pg_shape_fits(shape != NULL ? shape : "none", r, why, sizeof(why))) {
        return page_misshaped(pg, why, err);
    }
    *rows += row;
    if (*rows > (step->part > 0 ? page->stretch.limit : 1)) {
        return page_misshaped(pg, "more rows", err);
    }
    if (row && step->look != NULL) {
        step->look(step->found, r);
    }
    return row && step->take != NULL ? step->take(page, r, err) : 0;
}

/* Takes all results of one statement, row by row. The first error is kept, the rest is drained. */
static int page_collect(struct page *page, struct pg *pg, const struct page_step *step, int rc,
                        struct err *err)
{
    size_t rows = 0;
    PGresult *r;
    struct err ignored;
    if (step->part > 0) {
        page_enter_part(&page->stretch, step->part);
    }
    if (PQsetSingleRowMode(pg->conn) == 0 && rc == 0) {
        rc = pg_fail(pg, NULL, err);
    }
    do {
        int taken = pg_take(pg, &r, rc == 0 ? err : &ignored);
        if (rc == 0) {
            rc = taken < 0 || r == NULL ? taken : page_take(page, pg, step, r, &rows, err);
        }
        PQclear(r);
    } while (r != NULL && pg->conn != NULL);
    if (step->part > 0 && rows == page->stretch.limit) {
        page->stretch.full = true;
    }
    return rc;
}

static int page_send_all(struct pg *pg, const struct page_step *steps, size_t count,
                         struct err *err)
{
    pg_wait_begin(pg, PAGE_MAX_BYTES);
    bool sent = PQenterPipelineMode(pg->conn) == 1;
    for (size_t i = 0; i < count && sent; i++) {
        sent = PQsendQueryParams(pg->conn, steps[i].sql, steps[i].count, NULL, steps[i].params,
                                 NULL, NULL, 0) == 1;
    }
    return sent && PQpipelineSync(pg->conn) == 1 ? pg_flush(pg, err) : pg_fail(pg, NULL, err);
}

static int page_run(struct page *page, struct pg *pg, const struct page_step *steps, size_t count,
                    struct err *err)
{
    int rc = page_send_all(pg, steps, count, err);
    if (rc < 0) {
        return rc;
    }
    for (size_t i = 0; i < count; i++) {
        rc = page_collect(page, pg, &steps[i], rc, err);
    }
    PGresult *sync = NULL;
    struct err ignored;
    int ended = pg_take(pg, &sync, rc == 0 ? err : &ignored);
    PQclear(sync);
    rc = rc == 0 ? ended : rc;
    if (PQexitPipelineMode(pg->conn) != 1 && rc == 0) {
        rc = pg_fail(pg, NULL, err);
    }
    return rc;
}

/* The entries' parameters, which differ between the parts only in the start. */
struct entry_params {
    char xid[24];
    char seq[24];
    char limit[24];
    const char *texts[2][6];
    struct buf waited; /* the statements */
    struct buf newer;
};

static void page_fill_params(struct entry_params *p, const struct page_request *request,
                             size_t limit)
{
    const struct position *at = request->at;
    unreadable_push_entries(&p->waited, request->unreadable, embed_text(source_sql, "page_waited"));
    unreadable_push_entries(&p->newer, request->unreadable, embed_text(source_sql, "page_newer"));
    snprintf(p->xid, sizeof(p->xid), "%" PRIu64, at->after_xid);
    snprintf(p->seq, sizeof(p->seq), "%" PRId64, at->after_seq);
    snprintf(p->limit, sizeof(p->limit), "%zu", limit);
    for (int part = 1; part <= 2; part++) {
        bool within = at->target != NULL && at->part == part;
        const char **params = p->texts[part - 1];
        params[0] = request->entries != NULL ? request->entries : request->capture;
        params[1] = at->last;
        params[2] = at->target;
        params[3] = within ? p->xid : "0";
        params[4] = within ? p->seq : "0";
        params[5] = p->limit;
    }
}

static size_t page_add_entries(struct page_step *steps, const struct page_request *request,
                               struct entry_params *params, struct page_stretch *w)
{
    const struct position *at = request->at;
    struct snapshot last = {0};
    size_t count = 0;
    page_fill_params(params, request, w->limit);
    w->part = at->target != NULL ? at->part : 1;
    w->after_xid = at->target != NULL ? at->after_xid : 0;
    w->after_seq = at->target != NULL ? at->after_seq : 0;
    position_snapshot_parse(&last, at->last);
    if (w->part == 1 && last.running > 0) {
        steps[count++] = (struct page_step){.sql = buf_text(&params->waited),
                                            .params = params->texts[0],
                                            .count = 6,
                                            .take = page_take_entry,
                                            .part = 1};
    }
    steps[count++] = (struct page_step){.sql = buf_text(&params->newer),
                                        .params = params->texts[1],
                                        .count = 6,
                                        .take = page_take_entry,
                                        .part = 2};
    return count;
}

void page_other_set(struct page_other *o, const struct table *table, const char *capture)
{
    o->table = table;
    o->capture = capture;
    snprintf(o->oid, sizeof(o->oid), "%" PRIu32, table->oid);
    o->look[0] = o->oid;
    o->look[1] = table->quoted;
    o->look[2] = capture;
    o->look[3] = NULL;
}

static struct page_step page_look_step(const char *name, const char *const *params, int count,
                                       void (*look)(struct page_look *, const PGresult *),
                                       struct page_look *found)
{
    return (struct page_step){.sql = embed_text(source_sql, name),
                              .params = params,
                              .count = count,
                              .look = look,
                              .found = found};
}

static size_t page_add_looks(struct page_step *steps, const struct page_request *request)
{
    size_t count = 0;
    for (size_t i = 0; i < request->other_count; i++) {
        struct page_other *o = request->others[i];
        steps[count++] = page_look_step("page_look", o->look, 4, page_take_look, &o->found);
        steps[count++] =
            page_look_step("table_definition", o->look, 1, page_take_definition, &o->found);
        if (o->types != NULL) {
            steps[count++] =
                page_look_step("table_types", &o->types, 1, page_take_types, &o->found);
        }
    }
    return count;
}

static void page_put_locker(const struct pg_result *r, struct err *err)
{
    char text[UNITS_BYTES];
    const char *application = pg_text(r, 0, 1);
    const char *role = pg_text(r, 0, 2);
    const char *state = pg_text(r, 0, 3);
    bool dated = pg_text(r, 0, 4) != NULL;
    err_context(err, "process %" PRId64 " (\"%.40s\"%s%.40s%s%.40s%s%s) has it locked",
                pg_int(r, 0, 0), application != NULL ? application : "", role != NULL ? " of " : "",
                role != NULL ? role : "", state != NULL ? ", " : "", state != NULL ? state : "",
                dated ? ", for " : "", dated ? units_duration(text, pg_int(r, 0, 4)) : "");
}

/* If err is a lock timeout, prefixes it with the process that has the table locked, if that can be
 * found out, and rolls back. */
static void page_name_locker(struct pg *pg, uint32_t table, struct err *err)
{
    struct err ignored;
    struct pg_result *r = NULL;
    if (strcmp(err->sqlstate, LOCK_NOT_AVAILABLE) != 0) {
        return;
    }
    int rc = pg_script(pg, "rollback", &ignored);
    if (rc == 0) {
        rc = pg_ask(pg, &r, "lock_holder", PG_PARAMS(PG_INT(table)), &ignored);
    }
    if (rc == 0 && pg_rows(r) > 0) {
        page_put_locker(r, err);
    }
    pg_result_release(r);
}

/* begin, two guards, lock, look, definition, types, two parts of the log, what is due, the guard's
 * end: and three for each other table */
#define STEPS_MOST 11

int page_open(struct page *out, struct pg *pg, const struct page_request *request, struct err *err)
{
    char oid[16];
    struct buf lock;
    struct entry_params entry_params;
    const struct table *t = request->table;
    struct page_step *steps = mem_zero(STEPS_MOST + 3 * request->other_count, sizeof(*steps));
    buf_init(&lock, SQL_MAX_BYTES);
    buf_init(&entry_params.waited, SQL_MAX_BYTES);
    buf_init(&entry_params.newer, SQL_MAX_BYTES);
    if (request->lock != NULL) {
        buf_push_text(&lock, request->lock);
    } else {
        buf_printf(&lock, "lock table %s%s in access share mode", t->tree ? "" : "only ",
                   t->quoted);
    }
    buf_push_text(&lock, request->nowait ? " nowait" : "");
    snprintf(oid, sizeof(oid), "%" PRIu32, t->oid);
    const char *const look[] = {oid, t->quoted, request->capture, request->columns};
    steps[0] = (struct page_step){.sql = "begin isolation level repeatable read read only"};
    steps[1] = (struct page_step){.sql = PG_GUARD_PATH};
    steps[2] = (struct page_step){.sql = PG_GUARD_ROWS};
    steps[3] = (struct page_step){.sql = buf_text(&lock)};
    steps[4] = request->capture != NULL
                   ? page_look_step("page_look", look, 4, page_take_look, &out->look)
                   : page_look_step("page_look_plain", look, 2, page_take_look, &out->look);
    steps[5] = page_look_step("table_definition", look, 1, page_take_definition, &out->look);
    size_t count = 6;
    if (request->types != NULL) {
        steps[count++] =
            page_look_step("table_types", &request->types, 1, page_take_types, &out->look);
    }
    count += page_add_looks(steps + count, request);
    if (request->at != NULL) {
        count += page_add_entries(steps + count, request, &entry_params, &out->stretch);
    }
    const char *const due[] = {request->due, request->at != NULL ? request->at->last : NULL,
                               request->at != NULL ? request->at->target : NULL};
    if (request->at != NULL && request->due != NULL) {
        steps[count++] = (struct page_step){.sql = embed_text(source_sql, "page_due"),
                                            .params = due,
                                            .count = 3,
                                            .take = page_take_due};
    }
    steps[count++] = (struct page_step){.sql = PG_GUARD_ROWS_END};
    int rc = request->capture != NULL ? pg_trust_log(pg, err) : 0;
    rc = rc == 0 ? page_run(out, pg, steps, count, err) : rc;
    buf_release(&lock);
    buf_release(&entry_params.waited);
    buf_release(&entry_params.newer);
    free(steps);
    if (rc < 0 && !request->nowait) {
        page_name_locker(pg, t->oid, err);
    }
    return rc < 0 ? err_context(err, "could not read %s", t->quoted) : 0;
}

int page_look_now(struct page_look *out, struct pg *pg, const struct page_request *request,
                  struct err *err)
{
    struct page page = {0};
    int rc = page_open(&page, pg, request, err);
    page_look_release(out);
    *out = page.look;
    return rc == 0 ? pg_script(pg, "commit", err) : rc;
}
