/* SPDX-License-Identifier: Apache-2.0 */
/* Foreign keys, and the path by which they lead from a table's changes to the root's keys. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rowferry/base/text.h"
#include "rowferry/source/sql/tablename.h"
#include "sql/sqlquote.h"
#include "survey/survey_private.h"

#define WAY_MOST 6 /* foreign keys from a table to the root */

enum {
    LINK,
    CHILD,
    PARENT,
    CHILD_SCHEMA,
    CHILD_TABLE,
    PARENT_SCHEMA,
    PARENT_TABLE,
    CHILD_QUOTED,
    PARENT_QUOTED,
    PAIR, /* the first of its columns */
};

/* --- reading --------------------------------------------------------------------------------- */

void survey_links_release(struct survey_links *l)
{
    for (size_t i = 0; i < l->count; i++) {
        struct survey_link *link = &l->items[i];
        for (size_t k = 0; k < link->pair_count; k++) {
            free(link->pairs[k].child);
            free(link->pairs[k].parent);
            free(link->pairs[k].child_quoted);
            free(link->pairs[k].parent_quoted);
        }
        free(link->pairs);
        free(link->child_name);
        free(link->parent_name);
        free(link->child_quoted);
        free(link->parent_quoted);
    }
    free(l->items);
    *l = (struct survey_links){0};
}

static struct survey_link *survey_links_begin_link(struct survey_links *l,
                                                   const struct pg_result *r, size_t row)
{
    l->items = mem_grow(l->items, l->count + 1, sizeof(*l->items));
    struct survey_link *link = &l->items[l->count++];
    *link = (struct survey_link){
        .child = (uint32_t)pg_int(r, row, CHILD),
        .parent = (uint32_t)pg_int(r, row, PARENT),
        .child_name = tablename_text(pg_text(r, row, CHILD_SCHEMA), pg_text(r, row, CHILD_TABLE)),
        .parent_name =
            tablename_text(pg_text(r, row, PARENT_SCHEMA), pg_text(r, row, PARENT_TABLE)),
        .child_quoted = text_copy(pg_text(r, row, CHILD_QUOTED)),
        .parent_quoted = text_copy(pg_text(r, row, PARENT_QUOTED)),
    };
    return link;
}

static void survey_links_take_pair(struct survey_link *link, const struct pg_result *r, size_t row)
{
    static const struct pg_member members[] = {
        PG_MEMBER(struct survey_pair, child),        PG_MEMBER(struct survey_pair, parent),
        PG_MEMBER(struct survey_pair, child_quoted), PG_MEMBER(struct survey_pair, parent_quoted),
        PG_MEMBER(struct survey_pair, same_type),    {0}};
    link->pairs = mem_grow(link->pairs, link->pair_count + 1, sizeof(*link->pairs));
    pg_read_row(r, row, PAIR, members, &link->pairs[link->pair_count++]);
}

int survey_links_read(struct survey_links *out, struct pg *pg, const uint32_t *oids, size_t count,
                      struct err *err)
{
    struct buf list;
    struct pg_result *r = NULL;
    *out = (struct survey_links){0};
    buf_init(&list, SURVEY_TEXT_BYTES);
    buf_push_char(&list, '{');
    for (size_t i = 0; i < count; i++) {
        buf_printf(&list, "%s%" PRIu32, i > 0 ? "," : "", oids[i]);
    }
    buf_push_char(&list, '}');
    int rc = pg_ask(pg, &r, "survey_links", PG_PARAMS(buf_text(&list)), err);
    struct survey_link *link = NULL;
    for (size_t i = 0; rc == 0 && i < pg_rows(r); i++) {
        if (link == NULL || pg_int(r, i, LINK) != pg_int(r, i - 1, LINK)) {
            link = survey_links_begin_link(out, r, i);
        }
        survey_links_take_pair(link, r, i);
    }
    pg_result_release(r);
    buf_release(&list);
    return rc;
}

/* --- the path to the root -------------------------------------------------------------------- */

/* One foreign key of a path, in the direction away from the root. */
struct link_step {
    const struct survey_link *link;
    bool to_parent; /* the step leads to the link's parent table */
};

struct way {
    struct link_step steps[WAY_MOST];
    size_t count;
};

static bool survey_links_step_from(struct link_step *out, const struct survey_link *link,
                                   uint32_t oid, bool parents)
{
    *out = (struct link_step){link, parents};
    return (parents ? link->child : link->parent) == oid;
}

static uint32_t survey_links_step_end(const struct link_step *s)
{
    return s->to_parent ? s->link->parent : s->link->child;
}

static bool survey_links_is_on(const struct way *way, uint32_t root, uint32_t oid)
{
    bool on = oid == root;
    for (size_t i = 0; i < way->count; i++) {
        on = on || survey_links_step_end(&way->steps[i]) == oid;
    }
    return on;
}

