/* SPDX-License-Identifier: Apache-2.0 */
/* A view as documents: the table that provides the rows, and the tables that the view depends on.
 *
 * The server reports the origin of a view's columns if the view's own definition is described. */
#include <stdlib.h>
#include <string.h>

#include "changelog/reads.h"
#include "rowferry/base/text.h"
#include "rowferry/source/sql/tablename.h"
#include "survey/survey_private.h"

#define VIEWS_MOST 8 /* nested views */
#define LOOKED_AT 20000

/* A column of the view and its origin. */
struct view_origin {
    char *name;
    uint32_t oid; /* 0: it is computed */
    int column;
};

struct view {
    struct survey *s;
    struct pg *pg;
    struct err *err;
    const struct survey_found *found;
    char *quoted; /* for SQL */
    struct view_origin *origins;
    size_t origin_count;
    struct reads reads; /* the tables that the view reads */
    struct survey_links links;
};

/* --- origins of columns ---------------------------------------------------------------------- */

/* Describes the columns of the view's definition; *out is null if the relation is not a view. */
static int survey_view_describe(struct pg *pg, uint32_t oid, PGresult **out, struct err *err)
{
    struct pg_result *r = NULL;
    *out = NULL;
    int rc = pg_ask(pg, &r, "survey_definition", PG_PARAMS(PG_INT(oid)), err);
    if (rc == 0 && pg_rows(r) > 0) {
        rc = pg_describe(pg, out, pg_text(r, 0, 0), err);
    }
    pg_result_release(r);
    return rc;
}

/* Follows the origin through nested views. */
static int survey_view_follow(struct pg *pg, struct view_origin *o, struct err *err)
{
    int rc = 0;
    for (int i = 0; i < VIEWS_MOST && o->oid != 0 && rc == 0; i++) {
        PGresult *r = NULL;
        rc = survey_view_describe(pg, o->oid, &r, err);
        if (r == NULL || rc < 0) {
            PQclear(r);
            break;
        }
        int at = o->column - 1;
        o->oid = PQftable(r, at);
        o->column = PQftablecol(r, at);
        PQclear(r);
    }
    return rc;
}

static int survey_view_find_origins(struct view *v)
{
    PGresult *r = NULL;
    int rc = survey_view_describe(v->pg, v->found->oid, &r, v->err);
    int count = rc == 0 && r != NULL ? PQnfields(r) : 0;
    v->origins = mem_zero((size_t)count + 1, sizeof(*v->origins));
    for (int i = 0; i < count; i++) {
        v->origins[v->origin_count++] =
            (struct view_origin){text_copy(PQfname(r, i)), PQftable(r, i), PQftablecol(r, i)};
    }
    PQclear(r);
    for (size_t i = 0; i < v->origin_count && rc == 0; i++) {
        rc = survey_view_follow(v->pg, &v->origins[i], v->err);
    }
    return rc;
}

static int survey_view_find_reads(struct view *v)
{
    struct table whole = {.quoted = v->quoted, .tree = true}; /* without "only" */
    const struct query_input in = {.root = &whole};
    const struct depends none = {0};
    int rc = reads_find(&v->reads, v->pg, &in, &none, v->err);
    uint32_t *oids = mem_zero(v->reads.count + 1, sizeof(*oids));
    for (size_t i = 0; i < v->reads.count; i++) {
        oids[i] = v->reads.items[i].oid;
    }
    if (rc == 0) {
        rc = survey_links_read(&v->links, v->pg, oids, v->reads.count, v->err);
    }
    free(oids);
    return rc;
}

/* --- the root -------------------------------------------------------------------------------- */

/* A table that may be the root: opened by its key, with the view's column for each key column. */
struct candidate {
    struct table *table;
    struct survey noted;
    struct survey_found found;
    const char *selected[KEY_MAX_PARTS];
};

static void survey_view_candidate_release(struct candidate *c)
{
    catalog_table_free(c->table);
    survey_release(&c->noted);
    free(c->found.name);
}

static int survey_view_name_of(struct pg *pg, uint32_t oid, char **out, struct err *err)
{
    struct pg_result *r = NULL;
    int rc = pg_ask(pg, &r, "survey_name", PG_PARAMS(PG_INT(oid)), err);
    if (rc == 0 && pg_rows(r) == 1) {
        *out = tablename_text(pg_text(r, 0, 0), pg_text(r, 0, 1));
    } else if (rc == 0) {
        rc = err_set(err, ERR_TRANSIENT, "a table of the view was dropped just now");
    }
    pg_result_release(r);
    return rc;
}

