/* SPDX-License-Identifier: Apache-2.0 */
/* The statements that read rows. */
#include "rowsql.h"

#include <stdlib.h>

#include "pg_private.h"
#include "rowferry/base/buf.h"
#include "rowferry/base/text.h"
#include "rowferry/source/keytext.h"

#define SQL_MAX_BYTES ((size_t)1 << 20)

void rowsql_release(struct rowsql *s)
{
    free(s->blocks);
    free(s->first);
    free(s->after);
    free(s->nulls);
    free(s->again);
    *s = (struct rowsql){0};
}

/* Columns go out in their own text form, so the list is names and nothing else. */
static int push_columns(struct pg *pg, struct buf *out, const struct rowsql_input *in,
                        struct err *err)
{
    for (size_t i = 0; i < in->column_count; i++) {
        if (columns_find(&in->table->columns, in->columns[i]) == NULL) {
            return err_set(err, ERR_REJECTED, "table %s has no column \"%s\"", in->table->quoted,
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

static int push_head(struct pg *pg, struct buf *out, const struct rowsql_input *in, struct err *err)
{
    const struct table *t = in->table;
    buf_push_literal(out, "select ");
    int rc = keytext_push(pg, out, "t", (const char *const *)t->key, t->key_count, err);
    if (rc == 0) {
        rc = push_columns(pg, out, in, err);
    }
    buf_printf(out, "\n  from only %s t\n where ", t->quoted);
    /* on lines of its own, so that a comment in it ends there */
    if (in->where != NULL) {
        buf_push_literal(out, "(\n");
        buf_push_text(out, in->where);
        buf_push_literal(out, "\n) and ");
    }
    return rc;
}

static int push_key_list(struct pg *pg, struct buf *out, const struct table *t, const char *between,
                         struct err *err)
{
    int rc = 0;
    for (size_t i = 0; i < t->key_count && rc == 0; i++) {
        buf_push_text(out, i > 0 ? between : "");
        buf_push_literal(out, "t.");
        rc = pg_push_identifier(pg, out, t->key[i], err);
    }
    return rc;
}

static int push_order(struct pg *pg, struct buf *out, const struct table *t, size_t limit,
                      struct err *err)
{
    buf_push_literal(out, "\n order by ");
    int rc = push_key_list(pg, out, t, ", ", err);
    buf_printf(out, "\n limit $%zu::bigint", limit);
    return rc;
}

static int push_blocks(struct pg *pg, struct buf *out, const struct table *t, struct err *err)
{
    (void)pg;
    (void)t;
    (void)err;
    buf_push_literal(out, "t.ctid >= $1::tid and t.ctid < $2::tid");
    return 0;
}

static int push_first(struct pg *pg, struct buf *out, const struct table *t, struct err *err)
{
    buf_push_literal(out, "row(");
    int rc = push_key_list(pg, out, t, ", ", err);
    buf_push_literal(out, ") is not null");
    return rc == 0 ? push_order(pg, out, t, 1, err) : rc;
}

/* The operator is named with its schema, because search_path has none but PostgreSQL's own; one
 * name has to do for all columns of the comparison. */
static int push_after(struct pg *pg, struct buf *out, const struct table *t, struct err *err)
{
    buf_push_literal(out, "row(");
    int rc = push_key_list(pg, out, t, ", ", err);
    buf_push_literal(out, ") operator(");
    if (rc == 0) {
        rc = pg_push_identifier(pg, out, t->key_operators[0], err);
    }
    buf_push_literal(out, ".>) row(");
    for (size_t i = 0; i < t->key_count; i++) {
        buf_printf(out, "%s$%zu::text::%s", i > 0 ? ", " : "", i + 1, t->key_types[i]);
    }
    buf_push_literal(out, ")");
    return rc == 0 ? push_order(pg, out, t, t->key_count + 1, err) : rc;
}

static int push_nulls(struct pg *pg, struct buf *out, const struct table *t, struct err *err)
{
    buf_push_literal(out, "(");
    int rc = push_key_list(pg, out, t, " is null or ", err);
    buf_push_literal(out, " is null)");
    return rc;
}

static int push_again(struct pg *pg, struct buf *out, const struct table *t, struct err *err)
{
    int rc = 0;
    buf_push_literal(out, "exists (select from unnest(");
    for (size_t i = 1; i <= t->key_count; i++) {
        buf_printf(out, "%s$%zu::text[]", i > 1 ? ", " : "", i);
    }
    buf_push_literal(out, ") as k(");
    for (size_t i = 1; i <= t->key_count; i++) {
        buf_printf(out, "%sp%zu", i > 1 ? ", " : "", i);
    }
    buf_push_literal(out, ") where ");
    for (size_t i = 0; i < t->key_count && rc == 0; i++) {
        buf_push_text(out, i > 0 ? " and t." : "t.");
        rc = pg_push_identifier(pg, out, t->key[i], err);
        buf_push_literal(out, " operator(");
        if (rc == 0) {
            rc = pg_push_identifier(pg, out, t->key_operators[i], err);
        }
        buf_printf(out, ".=) k.p%zu::%s", i + 1, t->key_types[i]);
    }
    buf_push_literal(out, ")");
    return rc;
}

typedef int (*push_choice)(struct pg *pg, struct buf *out, const struct table *t, struct err *err);

static int build(char **out, struct pg *pg, const struct rowsql_input *in, push_choice push,
                 struct err *err)
{
    struct buf sql;
    buf_init(&sql, SQL_MAX_BYTES);
    int rc = push_head(pg, &sql, in, err);
    if (rc == 0) {
        rc = push(pg, &sql, in->table, err);
    }
    if (rc == 0 && sql.failed) {
        rc = err_set(err, ERR_REJECTED, "the statement that reads %s would be too long",
                     in->table->quoted);
    }
    *out = rc == 0 ? buf_detach(&sql) : NULL;
    buf_release(&sql);
    return rc;
}

int rowsql_build(struct rowsql *out, struct pg *pg, const struct rowsql_input *in, struct err *err)
{
    const struct {
        char **sql;
        push_choice push;
    } statements[] = {{&out->blocks, push_blocks},
                      {&out->first, push_first},
                      {&out->after, push_after},
                      {&out->nulls, push_nulls},
                      {&out->again, push_again}};
    rowsql_release(out);
    for (size_t i = 0; i < sizeof(statements) / sizeof(statements[0]); i++) {
        int rc = build(statements[i].sql, pg, in, statements[i].push, err);
        if (rc < 0) {
            return rc;
        }
    }
    return 0;
}
