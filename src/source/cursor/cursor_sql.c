/* SPDX-License-Identifier: Apache-2.0 */
/* The statement that reads rows in the order of a column. */
#include "cursor/cursor_sql.h"

#include <stdio.h>
#include <string.h>

#include "rowferry/base/text.h"
#include "rowferry/source/catalog/keytext.h"
#include "sql/sqlquote.h"

#define SQL_MAX_BYTES ((size_t)1 << 20)

/* The types have no precision, because a bound must not be rounded. */
const char *cursor_sql_type(const struct column *column)
{
    static const char *const types[][2] = {{"timestamptz", "timestamptz"},
                                           {"timestamp", "timestamp"},
                                           {"int8", "bigint"},
                                           {"int4", "integer"}};
    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
        if (column->category == 'b' && strcmp(column->type, types[i][0]) == 0) {
            return types[i][1];
        }
    }
    return NULL;
}

/* Shared by the functions that build one statement. */
struct builder {
    struct cursor_sql *s;
    const struct rowsql_input *in;
    const char *column;
    const char *type;
    struct err *err;
};

static struct buf *cursor_sql_text(const struct builder *b)
{
    return &b->s->text;
}

static int cursor_sql_push_column(const struct builder *b)
{
    buf_push_literal(cursor_sql_text(b), "t.");
    sqlquote_identifier(cursor_sql_text(b), b->column);
    return 0;
}

static void cursor_sql_push_param(const struct builder *b, const char *value, const char *type)
{
    b->s->params[b->s->count++] = value;
    buf_printf(cursor_sql_text(b), "$%zu::%s", b->s->count, type);
}

static int cursor_sql_push_keys(const struct builder *b)
{
    keytext_push_columns(cursor_sql_text(b), b->in->table, "", ", ");
    return 0;
}

static int cursor_sql_push_matches(const struct builder *b)
{
    if (b->in->where == NULL) {
        buf_push_literal(cursor_sql_text(b), "true");
    } else { /* on separate lines, so that a comment at its end cannot hide what follows */
        buf_push_literal(cursor_sql_text(b), "((\n");
        buf_push_text(cursor_sql_text(b), b->in->where);
        buf_push_literal(cursor_sql_text(b), "\n) is true)");
    }
    return 0;
}

static int cursor_sql_push_count(const struct builder *b)
{
    buf_push_literal(cursor_sql_text(b),
                     "select count(*) filter (where not r.matches) from (\nselect ");
    int rc = cursor_sql_push_matches(b);
    buf_push_literal(cursor_sql_text(b), " as matches");
    return rc;
}

static int cursor_sql_push_values(const struct builder *b)
{
    const struct table *t = b->in->table;
    buf_push_literal(cursor_sql_text(b), "select ");
    keytext_push(cursor_sql_text(b), "t", t);
    rowsql_push_columns(cursor_sql_text(b), b->in);
    buf_push_literal(cursor_sql_text(b), ", ");
    int rc = cursor_sql_push_column(b);
    buf_push_literal(cursor_sql_text(b), "::text, ");
    return rc == 0 ? cursor_sql_push_matches(b) : rc;
}

static int cursor_sql_push_head(const struct builder *b, bool count)
{
    int rc = count ? cursor_sql_push_count(b) : cursor_sql_push_values(b);
    buf_push_literal(cursor_sql_text(b), "\n  from ");
    query_push_source(cursor_sql_text(b), b->in->table);
    buf_push_literal(cursor_sql_text(b), "\n where ");
    return rc == 0 ? cursor_sql_push_column(b) : rc;
}

static int cursor_sql_push_bound(const struct builder *b, const char *symbol, const char *value)
{
    if (value == NULL) {
        return 0;
    }
    buf_push_literal(cursor_sql_text(b), "\n   and ");
    int rc = cursor_sql_push_column(b);
    buf_printf(cursor_sql_text(b), " %s ", symbol);
    cursor_sql_push_param(b, value, b->type);
    return rc;
}

/* Returns true if column and key can be compared as one row. PostgreSQL's own operators allow that,
 * and an index over both then answers it. An operator of another schema cannot be named for all of
 * them. */
static bool cursor_sql_one_comparison(const struct table *t)
{
    bool own = true;
    for (size_t i = 0; i < t->key_count; i++) {
        own = own && strcmp(t->key_operators[i], "pg_catalog") == 0;
    }
    return own;
}

static int cursor_sql_push_key_after(const struct builder *b, const char *key)
{
    const struct table *t = b->in->table;
    size_t offsets[KEY_MAX_PARTS];
    int rc = key_split(&b->s->parts, offsets, key, strlen(key), t->key_count, b->err);
    for (size_t i = 0; i < t->key_count && rc == 0; i++) {
        buf_push_text(cursor_sql_text(b), i > 0 ? ", " : "");
        cursor_sql_push_param(b, buf_text(&b->s->parts) + offsets[i], t->key_types[i]);
    }
    return rc;
}

/* Pushes row(keys) > row($..) with the key's own operator. */
static int cursor_sql_push_keys_after(const struct builder *b, const char *key)
{
    buf_push_literal(cursor_sql_text(b), "row(");
    int rc = cursor_sql_push_keys(b);
    buf_push_literal(cursor_sql_text(b), ") operator(");
    sqlquote_identifier(cursor_sql_text(b), b->in->table->key_operators[0]);
    buf_push_literal(cursor_sql_text(b), ".>) row(");
    if (rc == 0) {
        rc = cursor_sql_push_key_after(b, key);
    }
    buf_push_literal(cursor_sql_text(b), ")");
    return rc;
}

