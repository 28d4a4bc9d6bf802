/* SPDX-License-Identifier: Apache-2.0 */
/* Statements that list keys, and those that find keys not yet covered by a position. */
#include "rowferry/source/listing/listing.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "catalog/installed.h"
#include "changelog/position.h"
#include "cursor/cursor_position.h"
#include "pg/pg_private.h"
#include "rowferry/source/catalog/keytext.h"
#include "rows/keyarrays.h"
#include "rows/rowsql.h"
#include "sql/sqlquote.h"

#define SQL_MAX_BYTES ((size_t)1 << 20)
#define ARRAY_MAX_BYTES ((size_t)16 << 20)
#define SAMPLED_LEAST                                                                              \
    100 /* times the sample size: from this number of rows on, random rows are drawn first */

struct listing {
    struct pg *pg;
    struct listing_options options;
    struct table *table;
    struct rowsql sql;
    struct buf where; /* both conditions */
    struct installed installed;
    struct buf depended; /* captures of the dependencies, as an array; empty: none */
};

/* Puts the conditions on separate lines, so that a comment at the end of one cannot hide what
 * follows. */
static void listing_join_conditions(struct listing *l)
{
    const struct listing_options *o = &l->options;
    const char *of_rows = o->query == NULL ? o->where : NULL;
    if (of_rows != NULL && o->only != NULL) {
        buf_printf(&l->where, "(\n%s\n) and (\n%s\n)", of_rows, o->only);
    } else if (of_rows != NULL || o->only != NULL) {
        buf_push_text(&l->where, of_rows != NULL ? of_rows : o->only);
    }
}

static int listing_find_captures(struct listing *l, struct err *err)
{
    const struct listing_options *o = &l->options;
    int rc = 0;
    if (capture_traits(o->capture)->installs) {
        rc = installed_look(l->pg, l->table, &l->installed, NULL, err);
    }
    for (size_t i = 0; i < o->dependency_count && rc == 0; i++) {
        struct table *other = NULL;
        struct installed found = {0};
        rc = depend_of_query(l->pg, &other, &o->dependencies[i], err);
        if (rc == 0) {
            rc = installed_look(l->pg, other, &found, NULL, err);
        }
        buf_printf(&l->depended, "%s%s", i > 0 ? "," : "{", found.capture);
        catalog_table_free(other);
    }
    buf_push_text(&l->depended, o->dependency_count > 0 ? "}" : "");
    return rc;
}

static int listing_prepare(struct listing *l, struct err *err)
{
    const struct listing_options *o = &l->options;
    int rc = catalog_table(l->pg, &l->table, o->table, o->key, o->key_count, err);
    listing_join_conditions(l);
    if (rc == 0) {
        struct rowsql_input in = {.table = l->table,
                                  .where = l->where.len > 0 ? buf_text(&l->where) : NULL};
        rc = rowsql_build(&l->sql, &in, err);
    }
    return rc == 0 ? listing_find_captures(l, err) : rc;
}

int listing_open(struct listing **out, struct pg *pg, const struct listing_options *options,
                 struct err *err)
{
    struct listing *l = mem_zero(1, sizeof(*l));
    l->pg = pg;
    l->options = *options;
    buf_init(&l->where, SQL_MAX_BYTES);
    buf_init(&l->depended, SQL_MAX_BYTES);
    int rc = listing_prepare(l, err);
    if (rc < 0) {
        listing_free(l);
        return rc;
    }
    *out = l;
    return 0;
}

void listing_free(struct listing *l)
{
    if (l != NULL) {
        rowsql_release(&l->sql);
        catalog_table_free(l->table);
        buf_release(&l->where);
        buf_release(&l->depended);
        pg_close(l->pg);
        free(l);
    }
}

int64_t listing_estimated_rows(const struct listing *l)
{
    return l->table->estimated_rows;
}

/* --- pages ------------------------------------------------------------------------------------ */

/* A page begins after the key `after`, so that key cannot be in it. */
static int listing_expect_later(const struct pg_result *r, struct span after, struct err *err)
{
    int rc = 0;
    for (size_t i = 0; after.data != NULL && rc == 0 && i < pg_rows(r); i++) {
        rc = keytext_expect_later(after.data, pg_text(r, i, 0), err);
    }
    return rc;
}

