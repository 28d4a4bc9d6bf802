/* SPDX-License-Identifier: Apache-2.0 */
/* The cursor as a capture: moves from page to page. */
#include "rowferry/source/cursor/cursor.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "cursor/cursor_private.h"
#include "rowferry/base/text.h"

#define POSITION_MAX_BYTES ((size_t)1 << 20)
#define KEYS_MAX_BYTES ((size_t)64 << 20)
#define PAGE_ROWS 5000
#define CHUNK_BYTES ((size_t)1 << 20)
#define SEEN_SLOTS 65536

static struct cursor *cursor_of(struct capture *capture)
{
    return (struct cursor *)capture;
}

struct rowsql_input cursor_rows(const struct cursor *c)
{
    return (struct rowsql_input){c->table, (const char *const *)c->options.columns,
                                 c->options.column_count, c->options.where,
                                 (const char *const *)c->options.zones};
}

static int cursor_require_kind(const struct table *t, struct err *err)
{
    if (t->persistence == 't') {
        return err_set(err, ERR_REJECTED, "%s is temporary: no other session has its rows",
                       t->quoted);
    }
    if (!t->key_not_null) {
        err_set(err, ERR_REJECTED, "the key of %s may be NULL, and a cursor needs its order",
                t->quoted);
        return err_hint(err, t->tree && t->kind == 'r'
                                 ? "the tables that inherit from it have keys of their own: give "
                                   "each a pipeline"
                                 : "add NOT NULL to the key's columns, or name others in from.key");
    }
    return 0;
}

int cursor_require(const struct table *table, const char *column, struct err *err)
{
    const struct column *c = row_columns_find(&table->columns, column);
    if (c == NULL) {
        return err_set(err, ERR_REJECTED, "table %s has no column \"%s\"", table->quoted, column);
    }
    if (cursor_sql_type(c) == NULL) {
        err_set(err, ERR_REJECTED, "column \"%s\" of %s is %s, which a cursor cannot follow",
                column, table->quoted, c->declared);
        return err_hint(err, "name a timestamptz column in from.capture.column; a timestamp, "
                             "bigint or integer gives a weaker guarantee");
    }
    return cursor_require_kind(table, err);
}

/* Looks up the table and builds the statements again. */
static int cursor_look_up(struct cursor *c, struct err *err)
{
    catalog_table_free(c->table);
    c->table = NULL;
    int rc = catalog_table(c->pg, &c->table, c->options.table, (const char *const *)c->options.key,
                           c->options.key_count, err);
    if (rc == 0) {
        rc = cursor_require(c->table, c->options.column, err);
    }
    if (rc == 0 && c->options.fingerprint != NULL &&
        strcmp(c->options.fingerprint, c->table->fingerprint) != 0) {
        rc = err_set(err, ERR_TRANSIENT, "the definition of %s was changed just now",
                     c->table->quoted);
    }
    if (rc == 0) {
        struct rowsql_input in = cursor_rows(c);
        rc = rowsql_build(&c->sql, &in, err);
    }
    return rc;
}

static int cursor_prepare_horizon(struct cursor *c, struct err *err)
{
    struct buf sql;
    struct cursor_look look;
    buf_init(&sql, POSITION_MAX_BYTES);
    horizon_release(&c->horizon);
    int rc = cursor_look(c->pg, c->table, c->options.column, &look, err);
    if (rc == 0) {
        cursor_sql_push_largest(&sql, c->table, c->options.column);
    }
    c->horizon.pg = c->pg;
    c->horizon.timed = look.timed;
    c->horizon.largest_sql = rc == 0 ? buf_detach(&sql) : NULL;
    buf_release(&sql);
    return rc;
}

/* Resets all state, because rows delivered earlier may not have been settled. */
static int cursor_prepare(struct cursor *c, struct err *err)
{
    int rc = pg_recover(c->pg, err);
    c->stage = CURSOR_CLOSED;
    reader_release(&c->reader);
    c->reader.pg = c->pg;
    dedup_cache_reset(&c->seen);
    cursor_position_release(&c->position.ahead);
    cursor_position_release(&c->prescan.looked);
    c->prescan.told_gone = 0;
    c->prescan.state = CURSOR_PRESCAN_NONE;
    if (rc == 0) {
        rc = cursor_look_up(c, err);
    }
    return rc == 0 ? cursor_prepare_horizon(c, err) : rc;
}

/* Records the current horizon as `until`: below it nothing is delivered before the initial load has
 * read it. */