/* Returns true if a path of exactly `left` more foreign keys leads from `at` to the table. */
static bool survey_links_find_way(struct way *way, const struct survey_links *links, uint32_t root,
                                  uint32_t at, uint32_t table, size_t left)
{
    if (left == 0) {
        return at == table;
    }
    for (size_t i = 0; i < 2 * links->count; i++) {
        struct link_step step;
        bool fits = survey_links_step_from(&step, &links->items[i / 2], at, i % 2 == 0);
        if (!fits || survey_links_is_on(way, root, survey_links_step_end(&step))) {
            continue;
        }
        way->steps[way->count++] = step;
        if (survey_links_find_way(way, links, root, survey_links_step_end(&step), table,
                                  left - 1)) {
            return true;
        }
        way->count--;
    }
    return false;
}

/* --- dependencies ---------------------------------------------------------------------------- */

/* Returns a column of the table at the step's end, or of the table at its beginning. */
static const char *survey_links_column_of(const struct link_step *s, size_t i, bool end,
                                          bool quoted)
{
    const struct survey_pair *p = &s->link->pairs[i];
    bool parent = s->to_parent == end;
    return quoted ? (parent ? p->parent_quoted : p->child_quoted) : (parent ? p->parent : p->child);
}

static void survey_links_push_columns(struct buf *out, const struct link_step *s, const char *alias,
                                      bool end)
{
    size_t count = s->link->pair_count;
    buf_push_text(out, count > 1 ? "(" : "");
    for (size_t i = 0; i < count; i++) {
        buf_printf(out, "%s%s.", i > 0 ? ", " : "", alias);
        buf_push_text(out, survey_links_column_of(s, i, end, true));
    }
    buf_push_text(out, count > 1 ? ")" : "");
}

static void survey_links_push_parameters(struct buf *out, size_t count)
{
    for (size_t i = 1; i <= count; i++) {
        buf_printf(out, "%s$%zu", i > 1 ? ", " : "", i);
    }
}

static void survey_links_push_arrays(struct buf *out, size_t count)
{
    buf_push_text(out, count == 1 ? " = any(" : " in (select * from unnest(");
    survey_links_push_parameters(out, count);
    buf_push_text(out, count == 1 ? ")" : "))");
}

/* Returns true if the table is a child that references the root's key, so that its own columns are
 * the key. */
static bool survey_links_is_pointer(const struct table *root, const struct way *way)
{
    const struct survey_link *link = way->steps[0].link;
    bool points =
        way->count == 1 && !way->steps[0].to_parent && link->pair_count == root->key_count;
    for (size_t i = 0; points && i < root->key_count; i++) {
        points = strcmp(link->pairs[i].parent, root->key[i]) == 0 && link->pairs[i].same_type;
    }
    return points;
}

/* Pushes: from root a0 join t1 a1 on (a1.id) = (a0.t1_id) ... where (a1.x) = any($1). The last
 * table is left out, because the table before it has the recorded columns too. */
static void survey_links_push_way(struct buf *out, const struct way *way)
{
    char alias[32] = "a0";
    for (size_t i = 0; i + 1 < way->count; i++) {
        const struct link_step *s = &way->steps[i];
        char next[32];
        snprintf(next, sizeof(next), "a%zu", i + 1);
        buf_printf(out, " join %s %s on ",
                   s->to_parent ? s->link->parent_quoted : s->link->child_quoted, next);
        survey_links_push_columns(out, s, next, true);
        buf_push_literal(out, " = ");
        survey_links_push_columns(out, s, alias, false);
        snprintf(alias, sizeof(alias), "%s", next);
    }
    const struct link_step *last = &way->steps[way->count - 1];
    buf_push_literal(out, " where ");
    survey_links_push_columns(out, last, alias, false);
    survey_links_push_arrays(out, last->link->pair_count);
}

static void survey_links_push_keys(struct survey_sql *sql, const struct table *root,
                                   const struct way *way)
{
    struct buf *out = &sql->text;
    if (way->count > 0 && survey_links_is_pointer(root, way)) {
        buf_push_text(out, root->key_count == 1 ? "select unnest(" : "select * from unnest(");
        survey_links_push_parameters(out, root->key_count);
        buf_push_char(out, ')');
        return;
    }
    buf_push_text(out, way->count > 1 ? "select distinct " : "select ");
    for (size_t i = 0; i < root->key_count; i++) {
        buf_push_text(out, i > 0 ? ", a0." : "a0.");
        survey_push_name(sql, root->key[i]);
    }
    buf_push_literal(out, " from ");
    survey_push_table(sql, root->schema, root->name);
    buf_push_literal(out, " a0");
    if (way->count == 0) {
        buf_push_literal(out, " where cardinality($1) > 0");
    } else {
        survey_links_push_way(out, way);
    }
}

