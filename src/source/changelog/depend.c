/* SPDX-License-Identifier: Apache-2.0 */
/* The tables that a query depends on: look-up, captures, consumers. */
#include "changelog/depend.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "changelog/reads.h"
#include "pg/pg_private.h"
#include "rowferry/base/text.h"
#include "rowferry/source/sql/sqltext.h"
#include "sql/mentions.h"

#define NAME_MAX_BYTES ((size_t)1 << 16)
#define CALLS_MAX_BYTES ((size_t)4 << 20)

void depend_release(struct depends *d)
{
    for (size_t i = 0; i < d->count; i++) {
        struct depend *item = &d->items[i];
        if (!item->borrowed) {
            catalog_table_free(item->table);
        }
        consumer_release(&item->consumer);
        rowsql_keys_release(&item->sql);
        page_look_release(&item->other.found);
        buf_release(&item->types);
        free(item->name);
    }
    free(d->items);
    free(d->others);
    *d = (struct depends){0};
}

struct dependency *depend_copy_all(const struct dependency *from, size_t count)
{
    struct dependency *copy = count > 0 ? mem_zero(count, sizeof(*copy)) : NULL;
    for (size_t i = 0; i < count; i++) {
        copy[i].table = text_copy(from[i].table);
        copy[i].keys = text_copy(from[i].keys);
        copy[i].key = mem_zero(from[i].key_count, sizeof(*copy[i].key));
        copy[i].key_count = from[i].key_count;
        for (size_t k = 0; k < from[i].key_count; k++) {
            copy[i].key[k] = text_copy(from[i].key[k]);
        }
    }
    return copy;
}

void depend_free_all(struct dependency *d, size_t count)
{
    for (size_t i = 0; d != NULL && i < count; i++) {
        for (size_t k = 0; d[i].key != NULL && k < d[i].key_count; k++) {
            free(d[i].key[k]);
        }
        free(d[i].key);
        free(d[i].table);
        free(d[i].keys);
    }
    free(d);
}

static int depend_check_null(const struct table *t, struct err *err)
{
    if (t->key_count == 1 || t->key_not_null) {
        return 0;
    }
    err_set(err, ERR_REJECTED, "several columns of %s are recorded together, and one may be NULL",
            t->quoted);
    return err_hint(err, "make them NOT NULL, or name the table once for each column");
}

int depend_of_query(struct pg *pg, struct table **out, const struct dependency *d, struct err *err)
{
    int rc = catalog_table(pg, out, d->table, (const char *const *)d->key, d->key_count, err);
    if (rc == 0) {
        rc = catalog_capturable(*out, err);
    }
    if (rc == 0) {
        rc = depend_check_null(*out, err);
    }
    return rc < 0 ? err_context(err, "from.depends_on") : 0;
}

static int depend_find_array_types(struct depend *d, struct pg *pg, struct err *err)
{
    int rc = 0;
    for (size_t i = 0; i < d->table->key_count && rc == 0; i++) {
        struct pg_result *r = NULL;
        rc = pg_query(pg, &r, "one: int?", "select to_regtype($1 || '[]')::oid",
                      PG_PARAMS(d->table->key_types[i]), err);
        if (rc == 0) {
            d->array_types[i] = (unsigned)pg_int(r, 0, 0);
        }
        pg_result_release(r);
    }
    return rc;
}

static int depend_open_one(struct depend *d, struct pg *pg, const struct table *root,
                           struct err *err)
{
    int rc = depend_find_array_types(d, pg, err);
    if (rc == 0) {
        struct rowsql_keys_input in = {root, d->keys, d->table->key_count};
        rc = rowsql_keys_build(&d->sql, &in, err);
    }
    return rc;
}