/* Returns the column's number in the table. */
static int survey_view_column_number(struct pg *pg, uint32_t oid, const char *column, int *out,
                                     struct err *err)
{
    struct pg_result *r = NULL;
    int rc = pg_ask(pg, &r, "survey_place", PG_PARAMS(PG_INT(oid), column), err);
    *out = rc == 0 && pg_rows(r) == 1 ? (int)pg_int(r, 0, 0) : 0;
    pg_result_release(r);
    return rc;
}

/* Returns the view's column that shows the table's column; null if there is none. */
static const char *survey_view_shown_as(const struct view *v, uint32_t oid, int column)
{
    for (size_t i = 0; i < v->origin_count; i++) {
        if (v->origins[i].oid == oid && v->origins[i].column == column) {
            return v->origins[i].name;
        }
    }
    return NULL;
}

static bool survey_view_has_name(const struct view *v, const char *name)
{
    for (size_t i = 0; i < v->origin_count; i++) {
        if (strcmp(v->origins[i].name, name) == 0) {
            return true;
        }
    }
    return false;
}

/* Sets *shows if the view shows the table's whole key. A column that is shown under another name
 * must not collide with a view column of the key's name. */
static int survey_view_shows_key(const struct view *v, struct candidate *c, bool *shows)
{
    int rc = 0;
    *shows = true;
    for (size_t i = 0; i < c->table->key_count && rc == 0 && *shows; i++) {
        int number;
        rc = survey_view_column_number(v->pg, c->found.oid, c->table->key[i], &number, v->err);
        c->selected[i] = survey_view_shown_as(v, c->found.oid, number);
        bool same = c->selected[i] != NULL && strcmp(c->selected[i], c->table->key[i]) == 0;
        *shows = same || (c->selected[i] != NULL && !survey_view_has_name(v, c->table->key[i]));
    }
    return rc;
}

static bool survey_view_is_parent(const struct view *v, uint32_t oid)
{
    for (size_t i = 0; i < v->links.count; i++) {
        if (v->links.items[i].parent == oid && v->links.items[i].child != oid) {
            return true;
        }
    }
    return false;
}

/* Checks the first rows. */
static int survey_view_is_unique(const struct view *v, const struct candidate *c, bool *unique)
{
    struct survey_sql sql;
    survey_sql_init(&sql, v->pg, v->err);
    buf_push_literal(&sql.text, "select count(*) = count(distinct s.*) from (select ");
    for (size_t i = 0; i < c->table->key_count; i++) {
        buf_push_text(&sql.text, i > 0 ? ", " : "");
        survey_push_name(&sql, c->selected[i]);
        buf_push_literal(&sql.text, "::text");
    }
    buf_printf(&sql.text, " from %s limit %d) s", v->quoted, LOOKED_AT);
    *unique = false;
    int rc =
        sql.rc == 0 ? pg_query_bool(v->pg, buf_text(&sql.text), NULL, 0, unique, v->err) : sql.rc;
    if (rc < 0 && strcmp(v->err->sqlstate, "57014") == 0) { /* too slow; a sync reports it */
        *unique = true;
        rc = 0;
    }
    buf_release(&sql.text);
    return rc;
}

/* Sets *fits to false if the rows of the view are not those of the table. */
static int survey_view_try_candidate(const struct view *v, struct candidate *c, uint32_t oid,
                                     bool *fits)
{
    struct err ignored;
    *c = (struct candidate){.found = {.oid = oid, .kind = 'r'}};
    *fits = false;
    int rc = survey_view_name_of(v->pg, oid, &c->found.name, v->err);
    if (rc < 0 || survey_open(v->pg, &c->table, &c->found, &c->noted, &ignored) < 0) {
        return rc;
    }
    rc = c->table != NULL ? survey_view_shows_key(v, c, fits) : 0;
    return rc == 0 && *fits ? survey_view_is_unique(v, c, fits) : rc;
}

/* Finds the first table whose rows are those of the view. */
static int survey_view_try_tables(const struct view *v, struct candidate *c, bool parents,
                                  bool *fits)
{
    int rc = 0;
    for (size_t i = 0; i < v->reads.count && rc == 0 && !*fits; i++) {
        const struct read_table *t = &v->reads.items[i];
        if ((t->kind == 'r' || t->kind == 'p') && survey_view_is_parent(v, t->oid) == parents) {
            survey_view_candidate_release(c);
            rc = survey_view_try_candidate(v, c, t->oid, fits);
        }
    }
    return rc;
}