static int cursor_sql_push_after(const struct builder *b, const struct cursor_range *range)
{
    if (range->after_key == NULL) {
        return 0;
    }
    if (range->nulls) {
        buf_push_literal(cursor_sql_text(b), "\n   and ");
        return cursor_sql_push_keys_after(b, range->after_key);
    }
    if (!cursor_sql_one_comparison(b->in->table)) {
        int rc = cursor_sql_push_bound(b, ">=", range->after_value);
        buf_push_literal(cursor_sql_text(b), "\n   and (");
        if (rc == 0) {
            rc = cursor_sql_push_column(b);
        }
        buf_push_literal(cursor_sql_text(b), " > ");
        cursor_sql_push_param(b, range->after_value, b->type);
        buf_push_literal(cursor_sql_text(b), " or ");
        rc = rc == 0 ? cursor_sql_push_keys_after(b, range->after_key) : rc;
        buf_push_literal(cursor_sql_text(b), ")");
        return rc;
    }
    buf_push_literal(cursor_sql_text(b), "\n   and row(");
    int rc = cursor_sql_push_column(b);
    buf_push_literal(cursor_sql_text(b), ", ");
    rc = rc == 0 ? cursor_sql_push_keys(b) : rc;
    buf_push_literal(cursor_sql_text(b), ") > row(");
    cursor_sql_push_param(b, range->after_value, b->type);
    buf_push_literal(cursor_sql_text(b), ", ");
    rc = rc == 0 ? cursor_sql_push_key_after(b, range->after_key) : rc;
    buf_push_literal(cursor_sql_text(b), ")");
    return rc;
}

/* Rows that were never delivered need no delete. */
static int cursor_sql_push_until(const struct builder *b, const struct cursor_range *range)
{
    if (b->in->where == NULL || (range->until == NULL && !range->nulls)) {
        return 0;
    }
    buf_push_literal(cursor_sql_text(b), "\n   and (");
    int rc = cursor_sql_push_matches(b);
    if (range->until != NULL && !range->nulls && rc == 0) {
        buf_push_literal(cursor_sql_text(b), " or ");
        rc = cursor_sql_push_column(b);
        buf_push_literal(cursor_sql_text(b), " >= ");
        cursor_sql_push_param(b, range->until, b->type);
    }
    buf_push_literal(cursor_sql_text(b), ")");
    return rc;
}

static int cursor_sql_push_order(const struct builder *b, const struct cursor_range *range)
{
    buf_push_literal(cursor_sql_text(b), "\n order by ");
    int rc = 0;
    if (!range->nulls) {
        rc = cursor_sql_push_column(b);
        buf_push_literal(cursor_sql_text(b), ", ");
    }
    if (rc == 0) {
        rc = cursor_sql_push_keys(b);
    }
    snprintf(b->s->limit, sizeof(b->s->limit), "%zu", range->limit);
    b->s->params[b->s->count++] = b->s->limit;
    buf_printf(cursor_sql_text(b), "\n limit $%zu::bigint", b->s->count);
    return rc;
}

static int cursor_sql_push_all(const struct builder *b, const struct cursor_range *range)
{
    int rc = cursor_sql_push_head(b, range->count);
    buf_push_text(cursor_sql_text(b), range->nulls ? " is null" : " is not null");
    if (rc == 0) {
        rc = cursor_sql_push_after(b, range);
    }
    if (rc == 0) {
        rc = cursor_sql_push_bound(b, range->included ? ">" : ">=", range->from);
    }
    if (rc == 0) {
        rc = cursor_sql_push_bound(b, range->included ? "<=" : "<", range->before);
    }
    if (rc == 0) {
        rc = cursor_sql_push_until(b, range);
    }
    if (rc == 0 && range->gone) {
        buf_push_literal(cursor_sql_text(b), "\n   and not ");
        rc = cursor_sql_push_matches(b);
    }
    if (rc == 0) {
        rc = cursor_sql_push_order(b, range);
    }
    buf_push_text(cursor_sql_text(b), range->count ? "\n) r" : "");
    return rc;
}

int cursor_sql_build(struct cursor_sql *s, const struct rowsql_input *in, const char *column,
                     const struct cursor_range *range, struct err *err)
{
    struct builder b = {s, in, column, NULL, err};
    *s = (struct cursor_sql){0};
    buf_init(&s->text, SQL_MAX_BYTES);
    buf_init(&s->parts, SQL_MAX_BYTES);
    b.type = cursor_sql_type(row_columns_find(&in->table->columns, column));
    int rc = rowsql_check_columns(in, err);
    rc = rc == 0 ? cursor_sql_push_all(&b, range) : rc;
    if (rc == 0 && s->text.failed) {
        rc = err_set(err, ERR_REJECTED, "the statement that reads %s would be too long",
                     in->table->quoted);
    }
    return rc;
}

void cursor_sql_release(struct cursor_sql *s)
{
    buf_release(&s->text);
    buf_release(&s->parts);
}

/* Leaves out infinity, which is not the time of a change. */
void cursor_sql_push_largest(struct buf *out, const struct table *t, const char *column)
{
    const char *type = cursor_sql_type(row_columns_find(&t->columns, column));
    buf_push_literal(out, "select max(t.");
    sqlquote_identifier(out, column);
    buf_push_literal(out, ")::text from ");
    query_push_source(out, t);
    if (strncmp(type, "timestamp", strlen("timestamp")) == 0) {
        buf_push_literal(out, " where t.");
        sqlquote_identifier(out, column);
        buf_push_literal(out, " < 'infinity'");
    }
}
