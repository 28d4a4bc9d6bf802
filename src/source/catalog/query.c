/* SPDX-License-Identifier: Apache-2.0 */
/* A query that replaces a table's rows: its columns. */
#include <stdlib.h>
#include <string.h>

#include "catalog/catalog_private.h"
#include "pg/pg_private.h"
#include "rowferry/base/text.h"
#include "sql/sqlquote.h"

#define TEXT_MAX_BYTES ((size_t)1 << 20)

void query_push_table(struct buf *out, const struct table *t)
{
    buf_printf(out, "%s%s t", t->tree ? "" : "only ", t->quoted);
}

/* The query is on separate lines, so that a comment at its end cannot hide what follows. */
void query_push_source(struct buf *out, const struct table *t)
{
    if (t->query == NULL) {
        query_push_table(out, t);
        return;
    }
    buf_push_literal(out, "(\n");
    buf_push_text(out, t->query);
    buf_push_literal(out, "\n) t");
}

/* Names, types and modifiers of a result's columns, as arrays. */
struct described {
    struct buf names;
    struct buf types;
    struct buf modifiers;
};

/* Returns the first duplicate name, or null. */
static const char *query_twice(const PGresult *r)
{
    for (int i = 0; i < PQnfields(r); i++) {
        for (int k = 0; k < i; k++) {
            if (strcmp(PQfname(r, i), PQfname(r, k)) == 0) {
                return PQfname(r, i);
            }
        }
    }
    return NULL;
}

static void query_describe(struct described *d, const PGresult *r)
{
    buf_push_literal(&d->names, "{");
    buf_push_literal(&d->types, "{");
    buf_push_literal(&d->modifiers, "{");
    for (int i = 0; i < PQnfields(r); i++) {
        const char *comma = i > 0 ? "," : "";
        buf_push_text(&d->names, comma);
        sqlquote_item(&d->names, PQfname(r, i));
        buf_printf(&d->types, "%s%u", comma, PQftype(r, i));
        buf_printf(&d->modifiers, "%s%d", comma, PQfmod(r, i));
    }
    buf_push_literal(&d->names, "}");
    buf_push_literal(&d->types, "}");
    buf_push_literal(&d->modifiers, "}");
}

/* Has the server parse the query, and takes its description of the columns. */
static int query_ask_server(struct pg *pg, struct described *d, const char *sql, struct err *err)
{
    PGresult *r;
    int rc = pg_describe(pg, &r, sql, err);
    if (rc < 0) {
        if (strcmp(err->sqlstate, "42P01") == 0 || strcmp(err->sqlstate, "42883") == 0) {
            err_hint(err, "name tables and functions with their schema, like public.articles");
        }
        return rc;
    }
    const char *twice = query_twice(r);
    if (PQnparams(r) > 0) {
        rc = err_set(err, ERR_REJECTED, "it has a parameter");
    } else if (twice != NULL) {
        err_set(err, ERR_REJECTED, "it has two columns \"%s\"", twice);
        rc = err_hint(err, "give each a name of its own: select ..., x.%s as other_name", twice);
    } else {
        query_describe(d, r);
    }
    PQclear(r);
    return rc;
}

static int query_read_columns(struct pg *pg, struct table *t, struct err *err)
{
    struct buf sql;
    struct described d;
    struct columns columns = {0};
    char **operators = NULL;
    buf_init(&sql, TEXT_MAX_BYTES);
    buf_init(&d.names, TEXT_MAX_BYTES);
    buf_init(&d.types, TEXT_MAX_BYTES);
    buf_init(&d.modifiers, TEXT_MAX_BYTES);
    buf_push_literal(&sql, "select * from ");
    query_push_source(&sql, t);
    int rc = sql.failed ? err_set(err, ERR_REJECTED, "it is too long")
                        : query_ask_server(pg, &d, buf_text(&sql), err);
    if (rc == 0) {
        rc = catalog_columns(
            pg, &columns,
            PG_PARAMS(NULL, buf_text(&d.names), buf_text(&d.types), buf_text(&d.modifiers)),
            &operators, err);
    }
    text_free_list(operators, columns.count);
    if (t->own.count == 0) {
        t->own = t->columns;
    } else {
        row_columns_release(&t->columns);
    }
    t->columns = columns;
    buf_release(&sql);
    buf_release(&d.names);
    buf_release(&d.types);
    buf_release(&d.modifiers);
    return rc;
}

/* Checks that the query's key columns have the types of the keys in the log. */
static int query_check_key(const struct table *t, struct err *err)
{
    for (size_t i = 0; i < t->key_count; i++) {
        const struct column *c = row_columns_find(&t->columns, t->key[i]);
        if (c == NULL) {
            err_set(err, ERR_REJECTED, "it has no column \"%s\", which is of the key of %s",
                    t->key[i], t->quoted);
            return err_hint(err, "select the columns of the key under their own names");
        }
        if (strcmp(c->declared, t->key_types[i]) != 0) {
            err_set(err, ERR_REJECTED, "its column \"%s\" is %s, in %s it is %s", t->key[i],
                    c->declared, t->quoted, t->key_types[i]);
            return err_hint(err, "select the columns of the key as they are");
        }
    }
    return 0;
}

static void query_take_fingerprint(struct table *t)
{
    struct buf all;
    buf_init(&all, 8 * TEXT_MAX_BYTES);
    buf_printf(&all, "%s\nquery ", t->fingerprint);
    buf_push_text(&all, t->query);
    for (size_t i = 0; i < t->columns.count; i++) {
        buf_printf(&all, "\ncolumn %s %s", t->columns.items[i].name, t->columns.items[i].declared);
    }
    catalog_take_fingerprint(t, &all);
    buf_release(&all);
}

int query_describe_columns(struct pg *pg, struct table *t, const char *query, struct err *err)
{
    free(t->query);
    t->query = text_copy(query);
    int rc = query_read_columns(pg, t, err);
    if (rc == 0) {
        rc = query_check_key(t, err);
    }
    if (rc == 0) {
        query_take_fingerprint(t);
    }
    return rc < 0 ? err_context(err, "cannot read from.query") : 0;
}
