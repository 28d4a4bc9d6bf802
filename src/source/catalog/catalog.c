/* SPDX-License-Identifier: Apache-2.0 */
/* Catalog facts about a table. */
#include "rowferry/source/catalog/catalog.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "catalog/catalog_private.h"
#include "pg/pg_private.h"
#include "rowferry/base/buf.h"
#include "rowferry/base/text.h"
#include "rowferry/document/model/key.h"
#include "rowferry/source/sql/tablename.h"
#include "sql/sqlquote.h"

#define TEXT_MAX_BYTES ((size_t)1 << 20)
#define FIRST_USER_DEFINED 16384 /* smaller oids are the server's own */

void catalog_table_free(struct table *t)
{
    if (t == NULL) {
        return;
    }
    row_columns_release(&t->columns);
    row_columns_release(&t->own);
    text_free_list(t->key, t->key_count);
    text_free_list(t->key_types, t->key_count);
    text_free_list(t->key_operators, t->key_count);
    free(t->query);
    free(t->schema);
    free(t->name);
    free(t->quoted);
    free(t->definition);
    free(t->obstacle);
    free(t->key_obstacle);
    free(t);
}

/* Returns all tables as a configuration names them, ended by null; the caller frees the list. */
static char **catalog_list_names(const struct pg_result *r)
{
    size_t count = pg_rows(r);
    char **names = mem_zero(count + 1, sizeof(*names));
    for (size_t i = 0; i < count; i++) {
        names[i] = tablename_text(pg_text(r, i, 0), pg_text(r, i, 1));
    }
    return names;
}

static int catalog_no_such_table(struct pg *pg, const struct table *t, struct err *err)
{
    struct pg_result *r = NULL;
    char *name = tablename_text(t->schema, t->name);
    int rc = pg_ask(pg, &r, "table_names", NULL, 0, err);
    if (rc == 0) {
        char **names = catalog_list_names(r);
        const char *nearest = text_nearest(name, (const char *const *)names);
        rc = err_set(err, ERR_REJECTED, "table \"%s\" does not exist in the source", name);
        if (nearest != NULL) {
            err_hint(err, "did you mean \"%s\"?", nearest);
            err->guess = true;
        }
        text_free_list(names, pg_rows(r));
    }
    free(name);
    pg_result_release(r);
    return rc;
}

static char *catalog_quote_name(const struct table *t)
{
    struct buf quoted;
    buf_init(&quoted, TEXT_MAX_BYTES);
    sqlquote_identifier(&quoted, t->schema);
    buf_push_char(&quoted, '.');
    sqlquote_identifier(&quoted, t->name);
    return buf_detach(&quoted);
}

static int catalog_find(struct pg *pg, struct table *t, struct err *err)
{
    static const struct pg_member members[] = {PG_MEMBER(struct table, oid),
                                               PG_MEMBER(struct table, kind),
                                               PG_MEMBER(struct table, persistence),
                                               PG_MEMBER(struct table, tree),
                                               PG_MEMBER(struct table, is_child),
                                               PG_MEMBER(struct table, is_heap),
                                               PG_MEMBER(struct table, row_security),
                                               PG_MEMBER(struct table, estimated_rows),
                                               PG_MEMBER(struct table, bytes),
                                               PG_MEMBER(struct table, obstacle),
                                               {0}};
    struct pg_result *r = NULL;
    int rc = pg_ask(pg, &r, "table_find", PG_PARAMS(t->schema, t->name), err);
    if (rc == 0 && pg_rows(r) == 0) {
        rc = catalog_no_such_table(pg, t, err);
    } else if (rc == 0) {
        pg_read_row(r, 0, 0, members, t);
        t->tree = t->tree || t->kind == 'p';
        t->is_heap = t->is_heap && !t->tree;
        t->quoted = catalog_quote_name(t);
    }
    pg_result_release(r);
    return rc;
}

static int catalog_refuse(const struct table *t, const char *why, struct err *err)
{
    return err_set(err, ERR_REJECTED, "cannot capture the changes of %s: it %s", t->quoted, why);
}

/* Rejects relations that no capture can follow, because they are not tables. */
static int catalog_require_table(const struct table *t, struct err *err)
{
    static const struct {
        char kinds[3];
        const char *why;
        const char *hint;
    } others[] = {
        {"vm", "is a view, and a view has no changes of its own",
         "name the table behind it, and give what the view selects as from.query with "
         "from.depends_on"},
        {"f", "is a foreign table, whose changes happen elsewhere",
         "name the database where they happen as the source"},
        {"S", "is a sequence, and not a table",
         "name the table whose column takes its values from it"},
    };
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
        if (strchr(others[i].kinds, t->kind) != NULL) {
            catalog_refuse(t, others[i].why, err);
            return err_hint(err, "%s", others[i].hint);
        }
    }
    return 0;
}

