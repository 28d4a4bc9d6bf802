/* SPDX-License-Identifier: Apache-2.0 */
/* The statements that read rows. */
#include "rows/rowsql.h"

#include <stdlib.h>
#include <string.h>

#include "pg/pg_private.h"
#include "rowferry/base/buf.h"
#include "rowferry/base/text.h"
#include "rowferry/source/catalog/keytext.h"

#define SQL_MAX_BYTES ((size_t)1 << 20)

void rowsql_release(struct rowsql *s)
{
    free(s->blocks);
    for (size_t from = 0; from < 3; from++) {
        free(s->range[from][0]);
        free(s->range[from][1]);
    }
    free(s->nulls);
    free(s->again);
    free(s->present);
    free(s->texts);
    free(s->runs);
    free(s->runs_count);
    *s = (struct rowsql){0};
}

int rowsql_push_columns(struct pg *pg, struct buf *out, const struct rowsql_input *in,
                        struct err *err)
{
    for (size_t i = 0; i < in->column_count; i++) {
        if (row_columns_find(&in->table->columns, in->columns[i]) == NULL) {
            return err_set(err, ERR_REJECTED, "%s %s has no column \"%s\"",
                           in->table->query != NULL ? "the query of" : "table", in->table->quoted,
                           in->columns[i]);
        }
        buf_push_literal(out, ", t.");
        int rc = pg_push_identifier(pg, out, in->columns[i], err);
        if (rc < 0) {
            return rc;
        }
    }
    return 0;
}

static void rowsql_push_from(struct buf *out, const struct rowsql_input *in)
{
    buf_push_literal(out, "\n  from ");
    query_push_source(out, in->table);
    buf_push_literal(out, "\n where ");
    /* on separate lines, so that a comment at its end cannot hide what follows */
    if (in->where != NULL) {
        buf_push_literal(out, "(\n");
        buf_push_text(out, in->where);
        buf_push_literal(out, "\n) and ");
    }
}

static int rowsql_push_head(struct pg *pg, struct buf *out, const struct rowsql_input *in,
                            struct err *err)
{
    const struct table *t = in->table;
    buf_push_literal(out, "select ");
    int rc = keytext_push(pg, out, "t", t, err);
    if (rc == 0) {
        rc = rowsql_push_columns(pg, out, in, err);
    }
    rowsql_push_from(out, in);
    return rc;
}

/* Pushes a statement that lists the keys of the table only. */
static int rowsql_push_listing(struct pg *pg, struct buf *out, const struct table *t,
                               struct err *err)
{
    buf_push_literal(out, "select ");
    int rc = keytext_push(pg, out, "t", t, err);
    buf_printf(out, "\n  from %s%s t\n where ", t->tree ? "" : "only ", t->quoted);
    return rc;
}

static int rowsql_push_key_list(struct pg *pg, struct buf *out, const struct table *t,
                                const char *between, struct err *err)
{
    int rc = 0;
    for (size_t i = 0; i < t->key_count && rc == 0; i++) {
        buf_push_text(out, i > 0 ? between : "");
        buf_push_literal(out, "t.");
        rc = pg_push_identifier(pg, out, t->key[i], err);
    }
    return rc;
}

static int rowsql_push_operator(struct pg *pg, struct buf *out, const struct table *t, size_t part,
                                const char *symbol, struct err *err)
{
    buf_push_literal(out, " operator(");
    int rc = pg_push_identifier(pg, out, t->key_operators[part], err);
    buf_printf(out, ".%s) ", symbol);
    return rc;
}

static int rowsql_push_order(struct pg *pg, struct buf *out, const struct table *t, size_t limit,
                             struct err *err)
{
    buf_push_literal(out, "\n order by ");
    int rc = rowsql_push_key_list(pg, out, t, ", ", err);
    buf_printf(out, "\n limit $%zu::bigint", limit);
    return rc;
}

static int rowsql_push_blocks(struct pg *pg, struct buf *out, const struct table *t,
                              struct err *err)
{
    (void)pg;
    (void)t;
    (void)err;
    buf_push_literal(out, "t.ctid >= $1::tid and t.ctid < $2::tid");
    return 0;
}

/* skip: number of parameters that come before. */
static int rowsql_push_first_of(struct pg *pg, struct buf *out, const struct table *t, size_t skip,
                                struct err *err)
{
    (void)skip;
    buf_push_literal(out, "row(");
    int rc = rowsql_push_key_list(pg, out, t, ", ", err);
    buf_push_literal(out, ") is not null");
    return rc;
}

