/* SPDX-License-Identifier: Apache-2.0 */
/* A query over a table and the tables that foreign keys join to it: parents as objects, children as
 * lists. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rowferry/base/text.h"
#include "survey/survey_private.h"

struct joiner {
    struct survey *s;
    struct pg *pg;
    struct err *err;
    struct survey_sql sql;
    uint32_t *joined; /* the tables that were named so far */
    size_t joined_count;
    struct table_facts extra; /* a column for each object or list; its type is not known yet */
};

/* A joined table, as far as a document shows it. */
struct other {
    struct table *table;
    struct table_facts *facts;
    bool keyed; /* the table has a key of its own */
};

/* --- names ----------------------------------------------------------------------------------- */

static bool survey_query_is_taken(const struct joiner *j, const char *name)
{
    return row_columns_find(&j->s->table->columns, name) != NULL ||
           row_columns_find(&j->extra.columns, name) != NULL;
}

static char *survey_query_free_name(const struct joiner *j, const char *wish)
{
    struct buf name;
    buf_init(&name, SURVEY_TEXT_BYTES);
    buf_push_text(&name, wish);
    size_t len = name.len;
    for (int i = 2; survey_query_is_taken(j, buf_text(&name)); i++) {
        buf_truncate(&name, len);
        buf_printf(&name, "_%d", i);
    }
    return buf_detach(&name);
}

/* author_id: author */
static char *survey_query_stem_of(const char *column)
{
    size_t len = strlen(column);
    bool ends = len > 3 && strcmp(column + len - 3, "_id") == 0;
    return text_copy_span(span_make(column, ends ? len - 3 : len));
}

/* Names a parent after the column that references it, and a child after its table. A second child
 * from the same table gets the column's name too. */
static char *survey_query_property_name(const struct joiner *j, const struct survey_link *link,
                                        bool to_parent, const struct table *other)
{
    struct buf wish;
    char *stem = survey_query_stem_of(link->pairs[0].child);
    bool points = link->pair_count == 1 && strcmp(stem, link->pairs[0].child) != 0;
    buf_init(&wish, SURVEY_TEXT_BYTES);
    if (to_parent && points) {
        buf_push_text(&wish, stem);
    } else {
        buf_push_text(&wish, other->name);
        if (survey_query_is_taken(j, other->name)) {
            buf_printf(&wish, "_by_%s", stem);
        }
    }
    char *name = survey_query_free_name(j, buf_text(&wish));
    buf_release(&wish);
    free(stem);
    return name;
}

/* --- the other table ------------------------------------------------------------------------- */

/* Returns false for types that are useless as JSON in a document. */
static bool survey_query_is_shown(const struct column *c)
{
    return strcmp(c->type, "bytea") != 0 && strcmp(c->type, "tsvector") != 0 &&
           strcmp(c->type, "tsquery") != 0;
}

static void survey_query_take_shown(struct table_facts *out, struct column_facts *facts,
                                    struct columns *from)
{
    out->columns.items = mem_zero(from->count + 1, sizeof(*out->columns.items));
    out->facts = mem_zero(from->count + 1, sizeof(*out->facts));
    for (size_t i = 0; i < from->count; i++) {
        struct column *c = &from->items[i];
        if (survey_query_is_shown(c)) {
            out->facts[out->columns.count] = facts[i];
            out->columns.items[out->columns.count++] = *c;
        } else {
            propose_column_facts_release(&facts[i], 1);
            row_column_release(c);
        }
    }
    free(from->items);
    *from = (struct columns){0};
}

/* If the table has no key, it is read by the columns of the foreign key. */
static int survey_query_open_other(struct other *o, struct joiner *j,
                                   const struct survey_link *link, bool to_parent)
{
    struct survey own = {0};
    struct survey_found found = {to_parent ? link->parent_name : link->child_name,
                                 to_parent ? link->parent : link->child, 'r'};
    const char *const key[] = {to_parent ? link->pairs[0].parent : link->pairs[0].child};
    bool analysed;
    int rc = survey_open(j->pg, &o->table, &found, &own, j->err);
    o->keyed = rc == 0;
    survey_release(&own);
    if (rc < 0) {
        rc = catalog_table(j->pg, &o->table, found.name, key, 1, j->err);
    }
    if (rc < 0) {
        return rc;
    }
    struct columns *columns = &o->table->columns;
    struct column_facts *facts = mem_zero(columns->count + 1, sizeof(*facts));
    rc = survey_facts(j->pg, o->table, columns, facts, &analysed, j->err);
    o->facts = mem_zero(1, sizeof(*o->facts));
    survey_query_take_shown(o->facts, facts, columns);
    free(facts);
    return rc;
}