static void listing_report_rows(const struct pg_result *r, listing_each each, void *context)
{
    for (size_t i = 0; i < pg_rows(r); i++) {
        const char *key = pg_text(r, i, 0);
        if (key != NULL) {
            each(context, span_make(key, strlen(key)));
        }
    }
}

/* limit: of the statement; 0: none. */
static int listing_ask(struct listing *l, const char *sql, const char *const *params, size_t count,
                       struct span after, size_t limit, listing_each each, void *context,
                       struct err *err)
{
    struct pg_result *r = NULL;
    int rc = pg_query(l->pg, &r, "any: text?", sql, params, count, err);
    if (rc == 0 && limit > 0 && pg_rows(r) > limit) {
        rc = err_set(err, ERR_TRANSIENT, "the source gave more keys than it was asked for");
    }
    if (rc == 0) {
        rc = listing_expect_later(r, after, err);
    }
    if (rc == 0) {
        listing_report_rows(r, each, context);
    }
    pg_result_release(r);
    return rc < 0 ? err_context(err, "could not list keys of %s", l->table->quoted) : 0;
}

int listing_next(struct listing *l, struct span after, size_t limit, listing_each each,
                 void *context, struct err *err)
{
    char most[24];
    struct buf parts;
    size_t offsets[KEY_MAX_PARTS];
    const char *params[KEY_MAX_PARTS + 1];
    size_t count = after.data != NULL ? l->table->key_count : 0;
    int rc = 0;
    buf_init(&parts, ARRAY_MAX_BYTES);
    snprintf(most, sizeof(most), "%zu", limit);
    if (count > 0) {
        rc = key_split(&parts, offsets, after.data, after.len, count, err);
    }
    for (size_t i = 0; i < count && rc == 0; i++) {
        params[i] = buf_text(&parts) + offsets[i];
    }
    params[count] = most;
    if (rc == 0) {
        rc = listing_ask(l, l->sql.range[count > 0 ? ROWSQL_AFTER : ROWSQL_FIRST][0], params,
                         count + 1, after, limit, each, context, err);
    }
    buf_release(&parts);
    return rc;
}

/* Draws three times the wanted rows from a large table first, to avoid sorting all of it. */
static void listing_push_chance(const struct listing *l, size_t count, struct buf *sql)
{
    const struct table *t = l->table;
    double rows = (double)t->estimated_rows;
    bool drawn = l->where.len == 0 && rows > SAMPLED_LEAST * (double)count;
    if (drawn) {
        buf_printf(sql, " tablesample bernoulli (%.9f)", 300 * (double)(count + 10) / rows);
    }
}

int listing_sample(struct listing *l, size_t count, listing_each each, void *context,
                   struct err *err)
{
    struct buf sql;
    const struct table *t = l->table;
    buf_init(&sql, SQL_MAX_BYTES);
    buf_push_literal(&sql, "select ");
    keytext_push(&sql, "t", t);
    buf_push_literal(&sql, "\n  from ");
    query_push_table(&sql, t);
    listing_push_chance(l, count, &sql);
    if (l->where.len > 0) {
        buf_printf(&sql, "\n where (\n%s\n)", buf_text(&l->where));
    }
    buf_printf(&sql, "\n order by random() limit %zu", count);
    int rc = listing_ask(l, buf_text(&sql), NULL, 0, span_make(NULL, 0), count, each, context, err);
    buf_release(&sql);
    return rc;
}

int listing_count(struct listing *l, int64_t *rows, struct err *err)
{
    struct buf sql;
    struct pg_result *r = NULL;
    const struct table *t = l->table;
    buf_init(&sql, SQL_MAX_BYTES);
    buf_push_literal(&sql, "select count(*)\n  from ");
    query_push_table(&sql, t);
    buf_push_literal(&sql, "\n where ");
    keytext_push_columns(&sql, t, " is not null", " and ");
    if (l->where.len > 0) {
        buf_printf(&sql, " and (\n%s\n)", buf_text(&l->where));
    }
    int rc = pg_query(l->pg, &r, "one: int", buf_text(&sql), NULL, 0, err);
    if (rc == 0) {
        *rows = pg_int(r, 0, 0);
    }
    pg_result_release(r);
    buf_release(&sql);
    return rc < 0 ? err_context(err, "could not count the rows of %s", t->quoted) : 0;
}