/* A parameter has the key's type, so that the type's input function reads it. A cast from text
 * could be defined by the type's owner, and would run with our rights. The operator has a schema,
 * because search_path contains only PostgreSQL's own. One operator name must do for all columns of
 * the comparison. */
static int rowsql_push_after_of(struct pg *pg, struct buf *out, const struct table *t, size_t skip,
                                struct err *err)
{
    buf_push_literal(out, "row(");
    int rc = rowsql_push_key_list(pg, out, t, ", ", err);
    buf_push_literal(out, ")");
    if (rc == 0) {
        rc = rowsql_push_operator(pg, out, t, 0, ">", err);
    }
    buf_push_literal(out, "row(");
    for (size_t i = 0; i < t->key_count; i++) {
        buf_printf(out, "%s$%zu::%s", i > 0 ? ", " : "", skip + i + 1, t->key_types[i]);
    }
    buf_push_literal(out, ")");
    return rc;
}

/* Pushes a comparison of the key's first part with a parameter. */
static int rowsql_push_bound(struct pg *pg, struct buf *out, const struct table *t,
                             const char *symbol, size_t parameter, struct err *err)
{
    buf_push_literal(out, "t.");
    int rc = pg_push_identifier(pg, out, t->key[0], err);
    if (rc == 0) {
        rc = rowsql_push_operator(pg, out, t, 0, symbol, err);
    }
    buf_printf(out, "$%zu::%s", parameter, t->key_types[0]);
    return rc;
}

static int rowsql_push_beyond_of(struct pg *pg, struct buf *out, const struct table *t, size_t skip,
                                 struct err *err)
{
    int rc = rowsql_push_first_of(pg, out, t, skip, err);
    buf_push_literal(out, " and ");
    return rc == 0 ? rowsql_push_bound(pg, out, t, ">", skip + 1, err) : rc;
}

static int rowsql_push_nulls(struct pg *pg, struct buf *out, const struct table *t, struct err *err)
{
    buf_push_literal(out, "(");
    int rc = rowsql_push_key_list(pg, out, t, " is null or ", err);
    buf_push_literal(out, " is null)");
    return rc;
}

/* Compares each part separately. Unlike a join with the keys, the planner pushes this down into a
 * query and through its GROUP BY. With several parts it selects too many rows. */
static int rowsql_push_each(struct pg *pg, struct buf *out, const struct table *t, struct err *err)
{
    int rc = 0;
    for (size_t i = 0; i < t->key_count && rc == 0; i++) {
        buf_push_text(out, i > 0 ? " and t." : "t.");
        rc = pg_push_identifier(pg, out, t->key[i], err);
        if (rc == 0) {
            rc = rowsql_push_operator(pg, out, t, i, "=", err);
        }
        buf_printf(out, "any($%zu::%s[])", i + 1, t->key_types[i]);
    }
    return rc;
}

/* Arrays of an array type do not exist: integer[][] is integer[], and any() yields its integers. */
static bool rowsql_has_arrays(const struct table *t)
{
    bool arrays = false;
    for (size_t i = 0; i < t->key_count; i++) {
        size_t len = strlen(t->key_types[i]);
        arrays = arrays || (len > 2 && strcmp(t->key_types[i] + len - 2, "[]") == 0);
    }
    return arrays;
}

static int rowsql_push_together(struct pg *pg, struct buf *out, const struct table *t,
                                struct err *err)
{
    int rc = 0;
    bool texts = rowsql_has_arrays(t);
    buf_push_literal(out, "exists (select from unnest(");
    for (size_t i = 0; i < t->key_count; i++) {
        buf_printf(out, "%s$%zu::%s[]", i > 0 ? ", " : "", i + 1, texts ? "text" : t->key_types[i]);
    }
    buf_push_literal(out, ") as k(");
    for (size_t i = 1; i <= t->key_count; i++) {
        buf_printf(out, "%sp%zu", i > 1 ? ", " : "", i);
    }
    buf_push_literal(out, ") where ");
    for (size_t i = 0; i < t->key_count && rc == 0; i++) {
        buf_push_text(out, i > 0 ? " and t." : "t.");
        rc = pg_push_identifier(pg, out, t->key[i], err);
        if (rc == 0) {
            rc = rowsql_push_operator(pg, out, t, i, "=", err);
        }
        buf_printf(out, "k.p%zu%s%s", i + 1, texts ? "::" : "", texts ? t->key_types[i] : "");
    }
    buf_push_literal(out, ")");
    return rc;
}

