/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the tables that statements read, from the locks that planning takes. */
#include "changelog/reads.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "catalog/catalog_private.h"
#include "pg/pg_private.h"
#include "rowferry/base/text.h"
#include "sql/plancalls.h"

#define SQL_MAX_BYTES ((size_t)2 << 20)

void reads_release(struct reads *r)
{
    for (size_t i = 0; i < r->count; i++) {
        free(r->items[i].quoted);
        free(r->items[i].definition);
    }
    free(r->items);
    buf_release(&r->plan);
    *r = (struct reads){0};
}

static int reads_plan_rows(struct pg *pg, const struct query_input *in, struct pg_result **plan,
                           struct err *err)
{
    struct buf sql;
    buf_init(&sql, SQL_MAX_BYTES);
    buf_push_literal(&sql, "explain (verbose, costs off) select * from ");
    query_push_source(&sql, in->root);
    if (in->where != NULL) { /* separate lines end a comment in it */
        buf_push_literal(&sql, " where (\n");
        buf_push_text(&sql, in->where);
        buf_push_literal(&sql, "\n)");
    }
    int rc = sql.failed ? err_set(err, ERR_CONFIG, "from.where is too long")
                        : pg_query(pg, plan, "any: text", buf_text(&sql), NULL, 0, err);
    buf_release(&sql);
    return rc < 0 ? err_context(err, "cannot read table %s%s", in->root->quoted,
                                in->where != NULL ? " with from.where" : "")
                  : 0;
}

/* In one: a literal may have lines. */
static void reads_push_plan(struct buf *out, const struct pg_result *r)
{
    for (size_t i = 0; r != NULL && i < pg_rows(r); i++) {
        buf_push_text(out, pg_text(r, i, 0));
        buf_push_char(out, '\n');
    }
}

/* Empty arrays: what matters is the plan. */
static int reads_plan_keys(struct pg *pg, const struct depend *d, struct err *err)
{
    struct buf sql;
    const char *params[KEY_MAX_PARTS + 1];
    Oid types[KEY_MAX_PARTS + 1] = {0};
    size_t count = d->table->key_count;
    for (size_t i = 0; i < count; i++) {
        params[i] = "{}";
        types[i] = d->array_types[i];
    }
    params[count] = "1";
    buf_init(&sql, SQL_MAX_BYTES);
    buf_push_literal(&sql, "explain ");
    buf_push_text(&sql, d->sql.first);
    int rc = pg_exec(pg, NULL, NULL, buf_text(&sql), types, params, count + 1, err);
    buf_release(&sql);
    return rc < 0 ? err_context(err, "from.depends_on: the keys of table %s", d->table->quoted) : 0;
}

static int reads_take_locked(struct reads *out, struct pg *pg, struct err *err)
{
    struct pg_result *r = NULL;
    int rc = pg_ask(pg, &r, "query_reads", NULL, 0, err);
    size_t count = rc == 0 ? pg_rows(r) : 0;
    out->items = mem_zero(count + 1, sizeof(*out->items));
    for (size_t i = 0; i < count; i++) {
        const char *definition = pg_text(r, i, 4);
        out->items[out->count++] =
            (struct read_table){.oid = (uint32_t)pg_int(r, i, 0),
                                .kind = pg_text(r, i, 1)[0],
                                .allowed = pg_true(r, i, 3),
                                .tree = pg_true(r, i, 5),
                                .quoted = text_copy(pg_text(r, i, 2)),
                                .definition = definition != NULL ? text_copy(definition) : NULL};
    }
    pg_result_release(r);
    return rc;
}

int reads_find(struct reads *out, struct pg *pg, const struct query_input *in,
               const struct depends *depends, struct err *err)
{
    struct err ignored;
    struct pg_result *plan = NULL;
    reads_release(out);
    int rc = pg_script(pg, "begin isolation level read committed read only;" PG_GUARD_PATH, err);
    if (rc == 0) {
        rc = reads_plan_rows(pg, in, &plan, err);
    }
    for (size_t i = 0; i < depends->count && rc == 0; i++) {
        rc = reads_plan_keys(pg, &depends->items[i], err);
    }
    if (rc == 0) {
        rc = reads_take_locked(out, pg, err);
    }
    buf_init(&out->plan, SQL_MAX_BYTES);
    reads_push_plan(&out->plan, plan);
    pg_result_release(plan);
    int ended = pg_script(pg, "rollback", &ignored);
    if (rc < 0 && (strcmp(err->sqlstate, "42P01") == 0 || strcmp(err->sqlstate, "42883") == 0)) {
        err_hint(err, "name tables and functions with their schema, like public.articles");
    }
    return rc == 0 && ended < 0 ? err_set(err, ERR_TRANSIENT, "%s", ignored.message) : rc;
}

int reads_volatile(struct pg *pg, const struct query_input *in, struct buf *function,
                   struct err *err)
{
    struct buf plan;
    struct buf names;
    struct buf array;
    struct pg_result *r = NULL;
    buf_init(&plan, SQL_MAX_BYTES);
    buf_init(&names, SQL_MAX_BYTES);
    buf_init(&array, SQL_MAX_BYTES);
    int rc = reads_plan_rows(pg, in, &r, err);
    reads_push_plan(&plan, r);
    pg_result_release(r);
    r = NULL;
    plancalls_push(&names, buf_text(&plan));
    buf_printf(&array, "{%s}", buf_text(&names));
    if (rc == 0) {
        rc = pg_ask(pg, &r, "query_unsteady", PG_PARAMS(buf_text(&array)), err);
    }
    if (rc == 0 && pg_rows(r) > 0) {
        buf_push_text(function, pg_text(r, 0, 0));
    }
    pg_result_release(r);
    buf_release(&plan);
    buf_release(&names);
    buf_release(&array);
    return rc;
}

static bool reads_covered(const struct read_table *t, const struct query_input *in,
                          const struct depends *depends)
{
    bool found = t->kind == 'v' || t->oid == in->root->oid;
    for (size_t i = 0; i < depends->count && !found; i++) {
        found = depends->items[i].table->oid == t->oid;
    }
    return found;
}

int reads_check_covered(const struct reads *r, const struct query_input *in,
                        const struct depends *depends, struct err *err)
{
    for (size_t i = 0; i < r->count; i++) {
        if (reads_covered(&r->items[i], in, depends)) {
            continue;
        }
        err_set(err, ERR_REJECTED, "%s reads the table %s, whose changes would not be seen",
                in->root->query != NULL ? "from.query" : "from.where", r->items[i].quoted);
        return err_hint(err, "%s",
                        in->root->query != NULL
                            ? "name it in from.depends_on, with the columns that lead to keys of "
                              "from.table"
                            : "use from.query with from.depends_on");
    }
    return 0;
}

void reads_push_lock(struct buf *out, const struct reads *r, const struct table *root)
{
    buf_printf(out, "lock table %s%s", root->tree ? "" : "only ", root->quoted);
    for (size_t i = 0; i < r->count; i++) {
        const struct read_table *t = &r->items[i];
        if (t->allowed && t->oid != root->oid && strchr("rpv", t->kind) != NULL) {
            buf_printf(out, ", %s%s", t->kind == 'r' && !t->tree ? "only " : "", t->quoted);
        }
    }
    buf_push_literal(out, " in access share mode");
}