int listing_possible(struct listing *l, struct span key, bool *possible, struct err *err)
{
    return keytext_possible(l->pg, l->table, key, possible, err);
}

/* Pushes the expression of a key's text over a row that consists of the key only. */
static void listing_push_text_of(const struct listing *l, struct buf *sql)
{
    const struct table *t = l->table;
    buf_push_literal(sql, "select ");
    keytext_push(sql, "t", t);
    for (size_t i = 0; i < t->key_count; i++) {
        buf_printf(sql, "%s$%zu::%s as ", i > 0 ? ", " : " from (select ", i + 1, t->key_types[i]);
        sqlquote_identifier(sql, t->key[i]);
    }
    buf_push_literal(sql, ") t");
}

int listing_text(struct listing *l, struct span key, struct buf *out, bool *possible,
                 struct err *err)
{
    struct buf sql;
    struct buf parts;
    struct pg_result *r = NULL;
    size_t offsets[KEY_MAX_PARTS];
    const char *params[KEY_MAX_PARTS];
    size_t count = l->table->key_count;
    int rc = listing_possible(l, key, possible, err);
    if (rc < 0 || !*possible) {
        return rc;
    }
    buf_init(&sql, SQL_MAX_BYTES);
    buf_init(&parts, ARRAY_MAX_BYTES);
    rc = key_split(&parts, offsets, key.data, key.len, count, err);
    for (size_t i = 0; i < count && rc == 0; i++) {
        params[i] = buf_text(&parts) + offsets[i];
    }
    if (rc == 0) {
        listing_push_text_of(l, &sql);
    }
    if (rc == 0) {
        rc = pg_query(l->pg, &r, "one: text", buf_text(&sql), params, count, err);
    }
    if (rc == 0) {
        buf_push_text(out, pg_text(r, 0, 0));
    }
    pg_result_release(r);
    buf_release(&sql);
    buf_release(&parts);
    return rc;
}

/* --- unsettled keys -------------------------------------------------------------------------- */

static int listing_look_depended(struct listing *l, const char *last, bool *all, struct err *err)
{
    struct pg_result *r = NULL;
    if (l->depended.len == 0) {
        return 0;
    }
    int rc = pg_ask(l->pg, &r, "page_due", PG_PARAMS(buf_text(&l->depended), last, NULL), err);
    *all = *all || (rc == 0 && pg_rows(r) > 0 && pg_text(r, 0, 0) != NULL);
    pg_result_release(r);
    return rc;
}

static int listing_look_log(struct listing *l, const char *last, const char *keys,
                            listing_each each, void *context, bool *all, struct err *err)
{
    struct pg_result *r = NULL;
    int rc =
        pg_ask(l->pg, &r, "listing_unsettled", PG_PARAMS(l->installed.capture, last, keys), err);
    for (size_t i = 0; rc == 0 && i < pg_rows(r); i++) {
        *all = *all || pg_text(r, i, 0) == NULL;
    }
    if (rc == 0) {
        listing_report_rows(r, each, context);
    }
    pg_result_release(r);
    return rc == 0 ? listing_look_depended(l, last, all, err) : rc;
}

static int listing_unsettled_in_log(struct listing *l, const char *position,
                                    const struct span *keys, size_t count, listing_each each,
                                    void *context, bool *all, struct err *err)
{
    struct position p = {0};
    struct buf array;
    int rc = position_parse(&p, position, err);
    buf_init(&array, ARRAY_MAX_BYTES);
    buf_push_char(&array, '{');
    for (size_t i = 0; i < count; i++) {
        char *key = text_copy_span(keys[i]);
        buf_push_text(&array, i > 0 ? "," : "");
        sqlquote_item(&array, key);
        free(key);
    }
    buf_push_char(&array, '}');
    *all = rc == 0 && p.kind != POSITION_LOG;
    if (rc == 0 && !*all) {
        rc = listing_look_log(l, p.last, buf_text(&array), each, context, all, err);
    }
    position_release(&p);
    buf_release(&array);
    return rc;
}

/* Many rows may have the same value, for example after one statement. Then the key decides which of
 * them were read. If its operators are not PostgreSQL's own, all of them count as unsettled. */