int catalog_columns(struct pg *pg, struct columns *out, const char *const *params, size_t count,
                    char ***operators, struct err *err)
{
    struct pg_result *r = NULL;
    int rc = pg_ask(pg, &r, "table_columns", params, count, err);
    if (rc == 0) {
        column_tree(out, operators, r);
    }
    pg_result_release(r);
    return rc;
}

static void catalog_take_key(struct table *t, const char *const *key, size_t count)
{
    t->key_count = count;
    t->key = text_copy_list(key, count);
}

static int catalog_primary_key(struct pg *pg, struct table *t, struct err *err)
{
    const char *key[KEY_MAX_PARTS];
    struct pg_result *r = NULL;
    int rc = pg_ask(pg, &r, "table_primary_key", PG_PARAMS(PG_INT(t->oid)), err);
    if (rc == 0 && pg_rows(r) == 0) {
        err_set(err, ERR_REJECTED, "table %s has no primary key", t->quoted);
        rc = err_hint(err, "name the columns that identify a row: \"key\": [\"...\"]");
    } else if (rc == 0 && pg_rows(r) > KEY_MAX_PARTS) {
        rc = err_set(err, ERR_REJECTED, "the key of table %s has too many columns", t->quoted);
    } else if (rc == 0) {
        for (size_t i = 0; i < pg_rows(r); i++) {
            key[i] = pg_text(r, i, 0);
        }
        catalog_take_key(t, key, pg_rows(r));
    }
    pg_result_release(r);
    return rc;
}

static int catalog_no_such_column(const struct table *t, const char *name, struct err *err)
{
    const char **names = mem_zero(t->columns.count + 1, sizeof(*names));
    for (size_t i = 0; i < t->columns.count; i++) {
        names[i] = t->columns.items[i].name;
    }
    const char *nearest = text_nearest(name, names);
    free(names);
    err_set(err, ERR_REJECTED, "table %s has no column \"%s\"", t->quoted, name);
    if (nearest != NULL) {
        err_hint(err, "did you mean \"%s\"?", nearest);
    }
    return ERR_REJECTED;
}

bool catalog_is_users(const struct column *c)
{
    return c->oid >= FIRST_USER_DEFINED;
}

bool catalog_key_is_users(const struct table *t, size_t part)
{
    const struct column *c = row_columns_find(&t->columns, t->key[part]);
    return c == NULL || catalog_is_users(c);
}

bool catalog_key_has_own_operators(const struct table *t)
{
    bool own = true;
    for (size_t i = 0; i < t->key_count; i++) {
        own = own && strcmp(t->key_operators[i], "pg_catalog") == 0;
    }
    return own;
}

/* Arrays of arrays do not exist, so such a key would be read with a cast from text. */
static int catalog_check_key_type(const struct table *t, size_t part, const struct column *c,
                                  struct err *err)
{
    if (c->category != COLUMN_ARRAY || !catalog_key_is_users(t, part)) {
        return 0;
    }
    err_set(err, ERR_REJECTED,
            "cannot use the key column \"%s\" of %s: it is an array of a "
            "user-defined type",
            c->name, t->quoted);
    return err_hint(err, "name a key column of another type, or make it an array of text");
}

/* Finds the types of the key, and whether it can be NULL. */
static int catalog_describe_key(struct table *t, char **operators, struct err *err)
{
    t->key_types = mem_zero(t->key_count, sizeof(*t->key_types));
    t->key_operators = mem_zero(t->key_count, sizeof(*t->key_operators));
    t->key_not_null = true;
    for (size_t i = 0; i < t->key_count; i++) {
        const struct column *c = row_columns_find(&t->columns, t->key[i]);
        if (c == NULL) {
            return catalog_no_such_column(t, t->key[i], err);
        }
        int rc = catalog_check_key_type(t, i, c, err);
        if (rc < 0) {
            return rc;
        }
        t->key_types[i] = text_copy(c->declared);
        t->key_operators[i] = text_copy(operators[c - t->columns.items]);
        t->key_not_null = t->key_not_null && c->not_null;
    }
    if (t->tree && t->kind != 'p') { /* its constraints do not apply to child tables */
        t->key_not_null = false;
    }
    return 0;
}

