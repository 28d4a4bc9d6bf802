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
    struct buf *out; /* the statement's text */
    const struct rowsql_input *in;
    const char *column;
    const char *type;
    struct err *err;
    int rc;
};

static void cursor_sql_push_column(const struct builder *b)
{
    buf_push_literal(b->out, "t.");
    sqlquote_identifier(b->out, b->column);
}

static void cursor_sql_push_param(const struct builder *b, const char *value, const char *type)
{
    b->s->params[b->s->count++] = value;
    buf_printf(b->out, "$%zu::%s", b->s->count, type);
}

static void cursor_sql_push_keys(const struct builder *b)
{
    keytext_push_columns(b->out, b->in->table, "", ", ");
}

static void cursor_sql_push_matches(const struct builder *b)
{
    if (b->in->where == NULL) {
        buf_push_literal(b->out, "true");
    } else { /* on separate lines, so that a comment at its end cannot hide what follows */
        buf_push_literal(b->out, "((\n");
        buf_push_text(b->out, b->in->where);
        buf_push_literal(b->out, "\n) is true)");
    }
}

static void cursor_sql_push_head(const struct builder *b, bool count)
{
    if (count) {
        buf_push_literal(b->out, "select count(*) filter (where not r.matches) from (\nselect ");
        cursor_sql_push_matches(b);
        buf_push_literal(b->out, " as matches");
    } else {
        buf_push_literal(b->out, "select ");
        keytext_push(b->out, "t", b->in->table);
        rowsql_push_columns(b->out, b->in);
        buf_push_literal(b->out, ", ");
        cursor_sql_push_column(b);
        buf_push_literal(b->out, "::text, ");
        cursor_sql_push_matches(b);
    }
    buf_push_literal(b->out, "\n  from ");
    query_push_source(b->out, b->in->table);
    buf_push_literal(b->out, "\n where ");
    cursor_sql_push_column(b);
}

/* Pushes a comparison of the column; nothing if there is no value. */
static void cursor_sql_push_bound(const struct builder *b, const char *before, const char *symbol,
                                  const char *value)
{
    if (value != NULL) {
        buf_push_text(b->out, before);
        cursor_sql_push_column(b);
        buf_printf(b->out, " %s ", symbol);
        cursor_sql_push_param(b, value, b->type);
    }
}

static void cursor_sql_push_key_after(struct builder *b, const char *key)
{
    const struct table *t = b->in->table;
    size_t offsets[KEY_MAX_PARTS];
    b->rc = key_split(&b->s->parts, offsets, key, strlen(key), t->key_count, b->err);
    for (size_t i = 0; i < t->key_count && b->rc == 0; i++) {
        buf_push_text(b->out, i > 0 ? ", " : "");
        cursor_sql_push_param(b, buf_text(&b->s->parts) + offsets[i], t->key_types[i]);
    }
}

/* Pushes row(keys) > row($..) with the key's own operator. */
static void cursor_sql_push_keys_after(struct builder *b, const char *key)
{
    buf_push_literal(b->out, "row(");
    cursor_sql_push_keys(b);
    buf_push_literal(b->out, ") operator(");
    sqlquote_identifier(b->out, b->in->table->key_operators[0]);
    buf_push_literal(b->out, ".>) row(");
    cursor_sql_push_key_after(b, key);
    buf_push_literal(b->out, ")");
}

/* Column and key are compared as one row if the operators are PostgreSQL's own: an index over both
 * then answers it. An operator of another schema cannot be named for all of them. */
static void cursor_sql_push_after(struct builder *b, const struct cursor_range *range)
{
    if (range->after_key == NULL) {
        return;
    }
    if (range->nulls) {
        buf_push_literal(b->out, "\n   and ");
        cursor_sql_push_keys_after(b, range->after_key);
    } else if (!catalog_key_has_own_operators(b->in->table)) {
        cursor_sql_push_bound(b, "\n   and ", ">=", range->after_value);
        cursor_sql_push_bound(b, "\n   and (", ">", range->after_value);
        buf_push_literal(b->out, " or ");
        cursor_sql_push_keys_after(b, range->after_key);
        buf_push_literal(b->out, ")");
    } else {
        buf_push_literal(b->out, "\n   and row(");
        cursor_sql_push_column(b);
        buf_push_literal(b->out, ", ");
        cursor_sql_push_keys(b);
        buf_push_literal(b->out, ") > row(");
        cursor_sql_push_param(b, range->after_value, b->type);
        buf_push_literal(b->out, ", ");
        cursor_sql_push_key_after(b, range->after_key);
        buf_push_literal(b->out, ")");
    }
}

/* Rows that were never delivered need no delete. */
static void cursor_sql_push_until(const struct builder *b, const struct cursor_range *range)
{
    if (b->in->where != NULL && (range->until != NULL || range->nulls)) {
        buf_push_literal(b->out, "\n   and (");
        cursor_sql_push_matches(b);
        cursor_sql_push_bound(b, " or ", ">=", range->nulls ? NULL : range->until);
        buf_push_literal(b->out, ")");
    }
}

static void cursor_sql_push_order(const struct builder *b, const struct cursor_range *range)
{
    buf_push_literal(b->out, "\n order by ");
    if (!range->nulls) {
        cursor_sql_push_column(b);
        buf_push_literal(b->out, ", ");
    }
    cursor_sql_push_keys(b);
    snprintf(b->s->limit, sizeof(b->s->limit), "%zu", range->limit);
    buf_push_literal(b->out, "\n limit ");
    cursor_sql_push_param(b, b->s->limit, "bigint");
}

static void cursor_sql_push_all(struct builder *b, const struct cursor_range *range)
{
    cursor_sql_push_head(b, range->count);
    buf_push_text(b->out, range->nulls ? " is null" : " is not null");
    cursor_sql_push_after(b, range);
    cursor_sql_push_bound(b, "\n   and ", range->included ? ">" : ">=", range->from);
    cursor_sql_push_bound(b, "\n   and ", range->included ? "<=" : "<", range->before);
    cursor_sql_push_until(b, range);
    if (range->gone) {
        buf_push_literal(b->out, "\n   and not ");
        cursor_sql_push_matches(b);
    }
    cursor_sql_push_order(b, range);
    buf_push_text(b->out, range->count ? "\n) r" : "");
}

int cursor_sql_build(struct cursor_sql *s, const struct rowsql_input *in, const char *column,
                     const struct cursor_range *range, struct err *err)
{
    const char *type = cursor_sql_type(row_columns_find(&in->table->columns, column));
    struct builder b = {s, &s->text, in, column, type, err, 0};
    *s = (struct cursor_sql){0};
    buf_init(&s->text, SQL_MAX_BYTES);
    buf_init(&s->parts, SQL_MAX_BYTES);
    int rc = rowsql_check_columns(in, err);
    if (rc == 0) {
        cursor_sql_push_all(&b, range);
        rc = b.rc;
    }
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