static int listing_push_ties(struct listing *l, struct buf *sql, const struct cursor_position *p,
                             struct err *err)
{
    struct buf parts;
    size_t offsets[KEY_MAX_PARTS];
    const struct table *t = l->table;
    const char *key = p->key != NULL ? p->key : "";
    buf_init(&parts, ARRAY_MAX_BYTES);
    int rc = key_split(&parts, offsets, key, strlen(key), t->key_count, err);
    for (int side = 0; side < 2; side++) {
        buf_push_text(sql, side == 0 ? "row(" : ") > row(");
        for (size_t i = 0; i < t->key_count && rc == 0; i++) {
            buf_push_text(sql, i > 0 ? ", " : "");
            if (side == 0) {
                buf_push_literal(sql, "t.");
                sqlquote_identifier(sql, t->key[i]);
                continue;
            }
            sqlquote_literal(sql, buf_text(&parts) + offsets[i]);
            buf_printf(sql, "::%s", t->key_types[i]);
        }
    }
    buf_push_char(sql, ')');
    buf_release(&parts);
    return rc;
}

/* Compares the cursor's column with the position's value. */
static void listing_push_compared(struct listing *l, struct buf *sql, const char *how,
                                  const struct cursor_position *p)
{
    buf_push_literal(sql, "t.");
    sqlquote_identifier(sql, l->options.cursor);
    buf_push_text(sql, how);
    sqlquote_literal(sql, p->value);
}

static int listing_push_later(struct listing *l, struct buf *sql, const struct cursor_position *p,
                              struct err *err)
{
    bool ties = catalog_key_has_own_operators(l->table);
    buf_push_literal(sql, "(");
    int rc = 0;
    listing_push_compared(l, sql, ties ? " > " : " >= ", p);
    if (ties) {
        buf_push_literal(sql, " or (");
        listing_push_compared(l, sql, " = ", p);
        buf_push_literal(sql, " and ");
        rc = listing_push_ties(l, sql, p, err);
        buf_push_literal(sql, ")");
    }
    buf_push_literal(sql, " or t.");
    sqlquote_identifier(sql, l->options.cursor);
    buf_push_literal(sql, " is null)");
    return rc;
}

static int listing_present_later(struct listing *l, const struct cursor_position *p,
                                 const struct keyset *keys, listing_each each, void *context,
                                 struct err *err)
{
    struct rowsql sql = {0};
    struct keyarrays a;
    struct buf where;
    buf_init(&where, SQL_MAX_BYTES);
    int rc = listing_push_later(l, &where, p, err);
    struct rowsql_input in = {.table = l->table, .where = buf_text(&where)};
    if (rc == 0) {
        rc = rowsql_build(&sql, &in, err);
    }
    if (rc == 0) {
        rc = keyarrays_make(&a, keys, 0, keys->count, l->table->key_count, err);
        if (rc == 0) {
            rc = listing_ask(l, sql.present, a.params, a.count, span_make(NULL, 0), 0, each,
                             context, err);
        }
        keyarrays_release(&a);
    }
    rowsql_release(&sql);
    buf_release(&where);
    return rc;
}

static int listing_unsettled_by_cursor(struct listing *l, const char *position,
                                       const struct span *keys, size_t count, listing_each each,
                                       void *context, bool *all, struct err *err)
{
    struct cursor_position p = {0};
    struct keyset set;
    keyset_init(&set, ARRAY_MAX_BYTES);
    int rc = cursor_position_parse(&p, position, err);
    *all = rc == 0 && (p.copy || p.value == NULL);
    for (size_t i = 0; i < count && rc == 0; i++) {
        *all = *all || keyset_add(&set, keys[i]) == KEYSET_FULL;
    }
    if (rc == 0 && !*all) {
        rc = listing_present_later(l, &p, &set, each, context, err);
    }
    cursor_position_release(&p);
    keyset_release(&set);
    return rc;
}

int listing_unsettled(struct listing *l, const char *position, const struct span *keys,
                      size_t count, listing_each each, void *context, bool *all, struct err *err)
{
    static int (*const of_capture[CAPTURE_MODES])(
        struct listing *, const char *, const struct span *, size_t, listing_each, void *, bool *,
        struct err *) = {[CAPTURE_MODE_CHANGELOG] = listing_unsettled_in_log,
                         [CAPTURE_MODE_CURSOR] = listing_unsettled_by_cursor};
    return of_capture[l->options.capture](l, position, keys, count, each, context, all, err);
}