static int catalog_look_unique(struct pg *pg, struct table *t, struct err *err)
{
    static const struct pg_member members[] = {
        PG_MEMBER(struct table, key_unique), PG_MEMBER(struct table, key_obstacle), {0}};
    struct buf key;
    buf_init(&key, TEXT_MAX_BYTES);
    sqlquote_array(&key, (const char *const *)t->key, t->key_count);
    int rc = pg_ask_row(pg, "table_key_unique", PG_PARAMS(PG_INT(t->oid), buf_text(&key)), members,
                        t, err);
    buf_release(&key);
    return rc;
}

void catalog_take_fingerprint(struct table *t, const struct buf *all)
{
    snprintf(t->fingerprint, sizeof(t->fingerprint), "%016" PRIx64,
             text_hash(buf_text(all), all->len));
}

static int catalog_read_definition(struct pg *pg, struct table *t, struct err *err)
{
    static const struct pg_member members[] = {PG_MEMBER(struct table, definition), {0}};
    struct buf all;
    int rc = pg_ask_row(pg, "table_definition", PG_PARAMS(PG_INT(t->oid)), members, t, err);
    if (rc < 0) {
        return rc;
    }
    buf_init(&all, TEXT_MAX_BYTES);
    buf_push_text(&all, t->definition);
    for (size_t i = 0; i < t->key_count; i++) {
        buf_printf(&all, "\nkey %s", t->key[i]);
    }
    catalog_take_fingerprint(t, &all);
    buf_release(&all);
    return 0;
}

static int catalog_read_table(struct pg *pg, struct table *t, const char *const *key,
                              size_t key_count, struct err *err)
{
    char **operators = NULL;
    int rc = catalog_find(pg, t, err);
    rc = rc == 0 ? catalog_require_table(t, err) : rc;
    if (rc == 0) {
        rc = catalog_columns(pg, &t->columns, PG_PARAMS(PG_INT(t->oid), NULL, NULL, NULL),
                             &operators, err);
    }
    if (rc == 0 && key_count > 0) {
        catalog_take_key(t, key, key_count);
    } else if (rc == 0) {
        rc = catalog_primary_key(pg, t, err);
    }
    rc = rc == 0 ? catalog_describe_key(t, operators, err) : rc;
    rc = rc == 0 ? catalog_look_unique(pg, t, err) : rc;
    rc = rc == 0 ? catalog_read_definition(pg, t, err) : rc;
    text_free_list(operators, t->columns.count);
    return rc;
}

int catalog_table(struct pg *pg, struct table **out, const char *name, const char *const *key,
                  size_t key_count, struct err *err)
{
    struct tablename named;
    *out = NULL;
    int rc = tablename_parse(&named, name, err);
    if (rc < 0) {
        return err_context(err, "table %s", name);
    }
    struct table *t = mem_zero(1, sizeof(*t));
    t->schema = named.schema;
    t->name = named.table;
    rc = catalog_read_table(pg, t, key, key_count, err);
    if (rc < 0) {
        catalog_table_free(t);
        return rc;
    }
    *out = t;
    return 0;
}

int catalog_capturable(const struct table *t, struct err *err)
{
    const char *why = NULL;
    if (t->is_child) {
        why = "is a partition or inherits from another table, whose writes would not be seen";
    } else if (t->persistence != 'p') {
        why = "is temporary or unlogged, so that it can lose rows without a trace";
    } else {
        why = t->key_obstacle != NULL ? t->key_obstacle : t->obstacle;
    }
    if (why == NULL) {
        return 0;
    }
    int rc = catalog_refuse(t, why, err);
    return why == t->key_obstacle
               ? err_hint(err, "name another key column, or make it a stored generated column")
               : rc;
}

/* For another name PostgreSQL would take an offset out of it, "Europe/Berlin2" for one, without an
 * error. */
int catalog_check_zones(struct pg *pg, char *const *zones, size_t count, struct err *err)
{
    int rc = 0;
    for (size_t i = 0; i < count && rc == 0; i++) {
        bool known = true;
        if (zones[i] != NULL) {
            rc = pg_query_bool(pg,
                               "select exists (select from pg_timezone_names where lower(name) = "
                               "lower($1))",
                               &(const char *){zones[i]}, 1, &known, err);
        }
        if (rc == 0 && !known) {
            err_set(err, ERR_REJECTED, "PostgreSQL has no time zone \"%s\"", zones[i]);
            rc = err_hint(err, "correct \"zone\" in \"fields\"; pg_timezone_names lists the names");
        }
    }
    return rc;
}
