/* SPDX-License-Identifier: Apache-2.0 */
/* The statements that read rows. */
#include "rows/rowsql.h"

#include <stdlib.h>
#include <string.h>

#include "rowferry/base/buf.h"
#include "rowferry/source/catalog/keytext.h"
#include "sql/sqlquote.h"

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

int rowsql_check_columns(const struct rowsql_input *in, struct err *err)
{
    for (size_t i = 0; i < in->column_count; i++) {
        if (row_columns_find(&in->table->columns, in->columns[i]) == NULL) {
            return err_set(err, ERR_REJECTED, "%s %s has no column \"%s\"",
                           in->table->query != NULL ? "the query of" : "table", in->table->quoted,
                           in->columns[i]);
        }
    }
    return 0;
}

static void rowsql_push_column(struct buf *out, const char *name)
{
    buf_push_literal(out, "t.");
    sqlquote_identifier(out, name);
}

void rowsql_push_columns(struct buf *out, const struct rowsql_input *in)
{
    for (size_t i = 0; i < in->column_count; i++) {
        const char *zone = in->zones != NULL ? in->zones[i] : NULL;
        buf_push_literal(out, ", ");
        if (zone == NULL) {
            rowsql_push_column(out, in->columns[i]);
            continue;
        }
        buf_push_literal(out, "case when ");
        rowsql_push_column(out, in->columns[i]);
        buf_push_literal(out, " between '0001-01-01' and '9999-12-31 24:00' then ");
        rowsql_push_column(out, in->columns[i]);
        buf_push_literal(out, " at time zone ");
        sqlquote_literal(out, zone);
        buf_push_literal(out, " else ");
        rowsql_push_column(out, in->columns[i]);
        buf_push_literal(out, " at time zone 'UTC' end");
    }
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

static void rowsql_push_head(struct buf *out, const struct rowsql_input *in)
{
    buf_push_literal(out, "select ");
    keytext_push(out, "t", in->table);
    rowsql_push_columns(out, in);
    rowsql_push_from(out, in);
}

/* Pushes a statement that lists the keys of the table only. */
static void rowsql_push_listing(struct buf *out, const struct table *t)
{
    buf_push_literal(out, "select ");
    keytext_push(out, "t", t);
    buf_push_literal(out, "\n  from ");
    query_push_table(out, t);
    buf_push_literal(out, "\n where ");
}

static void rowsql_push_key_row(struct buf *out, const struct table *t)
{
    buf_push_literal(out, "row(");
    keytext_push_columns(out, t, "", ", ");
    buf_push_literal(out, ")");
}

static void rowsql_push_operator(struct buf *out, const struct table *t, size_t part,
                                 const char *symbol)
{
    buf_push_literal(out, " operator(");
    sqlquote_identifier(out, t->key_operators[part]);
    buf_printf(out, ".%s) ", symbol);
}

/* Pushes a part of the key and its operator. */
static void rowsql_push_part(struct buf *out, const struct table *t, size_t part,
                             const char *symbol)
{
    buf_push_literal(out, "t.");
    sqlquote_identifier(out, t->key[part]);
    rowsql_push_operator(out, t, part, symbol);
}

static void rowsql_push_order(struct buf *out, const struct table *t, size_t limit)
{
    buf_push_literal(out, "\n order by ");
    keytext_push_columns(out, t, "", ", ");
    buf_printf(out, "\n limit $%zu::bigint", limit);
}

static void rowsql_push_blocks(struct buf *out, const struct table *t)
{
    (void)t;
    buf_push_literal(out, "t.ctid >= $1::tid and t.ctid < $2::tid");
}

/* skip: number of parameters that come before. */
static void rowsql_push_first_of(struct buf *out, const struct table *t, size_t skip)
{
    (void)skip;
    rowsql_push_key_row(out, t);
    buf_push_literal(out, " is not null");
}

/* A parameter has the key's type, so that the type's input function reads it. A cast from text
 * could be defined by the type's owner, and would run with our rights. The operator has a schema,
 * because search_path contains only PostgreSQL's own. One operator name must do for all columns of
 * the comparison. */
static void rowsql_push_after_of(struct buf *out, const struct table *t, size_t skip)
{
    rowsql_push_key_row(out, t);
    rowsql_push_operator(out, t, 0, ">");
    buf_push_literal(out, "row(");
    for (size_t i = 0; i < t->key_count; i++) {
        buf_printf(out, "%s$%zu::%s", i > 0 ? ", " : "", skip + i + 1, t->key_types[i]);
    }
    buf_push_literal(out, ")");
}

/* Pushes a comparison of the key's first part with a parameter. */
static void rowsql_push_bound(struct buf *out, const struct table *t, const char *symbol,
                              size_t parameter)
{
    rowsql_push_part(out, t, 0, symbol);
    buf_printf(out, "$%zu::%s", parameter, t->key_types[0]);
}

static void rowsql_push_beyond_of(struct buf *out, const struct table *t, size_t skip)
{
    rowsql_push_first_of(out, t, skip);
    buf_push_literal(out, " and ");
    rowsql_push_bound(out, t, ">", skip + 1);
}

static void rowsql_push_nulls(struct buf *out, const struct table *t)
{
    buf_push_literal(out, "(");
    keytext_push_columns(out, t, " is null", " or ");
    buf_push_literal(out, ")");
}

/* Compares each part separately. Unlike a join with the keys, the planner pushes this down into a
 * query and through its GROUP BY. With several parts it selects too many rows. */
static void rowsql_push_each(struct buf *out, const struct table *t)
{
    for (size_t i = 0; i < t->key_count; i++) {
        buf_push_text(out, i > 0 ? " and " : "");
        rowsql_push_part(out, t, i, "=");
        buf_printf(out, "any($%zu::%s[])", i + 1, t->key_types[i]);
    }
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

/* Pushes the names p1, p2 .. for the parts of the key. */
static void rowsql_push_names(struct buf *out, const struct table *t)
{
    for (size_t i = 1; i <= t->key_count; i++) {
        buf_printf(out, "%sp%zu", i > 1 ? ", " : "", i);
    }
}

static void rowsql_push_together(struct buf *out, const struct table *t)
{
    bool texts = rowsql_has_arrays(t);
    buf_push_literal(out, "exists (select from unnest(");
    for (size_t i = 0; i < t->key_count; i++) {
        buf_printf(out, "%s$%zu::%s[]", i > 0 ? ", " : "", i + 1, texts ? "text" : t->key_types[i]);
    }
    buf_push_literal(out, ") as k(");
    rowsql_push_names(out, t);
    buf_push_literal(out, ") where ");
    for (size_t i = 0; i < t->key_count; i++) {
        buf_push_text(out, i > 0 ? " and " : "");
        rowsql_push_part(out, t, i, "=");
        buf_printf(out, "k.p%zu%s%s", i + 1, texts ? "::" : "", texts ? t->key_types[i] : "");
    }
    buf_push_literal(out, ")");
}

/* A single part is compared by itself, which is more than twice as fast. */
static void rowsql_push_again(struct buf *out, const struct table *t)
{
    bool arrays = rowsql_has_arrays(t);
    bool each = !arrays && (t->key_count == 1 || t->query != NULL);
    bool together = arrays || t->key_count > 1;
    if (each) {
        rowsql_push_each(out, t);
    }
    buf_push_text(out, each && together ? " and " : "");
    if (together) {
        rowsql_push_together(out, t);
    }
}

static void rowsql_push_texts(struct buf *out, const struct table *t)
{
    keytext_push(out, "t", t);
    buf_push_literal(out, " = any($1::text[])");
}

/* Takes the finished statement; releases the buffer. */
static int rowsql_finish(char **out, struct buf *sql, const struct table *t, struct err *err)
{
    int rc = sql->failed ? err_set(err, ERR_REJECTED,
                                   "the statement that reads %s would be too long", t->quoted)
                         : 0;
    *out = rc == 0 ? buf_detach(sql) : NULL;
    buf_release(sql);
    return rc;
}

typedef void (*push_choice)(struct buf *out, const struct table *t);

static int rowsql_build_sql(char **out, const struct rowsql_input *in, push_choice push,
                            struct err *err)
{
    struct buf sql;
    buf_init(&sql, SQL_MAX_BYTES);
    rowsql_push_head(&sql, in);
    push(&sql, in->table);
    return rowsql_finish(out, &sql, in->table, err);
}

/* Child tables have keys of their own, so the key of the tree is not unique. */
static bool rowsql_has_runs(const struct table *t)
{
    const char *type = t->key_types[0];
    return t->query == NULL && t->key_count == 1 && t->key_unique && (!t->tree || t->kind == 'p') &&
           (strcmp(type, "bigint") == 0 || strcmp(type, "integer") == 0 ||
            strcmp(type, "smallint") == 0);
}

static int rowsql_build_runs(char **out, const struct rowsql_input *in, bool count, struct err *err)
{
    struct buf sql;
    buf_init(&sql, SQL_MAX_BYTES);
    buf_printf(&sql,
               "select %s\n  from unnest($1::bigint[], $2::bigint[]) as r(first, last),\n"
               "lateral (select ",
               count ? "coalesce(sum(c.x), 0)" : "c.x");
    if (count) {
        buf_push_literal(&sql, "count(*)");
    } else {
        keytext_push(&sql, "t", in->table);
    }
    rowsql_push_from(&sql, in);
    keytext_push_columns(&sql, in->table, "", "");
    buf_push_literal(&sql, " between r.first and r.last) as c(x)");
    return rowsql_finish(out, &sql, in->table, err);
}

typedef void (*push_range)(struct buf *out, const struct table *t, size_t skip);

/* Builds a page in the key's order: start, end if there is one, and limit. */
static int rowsql_build_range(struct rowsql *out, const struct rowsql_input *in,
                              enum rowsql_from from, bool ends, struct err *err)
{
    static const push_range pushes[] = {rowsql_push_first_of, rowsql_push_after_of,
                                        rowsql_push_beyond_of};
    const struct table *t = in->table;
    const size_t before[] = {0, t->key_count, 1};
    struct buf sql;
    buf_init(&sql, SQL_MAX_BYTES);
    if (t->query != NULL) {
        rowsql_push_listing(&sql, t);
    } else {
        rowsql_push_head(&sql, in);
    }
    pushes[from](&sql, t, 0);
    if (ends) {
        buf_push_literal(&sql, " and ");
        rowsql_push_bound(&sql, t, "<=", before[from] + 2);
    }
    rowsql_push_order(&sql, t, before[from] + 1);
    return rowsql_finish(&out->range[from][ends], &sql, t, err);
}

int rowsql_build(struct rowsql *out, const struct rowsql_input *in, struct err *err)
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
    int rc = rowsql_check_columns(in, err);
    for (size_t i = 0; i < sizeof(statements) / sizeof(statements[0]) && rc == 0; i++) {
        if (statements[i].push != NULL) {
            rc = rowsql_build_sql(statements[i].sql, statements[i].in, statements[i].push, err);
        }
    }
    if (rc == 0 && rowsql_has_runs(in->table)) {
        rc = rowsql_build_runs(&out->runs_count, in, true, err);
        rc = rc == 0 ? rowsql_build_runs(&out->runs, in, false, err) : rc;
    }
    for (int i = 0; i < 6 && rc == 0; i++) {
        rc = rowsql_build_range(out, in, (enum rowsql_from)(i / 2), i % 2 == 1, err);
    }
    return rc;
}

/* --- keys that another query finds ----------------------------------------------------------- */

void rowsql_keys_release(struct rowsql_keys *s)
{
    free(s->first);
    free(s->after);
    *s = (struct rowsql_keys){0};
}

/* Renames the query's columns to those of the key, and removes duplicates. */
static void rowsql_push_found(struct buf *out, const struct rowsql_keys_input *in)
{
    const struct table *t = in->table;
    buf_push_literal(out, "select ");
    keytext_push(out, "t", t);
    buf_push_literal(out, "\n  from (select distinct ");
    for (size_t i = 0; i < t->key_count; i++) {
        buf_printf(out, "%sk.p%zu::%s as ", i > 0 ? ", " : "", i + 1, t->key_types[i]);
        sqlquote_identifier(out, t->key[i]);
    }
    buf_push_literal(out, "\n          from (\n");
    buf_push_text(out, in->query);
    buf_push_literal(out, "\n) k(");
    rowsql_push_names(out, t);
    buf_push_literal(out, ")) t\n where ");
}

static int rowsql_build_keys(char **out, const struct rowsql_keys_input *in, push_range push,
                             struct err *err)
{
    struct buf sql;
    size_t own = push == rowsql_push_after_of ? in->table->key_count : 0;
    buf_init(&sql, SQL_MAX_BYTES);
    rowsql_push_found(&sql, in);
    push(&sql, in->table, in->parameters);
    rowsql_push_order(&sql, in->table, in->parameters + own + 1);
    return rowsql_finish(out, &sql, in->table, err);
}

int rowsql_keys_build(struct rowsql_keys *out, const struct rowsql_keys_input *in, struct err *err)
{
    rowsql_keys_release(out);
    int rc = rowsql_build_keys(&out->first, in, rowsql_push_first_of, err);
    return rc == 0 ? rowsql_build_keys(&out->after, in, rowsql_push_after_of, err) : rc;
}