static void survey_query_other_release(struct other *o)
{
    catalog_table_free(o->table);
    if (o->facts != NULL) {
        propose_table_facts_release(o->facts);
    }
    free(o->facts);
}

/* --- the query ------------------------------------------------------------------------------- */

static void survey_query_push_shown(struct joiner *j, const struct other *o)
{
    for (size_t i = 0; i < o->facts->columns.count; i++) {
        buf_push_text(&j->sql.text, i > 0 ? ", o." : "o.");
        survey_push_name(&j->sql, o->facts->columns.items[i].name);
    }
}

/* A fixed order, so that a document changes only if its rows do. */
static void survey_query_push_order(struct joiner *j, const struct other *o)
{
    buf_push_literal(&j->sql.text, " order by ");
    for (size_t i = 0; o->keyed && i < o->table->key_count; i++) {
        buf_push_text(&j->sql.text, i > 0 ? ", x." : "x.");
        survey_push_name(&j->sql, o->table->key[i]);
    }
    buf_push_text(&j->sql.text, o->keyed ? "" : "to_jsonb(x.*)");
}

static void survey_query_push_condition(struct joiner *j, const struct survey_link *link,
                                        bool to_parent)
{
    for (size_t i = 0; i < link->pair_count; i++) {
        const struct survey_pair *p = &link->pairs[i];
        buf_printf(&j->sql.text, "%s o.%s = root.%s", i > 0 ? " and" : "",
                   to_parent ? p->parent_quoted : p->child_quoted,
                   to_parent ? p->child_quoted : p->parent_quoted);
    }
}

static int survey_query_push_subquery(struct joiner *j, const struct survey_link *link,
                                      bool to_parent, const struct other *o, const char *name)
{
    struct buf *out = &j->sql.text;
    buf_push_literal(out, ",\n       (select ");
    buf_push_text(out, to_parent ? "to_jsonb(x.*)" : "jsonb_agg(to_jsonb(x.*)");
    if (!to_parent) {
        survey_query_push_order(j, o);
        buf_push_char(out, ')');
    }
    buf_push_literal(out, "\n          from (select ");
    survey_query_push_shown(j, o);
    buf_printf(out, "\n                  from %s o where",
               to_parent ? link->parent_quoted : link->child_quoted);
    survey_query_push_condition(j, link, to_parent);
    buf_push_literal(out, ") x) as ");
    survey_push_name(&j->sql, name);
    return j->sql.rc;
}

/* Describes the column, in place of a type. */
static char *survey_query_describe(const struct survey_link *link, bool to_parent)
{
    struct buf text;
    buf_init(&text, SURVEY_TEXT_BYTES);
    buf_printf(&text, "%s of %s by ", to_parent ? "the row" : "the rows",
               to_parent ? link->parent_name : link->child_name);
    for (size_t i = 0; i < link->pair_count; i++) {
        buf_printf(&text, "%s%s", i > 0 ? ", " : "", link->pairs[i].child);
    }
    return buf_detach(&text);
}

static void survey_query_note_column(struct joiner *j, char *name, struct other *o, char *declared,
                                     bool many)
{
    struct columns *c = &j->extra.columns;
    c->items = mem_grow(c->items, c->count + 1, sizeof(*c->items));
    j->extra.facts = mem_grow(j->extra.facts, c->count + 1, sizeof(*j->extra.facts));
    c->items[c->count] = (struct column){.name = name, .declared = declared};
    j->extra.facts[c->count++] = (struct column_facts){.inside = o->facts, .many = many};
    o->facts = NULL;
}

static int survey_query_join_link(struct joiner *j, const struct survey_link *link, bool to_parent)
{
    struct other o = {0};
    char *name = NULL;
    int rc = survey_query_open_other(&o, j, link, to_parent);
    if (rc == 0) {
        name = survey_query_property_name(j, link, to_parent, o.table);
        rc = survey_query_push_subquery(j, link, to_parent, &o, name);
    }
    if (rc == 0) {
        rc = survey_depend_on(j->s, j->pg, link, to_parent, j->err);
    }
    if (rc == 0) {
        survey_query_note_column(j, name, &o, survey_query_describe(link, to_parent), !to_parent);
        name = NULL;
    }
    free(name);
    survey_query_other_release(&o);
    return rc;
}