int depend_open(struct depends *d, struct pg *pg, const struct query_input *in, struct err *err)
{
    int rc = 0;
    depend_release(d);
    d->items = mem_zero(in->dependency_count + 1, sizeof(*d->items));
    d->others = mem_zero(in->dependency_count + 1, sizeof(struct page_other *));
    for (size_t i = 0; i < in->dependency_count && rc == 0; i++) {
        struct depend *item = &d->items[d->count++];
        item->keys = in->dependencies[i].keys;
        item->borrowed = in->tables != NULL;
        if (item->borrowed) {
            item->table = in->tables[i];
        } else {
            rc = depend_of_query(pg, &item->table, &in->dependencies[i], err);
        }
        if (rc == 0) {
            rc = depend_open_one(item, pg, in->root, err);
        }
    }
    return rc;
}

static void depend_push_views(struct buf *out, const struct reads *reads)
{
    for (size_t i = 0; i < reads->count; i++) {
        if (reads->items[i].definition != NULL) {
            buf_printf(out, "view %s ", reads->items[i].quoted);
            buf_push_text(out, reads->items[i].definition);
            buf_push_char(out, '\n');
        }
    }
}

/* Rejects a text that would compare a column with the operators of another type, without a visible
 * cast. */
static int depend_refuse_compared(const struct pg_result *r, size_t row, const char *where,
                                  const char *sql, struct err *err)
{
    const char *name = pg_text(r, row, 0);
    if (sql == NULL || !sqltext_compares(sql, name)) {
        return 0;
    }
    err_set(err, ERR_REJECTED,
            "%s uses the column \"%s\", whose type %s would be taken for %s: its own operators are "
            "not in the search path",
            where, name, pg_text(r, row, 1), pg_text(r, row, 3));
    return err_hint(err,
                    "write \"%s\"::%s if it is to be compared so, or name its own operator: \"%s\" "
                    "operator(%s.=) ..",
                    name, pg_text(r, row, 3), name, pg_text(r, row, 2));
}

/* Our search path is pg_catalog only, because other roles may create objects in any other
 * schema. */
static int depend_check_compared(struct pg *pg, const struct query_input *in,
                                 const struct reads *reads, struct err *err)
{
    struct buf tables;
    struct pg_result *r = NULL;
    buf_init(&tables, NAME_MAX_BYTES);
    buf_push_literal(&tables, "{");
    for (size_t i = 0; i < reads->count; i++) {
        buf_printf(&tables, "%s%" PRIu32, i > 0 ? "," : "", reads->items[i].oid);
    }
    buf_push_literal(&tables, "}");
    int rc = pg_ask(pg, &r, "query_casts", PG_PARAMS(buf_text(&tables)), err);
    for (size_t i = 0; rc == 0 && i < pg_rows(r); i++) {
        rc = depend_refuse_compared(r, i, "from.where", in->where, err);
        rc = rc == 0 ? depend_refuse_compared(r, i, "from.query", in->root->query, err) : rc;
        for (size_t d = 0; rc == 0 && d < in->dependency_count; d++) {
            rc =
                depend_refuse_compared(r, i, "from.depends_on.keys", in->dependencies[d].keys, err);
        }
    }
    pg_result_release(r);
    buf_release(&tables);
    return rc;
}

static int depend_push_functions(struct buf *out, struct pg *pg, const struct query_input *in,
                                 const struct reads *reads, struct err *err)
{
    struct buf calls;
    struct buf array;
    struct pg_result *r = NULL;
    buf_init(&calls, CALLS_MAX_BYTES);
    buf_init(&array, CALLS_MAX_BYTES);
    mentions_push_calls(&calls, in->where);
    mentions_push_calls(&calls, in->root->query);
    for (size_t i = 0; i < in->dependency_count; i++) {
        mentions_push_calls(&calls, in->dependencies[i].keys);
    }
    for (size_t i = 0; i < reads->count; i++) {
        mentions_push_calls(&calls, reads->items[i].definition);
    }
    buf_printf(&array, "{%s}", buf_text(&calls));
    int rc =
        calls.len > 0 ? pg_ask(pg, &r, "query_functions", PG_PARAMS(buf_text(&array)), err) : 0;
    for (size_t i = 0; r != NULL && i < pg_rows(r); i++) {
        buf_printf(out, "%s %s\n", pg_text(r, i, 0), pg_text(r, i, 1));
    }
    pg_result_release(r);
    buf_release(&calls);
    buf_release(&array);
    return rc;
}