static int cursor_start(struct capture *capture, struct buf *position, struct err *err)
{
    struct cursor *c = cursor_of(capture);
    int rc = cursor_prepare(c, err);
    if (rc == 0) {
        rc = horizon_look(&c->horizon, err);
    }
    if (rc == 0) {
        const struct column *column = row_columns_find(&c->table->columns, c->options.column);
        cursor_position_release(&c->position.at);
        c->position.at.copy = true;
        c->position.at.table = c->table->oid;
        c->position.at.nulls = !column->not_null;
        c->position.at.until = c->horizon.value != NULL ? text_copy(c->horizon.value) : NULL;
        c->rows_read = 0;
        cursor_position_print(position, &c->position.at);
    }
    return rc;
}

static int cursor_resume(struct capture *capture, const char *position, struct err *err)
{
    struct cursor *c = cursor_of(capture);
    int rc = cursor_position_parse(&c->position.at, position, err);
    if (rc == 0) {
        rc = cursor_prepare(c, err);
    }
    if (rc == 0) {
        rc = position_check_table(c->position.at.table, c->table->oid, c->table->quoted, err);
        c->position.at.table = c->table->oid;
    }
    return rc;
}

/* Checks the whole definition, because a condition may use any column. */
static int cursor_look_at_table(struct cursor *c, struct err *err)
{
    const struct table *t = c->table;
    struct page_request request = {.table = t};
    int rc = page_open(&c->page.opened, c->pg, &request, err);
    if (rc == 0 && !c->page.opened.look.same_table) {
        err_set(err, ERR_STATE, "table %s was re-created or renamed", t->quoted);
        rc = err_drift(err);
    }
    if (rc == 0) {
        struct drift drift = {.was = t->definition,
                              .is = c->page.opened.look.definition,
                              .columns = (const char *const *)c->options.columns,
                              .column_count = c->options.column_count};
        rc = catalog_drift(t, &drift, err);
    }
    return rc;
}

static void cursor_clear_page(struct cursor *c)
{
    page_look_release(&c->page.opened.look);
    keyset_reset(&c->request.keys);
    c->request.gone = 0;
    c->page.chunk_read = 0;
    c->page.drained = false;
    c->page.copying = false;
    c->prescan.looking = false;
    c->request.reread = false;
}

static int cursor_begin(struct capture *capture, struct err *err)
{
    struct cursor *c = cursor_of(capture);
    assert(c->stage == CURSOR_CLOSED);
    cursor_clear_page(c);
    int rc = horizon_look(&c->horizon, err);
    if (rc == 0) {
        rc = cursor_look_at_table(c, err);
    }
    if (rc == 0) {
        c->prescan.looking = c->prescan.state == CURSOR_PRESCAN_DUE;
        rc = c->prescan.looking ? cursor_send_look(c, err) : cursor_send_first(c, err);
    }
    return rc;
}

int cursor_ask(struct cursor *c, struct err *err)
{
    int rc = cursor_look_at_table(c, err);
    if (rc == 0 && c->request.only_gone) {
        rc = key_existence_plan(c->pg, err);
    }
    return rc == 0 ? cursor_send_asked(c, err) : rc;
}

static int cursor_begin_keys(struct capture *capture, const struct span *keys, size_t count,
                             bool only_gone, struct err *err)
{
    struct cursor *c = cursor_of(capture);
    assert(c->stage == CURSOR_CLOSED);
    cursor_clear_page(c);
    c->request.only_gone = only_gone;
    c->request.presence.way = KEY_EXISTENCE_COUNT;
    for (size_t i = 0; i < count; i++) {
        if (keyset_add(&c->request.keys, keys[i]) == KEYSET_FULL) {
            return err_set(err, ERR_REJECTED, "the keys to be read again are too long");
        }
    }
    int rc = c->table == NULL ? cursor_prepare(c, err) : 0;
    return rc == 0 ? cursor_ask(c, err) : rc;
}

static int cursor_fd(const struct capture *capture)
{
    return PQsocket(((const struct cursor *)capture)->pg->conn);
}

static void cursor_progress(const struct capture *capture, struct capture_progress *out)
{
    const struct cursor *c = (const struct cursor *)capture;
    int64_t rows = c->table != NULL ? c->table->estimated_rows : -1;
    *out = (struct capture_progress){rows, c->rows_read, 1};
    if (c->position.at.copy) {
        out->share = rows > c->rows_read ? (double)c->rows_read / (double)rows : 0;
    }
}

