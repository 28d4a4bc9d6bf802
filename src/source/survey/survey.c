/* SPDX-License-Identifier: Apache-2.0 */
/* Surveys the table, its key and its capture. */
#include "rowferry/source/survey/survey.h"

#include <stdlib.h>
#include <string.h>

#include "rowferry/base/text.h"
#include "rowferry/document/model/key.h"
#include "rowferry/source/sql/tablename.h"
#include "survey/survey_private.h"

#define LOOK_TIMEOUT "set statement_timeout = '20s'"

/* --- names ----------------------------------------------------------------------------------- */

void survey_sql_init(struct survey_sql *sql, struct pg *pg, struct err *err)
{
    *sql = (struct survey_sql){.pg = pg, .err = err};
    buf_init(&sql->text, SURVEY_TEXT_BYTES);
}

void survey_push_name(struct survey_sql *sql, const char *name)
{
    struct pg_result *r = NULL;
    if (sql->rc == 0) {
        sql->rc = pg_query(sql->pg, &r, "one: text", "select quote_ident($1)", &name, 1, sql->err);
    }
    if (sql->rc == 0) {
        buf_push_text(&sql->text, pg_text(r, 0, 0));
    }
    pg_result_release(r);
}

void survey_push_table(struct survey_sql *sql, const char *schema, const char *name)
{
    survey_push_name(sql, schema);
    buf_push_char(&sql->text, '.');
    survey_push_name(sql, name);
}

static void survey_push_names(struct buf *out, const struct pg_result *r)
{
    for (size_t i = 0; i < pg_rows(r); i++) {
        buf_push_text(out, i > 0 ? ", " : "");
        tablename_push(out, pg_text(r, i, 0), pg_text(r, i, 1));
    }
}

static int survey_several(const char *name, const struct pg_result *r, struct err *err)
{
    struct buf names;
    buf_init(&names, SURVEY_TEXT_BYTES);
    survey_push_names(&names, r);
    err_set(err, ERR_REJECTED, "table \"%s\" is in several schemas: %s", name, buf_text(&names));
    err_hint(err, "name it with its schema");
    buf_release(&names);
    return ERR_REJECTED;
}

/* Uses the catalog's error message for a table that does not exist. */
static int survey_none(struct pg *pg, const char *name, struct err *err)
{
    struct table *t = NULL;
    int rc = catalog_table(pg, &t, name, NULL, 0, err);
    catalog_table_free(t);
    return rc < 0 ? rc : err_set(err, ERR_TRANSIENT, "table \"%s\" was created just now", name);
}

static int survey_take_found(struct survey_found *out, struct pg *pg, const char *name,
                             const struct pg_result *r, struct err *err)
{
    if (pg_rows(r) != 1) {
        return pg_rows(r) == 0 ? survey_none(pg, name, err) : survey_several(name, r, err);
    }
    if (pg_text(r, 0, 4) != NULL) {
        err_set(err, ERR_REJECTED,
                "reading \"%s\" may run code of its owner \"%s\", and this role is a superuser",
                name, pg_text(r, 0, 4));
        return err_hint(err, "name that role, or one that may read the table, in --source");
    }
    out->name = tablename_text(pg_text(r, 0, 0), pg_text(r, 0, 1));
    out->kind = pg_text(r, 0, 2)[0];
    out->oid = (uint32_t)pg_int(r, 0, 3);
    return 0;
}

int survey_find(struct survey_found *out, struct pg *pg, const char *name, struct err *err)
{
    struct tablename parsed;
    struct pg_result *r = NULL;
    *out = (struct survey_found){0};
    int rc = tablename_parse(&parsed, name, err);
    if (rc < 0) {
        return err_context(err, "table %s", name);
    }
    bool bare = strchr(name, '.') == NULL;
    rc = pg_ask(pg, &r, "survey_find", PG_PARAMS(parsed.schema, parsed.table), err);
    if (rc == 0 && pg_rows(r) == 0 && bare) { /* not in public: search all schemas */
        pg_result_release(r);
        rc = pg_ask(pg, &r, "survey_find", PG_PARAMS(NULL, parsed.table), err);
    }
    if (rc == 0) {
        rc = survey_take_found(out, pg, name, r, err);
    }
    pg_result_release(r);
    tablename_release(&parsed);
    return rc;
}

/* --- the key --------------------------------------------------------------------------------- */

int survey_open(struct pg *pg, struct table **out, const struct survey_found *found,
                struct survey *s, struct err *err)
{
    static const struct pg_member members[] = {PG_MEMBER(struct survey, key_index),
                                               PG_MEMBER(struct survey, key_primary),
                                               PG_MEMBER(struct survey, key_filled),
                                               {0}};
    struct pg_result *r = NULL;
    const char *key[KEY_MAX_PARTS] = {NULL};
    int rc = pg_ask(pg, &r, "survey_key", PG_PARAMS(PG_INT(found->oid)), err);
    if (rc == 0 && pg_rows(r) == 0) {
        err_set(err, ERR_REJECTED,
                "nothing identifies a row of \"%s\": no primary key, and no unique index",
                found->name);
        rc = err_hint(err, "add one, so that a document keeps its _id: alter table ... add primary "
                           "key (...)");
    } else if (rc == 0 && pg_rows(r) > KEY_MAX_PARTS) {
        rc = err_set(err, ERR_REJECTED, "the key of \"%s\" has too many columns", found->name);
    }
    for (size_t i = 0; rc == 0 && i < pg_rows(r); i++) {
        key[i] = pg_text(r, i, 0);
    }
    rc = rc == 0 ? catalog_table(pg, out, found->name, key, pg_rows(r), err) : rc;
    if (rc == 0) {
        pg_read_row(r, 0, 1, members, s);
    }
    pg_result_release(r);
    return rc;
}

