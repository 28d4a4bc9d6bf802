/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A database with roles of few privileges: an owner "o" who may create schemas in it, and others
 * named by a letter. Header only, because each test program is one file.
 */
#pragma once

#include "walk.h"

#define PASSWORD "pw"

static const char *const body[] = {"body"};

/* Creates roles of this test, named by a letter. Roles outlive databases, so their names contain
 * the database's name. */
static inline char *role_name(const struct walk *w, char letter)
{
    return sql_text(w->db, "select 'rowferry_%c_' || current_database()", letter);
}

static inline char *role_new(const struct walk *w, char letter)
{
    char *role = role_name(w, letter);
    sql_exec(w->db, "drop role if exists \"%s\"; create role \"%s\" login password '" PASSWORD "'",
             role, role);
    return role;
}

static inline void role_drop(const struct walk *w, char *role)
{
    sql_exec(w->db, "drop owned by \"%s\" cascade; drop role \"%s\"", role, role);
    free(role);
}

static inline void as(const struct walk *w, const char *role, const char *sql)
{
    sql_exec(w->db, "set session authorization \"%s\"", role);
    sql_exec(w->db, "%s", sql);
    sql_exec(w->db, "reset session authorization; reset search_path");
}

/* Creates a database without a change log, and a role "o" that may create a schema in it. */
static inline char *world_of(struct walk *w, const char *ddl)
{
    w->uri = database_new();
    w->db = sql_open(w->uri);
    sql_exec(w->db, "create table mirror (key text collate \"C\" primary key, content text)");
    char *owner = role_new(w, 'o');
    sql_exec(w->db, "grant create on schema public to \"%s\"", owner);
    sql_exec(w->db,
             "do $$ begin execute format('grant create on database %%I to %%I', "
             "current_database(), '%s'); end $$",
             owner);
    as(w, owner, ddl);
    ck_assert_int_eq(setenv("PGPASSWORD", PASSWORD, 1), 0);
    return owner;
}

static inline void world_end(struct walk *w, char *owner)
{
    role_drop(w, owner);
    walk_free(w);
}

/* Statements that record their executing role: it must never have more privileges than the
 * owner. */
#define NOTES                                                                                      \
    "create table ran (who text);"                                                                 \
    "create function note_who() returns void language sql security invoker as "                    \
    "'insert into public.ran values (current_user)';"                                              \
    "grant insert on ran to public;"

static inline void grant(struct walk *w, const char *table, const char *reader)
{
    struct err err = {0};
    w->table = table;
    struct pg *pg = walk_connect(w->uri);
    struct table *t = walk_table(w, pg);
    must(install_apply(pg, t, reader, &err), &err);
    catalog_table_free(t);
    pg_close(pg);
}