static int rowsql_push_again(struct pg *pg, struct buf *out, const struct table *t, struct err *err)
{
    int rc = 0;
    if (rowsql_has_arrays(t)) {
        return rowsql_push_together(pg, out, t, err);
    }
    if (t->key_count == 1) { /* more than twice as fast */
        return rowsql_push_each(pg, out, t, err);
    }
    if (t->query != NULL) {
        rc = rowsql_push_each(pg, out, t, err);
        buf_push_literal(out, " and ");
    }
    return rc == 0 ? rowsql_push_together(pg, out, t, err) : rc;
}

static int rowsql_push_texts(struct pg *pg, struct buf *out, const struct table *t, struct err *err)
{
    int rc = keytext_push(pg, out, "t", t, err);
    buf_push_literal(out, " = any($1::text[])");
    return rc;
}

typedef int (*push_choice)(struct pg *pg, struct buf *out, const struct table *t, struct err *err);

static int rowsql_too_long(const struct table *t, struct err *err)
{
    return err_set(err, ERR_REJECTED, "the statement that reads %s would be too long", t->quoted);
}

static int rowsql_build_sql(char **out, struct pg *pg, const struct rowsql_input *in,
                            push_choice push, struct err *err)
{
    struct buf sql;
    buf_init(&sql, SQL_MAX_BYTES);
    int rc = rowsql_push_head(pg, &sql, in, err);
    if (rc == 0) {
        rc = push(pg, &sql, in->table, err);
    }
    if (rc == 0 && sql.failed) {
        rc = rowsql_too_long(in->table, err);
    }
    *out = rc == 0 ? buf_detach(&sql) : NULL;
    buf_release(&sql);
    return rc;
}

/* Child tables have keys of their own, so the key of the tree is not unique. */
static bool rowsql_has_runs(const struct table *t)
{
    const char *type = t->key_types[0];
    return t->query == NULL && t->key_count == 1 && t->key_unique && (!t->tree || t->kind == 'p') &&
           (strcmp(type, "bigint") == 0 || strcmp(type, "integer") == 0 ||
            strcmp(type, "smallint") == 0);
}

static int rowsql_build_runs(char **out, struct pg *pg, const struct rowsql_input *in, bool count,
                             struct err *err)
{
    const struct table *t = in->table;
    struct buf sql;
    int rc = 0;
    buf_init(&sql, SQL_MAX_BYTES);
    buf_printf(&sql,
               "select %s\n  from unnest($1::bigint[], $2::bigint[]) as r(first, last),\n"
               "lateral (select ",
               count ? "coalesce(sum(c.x), 0)" : "c.x");
    if (count) {
        buf_push_literal(&sql, "count(*)");
    } else {
        rc = keytext_push(pg, &sql, "t", t, err);
    }
    rowsql_push_from(&sql, in);
    buf_push_literal(&sql, "t.");
    rc = rc == 0 ? pg_push_identifier(pg, &sql, t->key[0], err) : rc;
    buf_push_literal(&sql, " between r.first and r.last) as c(x)");
    if (rc == 0 && sql.failed) {
        rc = rowsql_too_long(t, err);
    }
    *out = rc == 0 ? buf_detach(&sql) : NULL;
    buf_release(&sql);
    return rc;
}

typedef int (*push_range)(struct pg *pg, struct buf *out, const struct table *t, size_t skip,
                          struct err *err);

/* Builds a page in the key's order: start, end if there is one, and limit. */
static int rowsql_build_range(struct rowsql *out, struct pg *pg, const struct rowsql_input *in,
                              enum rowsql_from from, bool ends, struct err *err)
{
    static const push_range pushes[] = {rowsql_push_first_of, rowsql_push_after_of,
                                        rowsql_push_beyond_of};
    const struct table *t = in->table;
    const size_t before[] = {0, t->key_count, 1};
    struct buf sql;
    buf_init(&sql, SQL_MAX_BYTES);
    int rc = t->query != NULL ? rowsql_push_listing(pg, &sql, t, err)
                              : rowsql_push_head(pg, &sql, in, err);
    if (rc == 0) {
        rc = pushes[from](pg, &sql, t, 0, err);
    }
    if (rc == 0 && ends) {
        buf_push_literal(&sql, " and ");
        rc = rowsql_push_bound(pg, &sql, t, "<=", before[from] + 2, err);
    }
    if (rc == 0) {
        rc = rowsql_push_order(pg, &sql, t, before[from] + 1, err);
    }
    if (rc == 0 && sql.failed) {
        rc = rowsql_too_long(t, err);
    }
    out->range[from][ends] = rc == 0 ? buf_detach(&sql) : NULL;
    buf_release(&sql);
    return rc;
}