/* --- the capture ----------------------------------------------------------------------------- */

/* The tables that the query depends on need the change log too. */
static int survey_look_dependency(struct survey *s, struct pg *pg, const struct dependency *d,
                                  struct err *err)
{
    struct table *t = NULL;
    enum install_state state;
    int rc = depend_of_query(pg, &t, d, err);
    if (rc == 0) {
        rc = installed_read(pg, t, &state, NULL, err);
    }
    if (rc == 0 && state != INSTALL_CURRENT) {
        s->log = state;
    }
    catalog_table_free(t);
    return rc;
}

static int survey_look_log(struct survey *s, struct pg *pg, struct err *err)
{
    struct err why;
    if (catalog_capturable(s->table, &why) < 0) {
        s->log_obstacle = text_copy(why.message);
        return 0;
    }
    int rc = installed_read(pg, s->table, &s->log, NULL, err);
    for (size_t i = 0; i < s->dependency_count && rc == 0; i++) {
        rc = survey_look_dependency(s, pg, &s->dependencies[i], err);
    }
    return rc;
}

static int survey_look_capture(struct survey *s, struct pg *pg, struct err *err)
{
    static const struct pg_member members[] = {
        PG_MEMBER(struct survey, may_install),  PG_MEMBER(struct survey, cursor),
        PG_MEMBER(struct survey, cursor_index), PG_MEMBER(struct survey, cursor_filled),
        PG_MEMBER(struct survey, readable),     {0}};
    int rc = survey_look_log(s, pg, err);
    return rc == 0
               ? pg_ask_row(pg, "survey_capture", PG_PARAMS(PG_INT(s->table->oid)), members, s, err)
               : rc;
}

/* --- the survey ------------------------------------------------------------------------------ */

static int survey_take_table(struct survey *s, struct pg *pg, const struct survey_found *found,
                             struct err *err)
{
    bool real = found->kind == 'r' || found->kind == 'p';
    int rc = real ? survey_open(pg, &s->table, found, s, err)
                  : catalog_table(pg, &s->table, found->name, NULL, 0, err); /* gives the reason */
    if (rc == 0) {
        s->name = text_copy(found->name);
    }
    return rc;
}

/* Moves the columns to the facts. */
static void survey_give_columns(struct survey *s)
{
    s->facts.columns = s->table->columns;
    s->table->columns = (struct columns){0};
}

int survey_take(struct survey *out, struct pg *pg, const struct survey_input *in, struct err *err)
{
    struct survey_found found;
    *out = (struct survey){0};
    int rc = survey_find(&found, pg, in->table, err);
    rc = rc == 0 ? pg_script(pg, LOOK_TIMEOUT, err) : rc;
    rc = rc == 0 ? pg_identify(pg, &out->identity, err) : rc;
    if (rc == 0) {
        rc = found.kind == 'v' ? survey_view(out, pg, &found, err)
                               : survey_take_table(out, pg, &found, err);
    }
    if (rc == 0) {
        const struct columns *columns = &out->table->columns;
        out->facts.facts = mem_zero(columns->count + 1, sizeof(*out->facts.facts));
        rc = survey_facts(pg, out->table, columns, out->facts.facts, &out->analysed, err);
    }
    rc = rc == 0 && in->with_count > 0 ? survey_join(out, pg, in, err) : rc;
    rc = rc == 0 ? pg_script(pg, LOOK_TIMEOUT, err) : rc;
    rc = rc == 0 ? survey_look_capture(out, pg, err) : rc;
    rc = rc == 0 ? review_changes(pg, out->table, &out->changes, err) : rc;
    if (rc == 0 && out->table->row_security) {
        struct buf text;
        buf_init(&text, SURVEY_TEXT_BYTES);
        review_push_bypass(pg, out->table, out->identity.role, &text);
        out->bypass = buf_detach(&text);
    }
    if (rc == 0) {
        survey_give_columns(out);
    }
    free(found.name);
    return rc;
}

void survey_release(struct survey *s)
{
    if (s->facts.columns.count == 0 && s->table != NULL) {
        survey_give_columns(s);
    }
    propose_table_facts_release(&s->facts);
    catalog_table_free(s->table);
    depend_free_all(s->dependencies, s->dependency_count);
    text_free_list(s->doubts, s->doubt_count);
    free(s->name);
    free(s->view);
    free(s->key_index);
    free(s->lines);
    free(s->log_obstacle);
    free(s->bypass);
    free(s->cursor);
    free(s->cursor_index);
    *s = (struct survey){0};
}