/* A table that others of the view reference is more likely a parent, and is tried last. */
static int survey_view_find_root(const struct view *v, struct candidate *c)
{
    bool fits = false;
    int rc = survey_view_try_tables(v, c, false, &fits);
    if (rc == 0 && !fits) {
        rc = survey_view_try_tables(v, c, true, &fits);
    }
    if (rc < 0 || (fits && c->table != NULL)) {
        return rc;
    }
    err_set(v->err, ERR_REJECTED, "the view \"%s\" shows the key of no table that is unique in it",
            v->found->name);
    err_hint(v->err,
             "let it select the primary key of the table whose rows these are, or name that "
             "table");
    return ERR_REJECTED;
}

/* --- the query ------------------------------------------------------------------------------- */

/* Returns the key column that the view shows under this name, or null. */
static const char *survey_view_key_behind(const struct candidate *c, const char *name)
{
    for (size_t i = 0; i < c->table->key_count; i++) {
        if (strcmp(c->selected[i], name) == 0) {
            return c->table->key[i];
        }
    }
    return NULL;
}

static bool survey_view_renames(const struct candidate *c)
{
    for (size_t i = 0; i < c->table->key_count; i++) {
        if (strcmp(c->selected[i], c->table->key[i]) != 0) {
            return true;
        }
    }
    return false;
}

static void survey_view_push_selected(const struct view *v, const struct candidate *c,
                                      struct survey_sql *sql)
{
    if (!survey_view_renames(c)) {
        buf_push_literal(&sql->text, "v.*");
        return;
    }
    for (size_t i = 0; i < v->origin_count; i++) {
        const char *name = v->origins[i].name;
        const char *key = survey_view_key_behind(c, name);
        buf_push_text(&sql->text, i > 0 ? ", v." : "v.");
        survey_push_name(sql, name);
        if (key != NULL && strcmp(key, name) != 0) {
            buf_push_literal(&sql->text, " as ");
            survey_push_name(sql, key);
        }
    }
}

static int survey_view_take_query(const struct view *v, const struct candidate *c)
{
    struct survey_sql sql;
    survey_sql_init(&sql, v->pg, v->err);
    buf_push_literal(&sql.text, "select ");
    survey_view_push_selected(v, c, &sql);
    buf_printf(&sql.text, " from %s v", v->quoted);
    v->s->lines = buf_detach(&sql.text);
    return sql.rc == 0 ? query_describe_columns(v->pg, c->table, v->s->lines, v->err) : sql.rc;
}

static void survey_view_take_root(const struct view *v, struct candidate *c)
{
    struct survey *s = v->s;
    s->table = c->table;
    s->name = c->found.name;
    s->view = text_copy(v->found->name);
    s->key_index = c->noted.key_index;
    s->key_primary = c->noted.key_primary;
    s->key_filled = c->noted.key_filled;
    c->table = NULL;
    c->found.name = NULL;
    c->noted.key_index = NULL;
}

static int survey_view_depend_on_others(const struct view *v)
{
    int rc = 0;
    for (size_t i = 0; i < v->reads.count && rc == 0; i++) {
        const struct read_table *t = &v->reads.items[i];
        if (t->kind == 'v' || t->oid == v->s->table->oid) {
            continue;
        }
        struct survey_found other = {.oid = t->oid, .kind = t->kind};
        rc = survey_view_name_of(v->pg, t->oid, &other.name, v->err);
        if (rc == 0) {
            rc = survey_depend(v->s, v->pg, &v->links, &other, v->err);
        }
        free(other.name);
    }
    return rc;
}

static int survey_view_quote(struct view *v)
{
    struct tablename name;
    struct survey_sql quoted;
    int rc = tablename_parse(&name, v->found->name, v->err);
    if (rc < 0) {
        return rc;
    }
    survey_sql_init(&quoted, v->pg, v->err);
    survey_push_table(&quoted, name.schema, name.table);
    v->quoted = buf_detach(&quoted.text);
    tablename_release(&name);
    return quoted.rc;
}

int survey_view(struct survey *s, struct pg *pg, const struct survey_found *found, struct err *err)
{
    struct view v = {.s = s, .pg = pg, .err = err, .found = found};
    struct candidate root = {0};
    int (*const steps[])(struct view *) = {survey_view_quote, survey_view_find_origins,
                                           survey_view_find_reads};
    int rc = 0;
    for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]) && rc == 0; i++) {
        rc = steps[i](&v);
    }
    if (rc == 0) {
        rc = survey_view_find_root(&v, &root);
    }
    if (rc == 0) {
        rc = survey_view_take_query(&v, &root);
    }
    if (rc == 0) {
        survey_view_take_root(&v, &root);
        rc = survey_view_depend_on_others(&v);
    }
    survey_view_candidate_release(&root);
    for (size_t i = 0; i < v.origin_count; i++) {
        free(v.origins[i].name);
    }
    free(v.origins);
    free(v.quoted);
    reads_release(&v.reads);
    survey_links_release(&v.links);
    return rc;
}