/* The cursor keeps nothing in the source. */
static int cursor_release(struct capture *capture, const struct mirror *mirror, bool now,
                          struct err *err)
{
    (void)capture;
    (void)mirror;
    (void)now;
    (void)err;
    return 0;
}

static int cursor_forget(struct capture *capture, const char *consumer, struct err *err)
{
    (void)capture;
    (void)consumer;
    (void)err;
    return 0;
}

static int cursor_hold(struct capture *capture, struct xmin_holder *out, struct err *err)
{
    struct cursor *c = cursor_of(capture);
    return xmin_holders_look(&c->holds, c->pg, false, out, err);
}

static void cursor_free(struct capture *capture)
{
    struct cursor *c = cursor_of(capture);
    reader_release(&c->reader);
    rowsql_release(&c->sql);
    horizon_release(&c->horizon);
    dedup_cache_release(&c->seen);
    keyset_release(&c->request.keys);
    page_look_release(&c->page.opened.look);
    cursor_position_release(&c->position.at);
    cursor_position_release(&c->position.ahead);
    cursor_position_release(&c->prescan.looked);
    cursor_position_release(&c->position.reached);
    buf_release(&c->position.reached_text);
    catalog_table_free(c->table);
    text_free_list(c->options.key, c->options.key_count);
    text_free_list(c->options.columns, c->options.column_count);
    text_free_list(c->options.zones, c->options.column_count);
    free(c->options.table);
    free(c->options.column);
    free(c->options.where);
    free(c->options.fingerprint);
    pg_close(c->pg);
    free(c);
}

int cursor_open(struct capture **out, struct pg *pg, const struct cursor_options *o,
                struct err *err)
{
    static const struct capture_ops ops = {.start = cursor_start,
                                           .resume = cursor_resume,
                                           .begin = cursor_begin,
                                           .begin_keys = cursor_begin_keys,
                                           .next = cursor_next,
                                           .fd = cursor_fd,
                                           .progress = cursor_progress,
                                           .release = cursor_release,
                                           .forget = cursor_forget,
                                           .free = cursor_free,
                                           .hold = cursor_hold};
    (void)err;
    struct cursor *c = mem_zero(1, sizeof(*c));
    c->capture.ops = &ops;
    c->pg = pg;
    c->options.table = text_copy(o->table);
    c->options.key = text_copy_list(o->key, o->key_count);
    c->options.key_count = o->key_count;
    c->options.column = text_copy(o->column);
    c->options.where = o->where != NULL ? text_copy(o->where) : NULL;
    c->options.columns = text_copy_list(o->columns, o->column_count);
    c->options.column_count = o->column_count;
    c->options.zones = o->zones != NULL ? text_copy_list(o->zones, o->column_count) : NULL;
    c->options.fingerprint = o->fingerprint != NULL ? text_copy(o->fingerprint) : NULL;
    c->horizon.overlap_ms = o->overlap_ms;
    c->options.page_rows = o->page_rows > 0 ? o->page_rows : PAGE_ROWS;
    c->options.chunk_bytes = o->chunk_bytes > 0 ? o->chunk_bytes : CHUNK_BYTES;
    dedup_cache_init(&c->seen, o->seen_slots > 0 ? o->seen_slots : SEEN_SLOTS);
    keyset_init(&c->request.keys, KEYS_MAX_BYTES);
    buf_init(&c->position.reached_text, POSITION_MAX_BYTES);
    *out = &c->capture;
    return 0;
}

/* --- for check ------------------------------------------------------------------------------- */

int cursor_look(struct pg *pg, const struct table *table, const char *column,
                struct cursor_look *out, struct err *err)
{
    static const struct pg_member members[] = {
        PG_MEMBER(struct cursor_look, not_null),    PG_MEMBER(struct cursor_look, indexed),
        PG_MEMBER(struct cursor_look, privileged),  PG_MEMBER(struct cursor_look, tracked),
        PG_MEMBER(struct cursor_look, in_recovery), PG_MEMBER(struct cursor_look, prepared),
        PG_MEMBER(struct cursor_look, subscribed),  {0}};
    struct pg_result *r = NULL;
    *out = (struct cursor_look){0};
    int rc = pg_ask(pg, &r, "cursor_column", PG_PARAMS(PG_INT(table->oid), column), err);
    if (rc == 0 && pg_rows(r) > 0) {
        const struct column *c = row_columns_find(&table->columns, column);
        pg_read_row(r, 0, 0, members, out);
        out->timed = strcmp(c->type, "timestamptz") == 0 && !out->subscribed;
    }
    pg_result_release(r);
    return rc;
}