static int rowsql_build_ranges(struct rowsql *out, struct pg *pg, const struct rowsql_input *in,
                               struct err *err)
{
    int rc = 0;
    for (int i = 0; i < 6 && rc == 0; i++) {
        rc = rowsql_build_range(out, pg, in, (enum rowsql_from)(i / 2), i % 2 == 1, err);
    }
    return rc;
}

int rowsql_build(struct rowsql *out, struct pg *pg, const struct rowsql_input *in, struct err *err)
{
    bool query = in->table->query != NULL;
    struct rowsql_input keys = *in;
    keys.column_count = 0;
    const struct {
        char **sql;
        push_choice push; /* null: not needed */
        const struct rowsql_input *in;
    } statements[] = {{&out->blocks, query || in->table->tree ? NULL : rowsql_push_blocks, in},
                      {&out->nulls, rowsql_push_nulls, in},
                      {&out->again, rowsql_push_again, in},
                      {&out->present, rowsql_push_again, &keys},
                      {&out->texts, rowsql_push_texts, &keys}};
    rowsql_release(out);
    for (size_t i = 0; i < sizeof(statements) / sizeof(statements[0]); i++) {
        int rc = statements[i].push == NULL
                     ? 0
                     : rowsql_build_sql(statements[i].sql, pg, statements[i].in, statements[i].push,
                                        err);
        if (rc < 0) {
            return rc;
        }
    }
    bool runs = rowsql_has_runs(in->table);
    int rc = runs ? rowsql_build_runs(&out->runs_count, pg, in, true, err) : 0;
    if (rc == 0 && runs) {
        rc = rowsql_build_runs(&out->runs, pg, in, false, err);
    }
    return rc == 0 ? rowsql_build_ranges(out, pg, in, err) : rc;
}

/* --- keys that another query finds ----------------------------------------------------------- */

void rowsql_keys_release(struct rowsql_keys *s)
{
    free(s->first);
    free(s->after);
    *s = (struct rowsql_keys){0};
}

/* Renames the query's columns to those of the key, and removes duplicates. */
static int rowsql_push_found(struct pg *pg, struct buf *out, const struct rowsql_keys_input *in,
                             struct err *err)
{
    const struct table *t = in->table;
    buf_push_literal(out, "select ");
    int rc = keytext_push(pg, out, "t", t, err);
    buf_push_literal(out, "\n  from (select distinct ");
    for (size_t i = 0; i < t->key_count && rc == 0; i++) {
        buf_printf(out, "%sk.p%zu::%s as ", i > 0 ? ", " : "", i + 1, t->key_types[i]);
        rc = pg_push_identifier(pg, out, t->key[i], err);
    }
    buf_push_literal(out, "\n          from (\n");
    buf_push_text(out, in->query);
    buf_push_literal(out, "\n) k(");
    for (size_t i = 0; i < t->key_count; i++) {
        buf_printf(out, "%sp%zu", i > 0 ? ", " : "", i + 1);
    }
    buf_push_literal(out, ")) t\n where ");
    return rc;
}

static int rowsql_build_keys(char **out, struct pg *pg, const struct rowsql_keys_input *in,
                             push_range push, struct err *err)
{
    struct buf sql;
    buf_init(&sql, SQL_MAX_BYTES);
    int rc = rowsql_push_found(pg, &sql, in, err);
    if (rc == 0) {
        rc = push(pg, &sql, in->table, in->parameters, err);
    }
    if (rc == 0) {
        size_t own = push == rowsql_push_after_of ? in->table->key_count : 0;
        rc = rowsql_push_order(pg, &sql, in->table, in->parameters + own + 1, err);
    }
    if (rc == 0 && sql.failed) {
        rc = rowsql_too_long(in->table, err);
    }
    *out = rc == 0 ? buf_detach(&sql) : NULL;
    buf_release(&sql);
    return rc;
}

int rowsql_keys_build(struct rowsql_keys *out, struct pg *pg, const struct rowsql_keys_input *in,
                      struct err *err)
{
    rowsql_keys_release(out);
    int rc = rowsql_build_keys(&out->first, pg, in, rowsql_push_first_of, err);
    return rc == 0 ? rowsql_build_keys(&out->after, pg, in, rowsql_push_after_of, err) : rc;
}