int depend_require(struct pg *pg, const struct query_input *in, struct buf *views,
                   struct buf *functions, struct err *err)
{
    struct depends depends = {0};
    struct reads reads = {0};
    int rc = depend_open(&depends, pg, in, err);
    if (rc == 0) {
        rc = reads_find(&reads, pg, in, &depends, err);
    }
    if (rc == 0) {
        rc = reads_check_covered(&reads, in, &depends, err);
    }
    if (rc == 0) {
        rc = depend_check_compared(pg, in, &reads, err);
    }
    if (rc == 0 && views != NULL) {
        depend_push_views(views, &reads);
        rc = depend_push_functions(functions, pg, in, &reads, err);
    }
    reads_release(&reads);
    depend_release(&depends);
    return rc;
}

static uint64_t depend_capture_of(const struct depend *d)
{
    return strtoull(d->installed.capture, NULL, 10);
}

static int depend_by_capture(const void *a, const void *b)
{
    uint64_t x = depend_capture_of(a);
    uint64_t y = depend_capture_of(b);
    return (x > y) - (x < y);
}

static char *depend_consumer_name(const char *consumer, const char *capture)
{
    struct buf name;
    buf_init(&name, NAME_MAX_BYTES);
    buf_printf(&name, "%s on %s", consumer, capture);
    return buf_detach(&name);
}

int depend_install(struct depends *d, struct pg *pg, const char *consumer, struct err *err)
{
    int rc = 0;
    for (size_t i = 0; i < d->count && rc == 0; i++) {
        rc = installed_require(pg, d->items[i].table, &d->items[i].installed, err);
    }
    for (size_t i = 0; i < d->count && rc == 0; i++) {
        rc = consumer_connect(&d->items[i].consumer, pg, err);
    }
    if (rc < 0) {
        return rc;
    }
    qsort(d->items, d->count, sizeof(*d->items), depend_by_capture);
    for (size_t i = 0; i < d->count; i++) { /* borrowed from their final places */
        struct depend *item = &d->items[i];
        item->name = depend_consumer_name(consumer, item->installed.capture);
        item->consumer.name = item->name;
        item->consumer.capture = item->installed.capture;
        page_other_set(&item->other, item->table, item->installed.capture);
        d->others[i] = &item->other;
    }
    return 0;
}

/* Otherwise former dependencies would keep their entries for ever. */
int depend_drop_former(const struct depends *d, struct pg *pg, const char *consumer,
                       struct err *err)
{
    struct buf captures;
    buf_init(&captures, NAME_MAX_BYTES);
    depend_push_captures(&captures, d, 0);
    int rc = pg_writer(pg, &pg, err);
    if (rc == 0) {
        rc = pg_ask(pg, NULL, "consumer_left", PG_PARAMS(consumer, buf_text(&captures)), err);
        rc = rc < 0
                 ? err_context(err, "could not remove the former dependencies of \"%s\"", consumer)
                 : 0;
    }
    buf_release(&captures);
    return rc;
}

struct depend *depend_find(struct depends *d, uint64_t capture)
{
    for (size_t i = 0; i < d->count; i++) {
        if (depend_capture_of(&d->items[i]) == capture) {
            return &d->items[i];
        }
    }
    return NULL;
}

void depend_push_captures(struct buf *out, const struct depends *d, uint64_t after)
{
    const char *between = "";
    buf_push_literal(out, "{");
    for (size_t i = 0; i < d->count; i++) {
        if (depend_capture_of(&d->items[i]) > after) {
            buf_printf(out, "%s%s", between, d->items[i].installed.capture);
            between = ",";
        }
    }
    buf_push_literal(out, "}");
}