static void survey_links_add_doubt(struct survey *s, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void survey_links_add_doubt(struct survey *s, const char *format, ...)
{
    char *text = NULL;
    va_list args;
    va_start(args, format);
    int len = vasprintf(&text, format, args);
    va_end(args);
    if (len < 0) {
        mem_exhausted();
    }
    s->doubts = mem_grow(s->doubts, s->doubt_count + 1, sizeof(*s->doubts));
    s->doubts[s->doubt_count++] = text;
}

static char **survey_links_key_of_end(const struct way *way, size_t *count)
{
    const struct link_step *last = &way->steps[way->count - 1];
    *count = last->link->pair_count;
    char **key = mem_zero(*count, sizeof(*key));
    for (size_t i = 0; i < *count; i++) {
        key[i] = text_copy(survey_links_column_of(last, i, true, false));
    }
    return key;
}

/* Records any column: if no path exists, each change affects all documents. */
static int survey_links_key_of_table(struct pg *pg, const struct survey_found *table, char ***key,
                                     size_t *count, struct err *err)
{
    struct survey own = {0};
    int rc = survey_open(pg, &own.table, table, &own, err);
    if (rc == 0) {
        *count = 1;
        *key = mem_zero(1, sizeof(**key));
        (*key)[0] = text_copy(own.table->key[0]);
    }
    survey_release(&own);
    return rc;
}

static bool survey_links_find_shortest(struct way *way, const struct survey_links *links,
                                       uint32_t root, uint32_t table)
{
    for (size_t length = 1; length <= WAY_MOST; length++) {
        *way = (struct way){0};
        if (survey_links_find_way(way, links, root, root, table, length)) {
            return true;
        }
    }
    *way = (struct way){0};
    return false;
}

static int survey_links_add_dependency(struct survey *s, struct pg *pg, const struct way *way,
                                       const struct survey_found *table, struct err *err)
{
    struct survey_sql keys;
    int rc = 0;
    s->dependencies = mem_grow(s->dependencies, s->dependency_count + 1, sizeof(*s->dependencies));
    struct dependency *d = &s->dependencies[s->dependency_count++];
    *d = (struct dependency){.table = text_copy(table->name)};
    survey_sql_init(&keys, pg, err);
    if (way->count > 0) {
        d->key = survey_links_key_of_end(way, &d->key_count);
    } else {
        rc = survey_links_key_of_table(pg, table, &d->key, &d->key_count, err);
    }
    if (rc == 0) {
        survey_links_push_keys(&keys, s->table, way);
    }
    d->keys = buf_detach(&keys.text);
    return rc == 0 ? keys.rc : rc;
}

int survey_depend(struct survey *s, struct pg *pg, const struct survey_links *links,
                  const struct survey_found *table, struct err *err)
{
    struct way way;
    if (!survey_links_find_shortest(&way, links, s->table->oid, table->oid)) {
        survey_links_add_doubt(
            s,
            "no foreign key leads from %s to the table: each of its changes sends every "
            "document again",
            table->name);
    }
    return survey_links_add_dependency(s, pg, &way, table, err);
}

/* Both directions of a foreign key look rows up by the referencing column, so it needs an index. */
static int survey_links_doubt_index(struct survey *s, struct pg *pg, const struct survey_link *link,
                                    struct err *err)
{
    bool indexed;
    struct buf columns;
    buf_init(&columns, SURVEY_TEXT_BYTES);
    buf_push_char(&columns, '{');
    for (size_t i = 0; i < link->pair_count; i++) {
        buf_push_text(&columns, i > 0 ? "," : "");
        sqlquote_item(&columns, link->pairs[i].child);
    }
    buf_push_char(&columns, '}');
    int rc = pg_ask_bool(pg, "survey_index", PG_PARAMS(PG_INT(link->child), buf_text(&columns)),
                         &indexed, err);
    if (rc == 0 && !indexed) {
        survey_links_add_doubt(s,
                               "no index of %s begins with \"%s\", by which its rows are looked up",
                               link->child_name, link->pairs[0].child);
    }
    buf_release(&columns);
    return rc;
}

/* Several columns are recorded together, so none of them may be NULL. */
static int survey_links_check_recorded(struct pg *pg, const struct dependency *d, struct err *err)
{
    struct table *t = NULL;
    if (d->key_count == 1) {
        return 0;
    }
    int rc = catalog_table(pg, &t, d->table, (const char *const *)d->key, d->key_count, err);
    if (rc == 0 && !t->key_not_null) {
        err_set(err, ERR_REJECTED,
                "\"%s\" is joined by several columns, of which one may be NULL: its changes "
                "cannot be followed",
                d->table);
        rc = err_hint(err, "make them NOT NULL, leave the table out of --with, or write from.query "
                           "by hand (see docs/query.md)");
    }
    catalog_table_free(t);
    return rc;
}

int survey_depend_on(struct survey *s, struct pg *pg, const struct survey_link *link,
                     bool to_parent, struct err *err)
{
    struct way way = {.steps = {{link, to_parent}}, .count = 1};
    struct survey_found table = {.name = to_parent ? link->parent_name : link->child_name};
    int rc = survey_links_add_dependency(s, pg, &way, &table, err);
    if (rc == 0) {
        rc = survey_links_check_recorded(pg, &s->dependencies[s->dependency_count - 1], err);
    }
    return rc == 0 ? survey_links_doubt_index(s, pg, link, err) : rc;
}