/* A table is named once, and all foreign keys to it are used. */
static int survey_query_note_table(struct joiner *j, const struct survey_found *found)
{
    for (size_t i = 0; i < j->joined_count; i++) {
        if (j->joined[i] == found->oid) {
            return err_set(j->err, ERR_CONFIG, "option \"--with\" names \"%s\" twice", found->name);
        }
    }
    j->joined = mem_grow(j->joined, j->joined_count + 1, sizeof(*j->joined));
    j->joined[j->joined_count++] = found->oid;
    return 0;
}

static int survey_query_join_table(struct joiner *j, const char *name)
{
    struct survey_found found;
    struct survey_links links = {0};
    const uint32_t root = j->s->table->oid;
    int rc = survey_find(&found, j->pg, name, j->err);
    if (rc == 0) {
        rc = survey_query_note_table(j, &found);
    }
    if (rc == 0) {
        const uint32_t oids[] = {root, found.oid};
        rc = survey_links_read(&links, j->pg, oids, 2, j->err);
    }
    size_t joined = 0;
    for (size_t i = 0; i < links.count && rc == 0; i++) {
        const struct survey_link *link = &links.items[i];
        bool itself = found.oid == root && link->child == link->parent;
        if (itself || (link->child == root && link->parent == found.oid)) {
            rc = survey_query_join_link(j, link, true);
            joined++;
        }
        if (rc == 0 && (itself || (link->parent == root && link->child == found.oid))) {
            rc = survey_query_join_link(j, link, false);
            joined++;
        }
    }
    if (rc == 0 && joined == 0) {
        err_set(j->err, ERR_REJECTED, "no foreign key joins \"%s\" and \"%s\"", found.name,
                j->s->name);
        rc = err_hint(j->err, "name tables that a foreign key joins directly, or write from.query "
                              "by hand (see docs/query.md)");
    }
    survey_links_release(&links);
    free(found.name);
    return rc;
}

/* --- the survey's new columns ---------------------------------------------------------------- */

/* The query's columns are the root's, in their order, followed by the others. */
static int survey_query_take(struct joiner *j)
{
    struct survey *s = j->s;
    size_t own = s->table->columns.count;
    s->lines = text_copy(buf_text(&j->sql.text));
    int rc = query_describe_columns(j->pg, s->table, s->lines, j->err);
    if (rc < 0 || s->table->columns.count != own + j->extra.columns.count) {
        /* The facts describe columns that no longer exist. */
        propose_column_facts_release(s->facts.facts, own);
        free(s->facts.facts);
        s->facts.facts = NULL;
        return rc < 0 ? rc : err_set(j->err, ERR_TRANSIENT, "%s was changed just now", s->name);
    }
    s->facts.facts =
        mem_grow(s->facts.facts, own + j->extra.columns.count + 1, sizeof(*s->facts.facts));
    for (size_t i = 0; i < j->extra.columns.count; i++) {
        struct column *c = &s->table->columns.items[own + i];
        free(c->declared);
        c->declared = j->extra.columns.items[i].declared;
        j->extra.columns.items[i].declared = NULL;
        s->facts.facts[own + i] = j->extra.facts[i];
        j->extra.facts[i] = (struct column_facts){0};
    }
    return 0;
}

int survey_join(struct survey *s, struct pg *pg, const struct survey_input *in, struct err *err)
{
    struct joiner j = {.s = s, .pg = pg, .err = err};
    if (s->view != NULL) {
        err_set(err, ERR_CONFIG, "option \"--with\" is for a table, and \"%s\" is a view", s->view);
        return err_hint(err, "name the table behind it, or let the view join the others");
    }
    survey_sql_init(&j.sql, pg, err);
    buf_push_literal(&j.sql.text, "select root.*");
    int rc = 0;
    for (size_t i = 0; i < in->with_count && rc == 0; i++) {
        rc = survey_query_join_table(&j, in->with[i]);
    }
    if (rc == 0) {
        buf_push_literal(&j.sql.text, "\n  from ");
        survey_push_table(&j.sql, s->table->schema, s->table->name);
        buf_push_literal(&j.sql.text, " root");
        rc = j.sql.rc == 0 ? survey_query_take(&j) : j.sql.rc;
    }
    propose_table_facts_release(&j.extra);
    free(j.joined);
    buf_release(&j.sql.text);
    return rc;
}
