/* SPDX-License-Identifier: Apache-2.0 */
/* A schema "rowferry" that another role created or modified: nothing in it is read or run. */
#include "roles.h"

static int try_install(struct walk *w, const char *uri, struct err *err)
{
    struct pg *pg = walk_connect(uri);
    struct table *table = walk_table(w, pg);
    int rc = install_apply(pg, table, NULL, err);
    catalog_table_free(table);
    pg_close(pg);
    return rc;
}

START_TEST(a_schema_of_a_lower_role_is_refused_before_anything_is_read)
{
    static const char *const plants[] = {
        "create schema rowferry",
        ("create schema rowferry; create table rowferry.migration (version int, applied_at "
         "timestamptz); create function rowferry.evil() returns trigger language plpgsql as "
         "$$ begin perform public.note_who(); return new; end $$; create trigger evil before "
         "insert "
         "on rowferry.migration for each row execute function rowferry.evil();"
         "create table rowferry.capture (id int)"),
        ("create schema rowferry; create table rowferry.capture (id int);"
         "create view rowferry.migration as select 1 as version from (select public.note_who()) x"),
    };
    for (size_t i = 0; i < sizeof(plants) / sizeof(*plants); i++) {
        struct walk w = {.table = "public.mine", .columns = body, .column_count = 1};
        struct err err = {0};
        char *owner = world_of(&w, NOTES);
        sql_exec(w.db, "create table mine (id bigint primary key, body text)");
        as(&w, owner, plants[i]);
        ck_assert_int_eq(try_install(&w, w.uri, &err), ERR_REJECTED);
        ck_assert_msg(strstr(err.message, "schema \"rowferry\"") != NULL &&
                          strstr(err.message, owner) != NULL,
                      "%s", err.message);
        ck_assert_int_eq(sql_int(w.db, "select count(*) from ran"), 0);
        world_end(&w, owner);
    }
}
END_TEST

START_TEST(what_was_planted_into_the_schema_later_is_refused_by_name)
{
    static const struct {
        const char *sql;
        const char *words;
    } plants[] = {
        {"create trigger x before insert on rowferry.change for each row execute function "
         "suppress_redundant_updates_trigger()",
         "\"change\" in it has a trigger"},
        {"create function public.said() returns text language sql as 'select 1::text'; alter table "
         "rowferry.consumer alter letters set default public.said()",
         "\"consumer\" in it has a default"},
        {"create rule r as on insert to rowferry.change do also notify x",
         "\"change\" in it has a rule"},
        {"create policy z on rowferry.change using (true)", "\"change\" in it has a policy"},
        {"create function public.yes() returns bool language sql as 'select true'; drop policy "
         "reader on rowferry.change; create policy reader on rowferry.change using (public.yes())",
         "\"change\" in it has a policy"},
        {"alter table rowferry.change add check (op <> 'x')", "\"change\" in it has a condition"},
        {"create view rowferry.v as select 1", "\"v\" in it is no table"},
        {"create index on rowferry.change ((key || 'x'))", "index of \"change\""},
        {"create table c () inherits (rowferry.change)", "\"change\" in it is no table of its own"},
        {"alter table rowferry.migration owner to pg_monitor", "\"migration\" in it belongs to"},
        {"grant create on schema rowferry to pg_monitor", "pg_monitor may create"},
        {"alter function rowferry.tree(regclass) owner to pg_monitor", "function \"tree\""},
    };
    for (size_t i = 0; i < sizeof(plants) / sizeof(*plants); i++) {
        struct walk w = {.table = "public.t", .columns = body, .column_count = 1};
        struct err err = {0};
        walk_new(&w, "create table t (id bigint primary key, body text)");
        sql_exec(w.db, "%s", plants[i].sql);
        struct pg *pg = walk_connect(w.uri);
        struct table *table = walk_table(&w, pg);
        ck_assert_int_eq(installed_require_current(pg, table, &err), ERR_REJECTED);
        ck_assert_msg(strstr(err.message, plants[i].words) != NULL, "%s", err.message);
        catalog_table_free(table);
        pg_close(pg);
        walk_free(&w);
    }
}
END_TEST

START_TEST(who_installed_first_does_not_gain_the_rights_of_who_installs_later)
{
    struct walk w = {.table = "public.low", .columns = body, .column_count = 1};
    struct err err = {0};
    char *owner = world_of(&w, NOTES "create table low (id bigint primary key, body text)");
    char *uri = uri_as(w.uri, owner);
    must(try_install(&w, uri, &err), &err);
    sql_exec(w.db, "create table mine (id bigint primary key, body text)");
    as(&w, owner,
       "create function rowferry.evil() returns trigger language plpgsql as "
       "$$ begin perform public.note_who(); return new; end $$; create trigger evil before insert "
       "on rowferry.capture for each row execute function rowferry.evil()");
    w.table = "public.mine";
    ck_assert_int_eq(try_install(&w, w.uri, &err), ERR_REJECTED);
    ck_assert_msg(strstr(err.message, owner) != NULL, "%s", err.message);
    ck_assert_ptr_nonnull(strstr(err.hint, "docs/rights.md"));
    ck_assert_int_eq(sql_int(w.db, "select count(*) from ran"), 0);
    free(uri);
    world_end(&w, owner);
}
END_TEST

/* The role cannot give the trigger function to a role without privileges, so the function would run
 * with its own. */
START_TEST(who_may_do_more_than_the_tables_owner_does_not_install)
{
    struct walk w = {.table = "public.t", .columns = body, .column_count = 1};
    struct err err = {0};
    char *owner = world_of(&w, "create table t (id bigint primary key, body text)");
    char *more = role_new(&w, 'm');
    sql_exec(w.db, "grant \"%s\" to \"%s\"", owner, more);
    char *uri = uri_as(w.uri, more);
    ck_assert_int_eq(try_install(&w, uri, &err), ERR_REJECTED);
    ck_assert_msg(strstr(err.message, "may do more than that role") != NULL, "%s", err.message);
    ck_assert_msg(strstr(err.hint, owner) != NULL, "%s", err.hint);
    ck_assert_int_eq(sql_int(w.db, "select count(*) from pg_namespace where nspname = 'rowferry'"),
                     0);
    free(uri);
    role_drop(&w, more);
    world_end(&w, owner);
}
END_TEST

START_TEST(a_script_that_is_pasted_refuses_a_schema_of_somebody_else)
{
    struct walk w = {.table = "public.t", .columns = body, .column_count = 1};
    struct err err = {0};
    struct buf script;
    buf_init(&script, 1 << 20);
    char *owner = world_of(&w, NOTES "create table t (id bigint primary key, body text)");
    struct pg *pg = walk_connect(w.uri);
    struct table *table = walk_table(&w, pg);
    must(install_print(pg, table, NULL, &script, &err), &err);
    as(&w, owner, "create schema rowferry");
    PGresult *r = PQexec(w.db, buf_text(&script));
    ck_assert_int_eq(PQresultStatus(r), PGRES_FATAL_ERROR);
    ck_assert_msg(strstr(PQresultErrorMessage(r), owner) != NULL, "%s", PQresultErrorMessage(r));
    PQclear(r);
    sql_exec(w.db, "rollback");
    catalog_table_free(table);
    pg_close(pg);
    buf_release(&script);
    world_end(&w, owner);
}
END_TEST

START_TEST(a_line_break_in_a_name_stays_in_the_comment)
{
    struct walk w = {.table = "public.\"x\ncreate role evil_of_a_name superuser; --\"",
                     .columns = body,
                     .column_count = 1};
    struct err err = {0};
    struct buf script;
    buf_init(&script, 1 << 20);
    char *owner = world_of(&w, "create table \"x\ncreate role evil_of_a_name superuser; --\" (id "
                               "bigint primary key, body text)");
    struct pg *pg = walk_connect(w.uri);
    struct table *table = walk_table(&w, pg);
    must(install_print(pg, table, NULL, &script, &err), &err);
    install_print_notify(table, true, &script);
    sql_exec(w.db, "create role \"READER\"");
    PGresult *r = PQexec(w.db, buf_text(&script));
    ck_assert_msg(PQresultStatus(r) == PGRES_COMMAND_OK || PQresultStatus(r) == PGRES_TUPLES_OK,
                  "%s", PQresultErrorMessage(r));
    PQclear(r);
    ck_assert_int_eq(
        sql_int(w.db, "select count(*) from pg_roles where rolname = 'evil_of_a_name'"), 0);
    sql_exec(w.db, "drop owned by \"READER\"; drop role \"READER\"");
    catalog_table_free(table);
    pg_close(pg);
    buf_release(&script);
    world_end(&w, owner);
}
END_TEST

SUITE_MAIN("source/foreign_schema", a_schema_of_a_lower_role_is_refused_before_anything_is_read,
           what_was_planted_into_the_schema_later_is_refused_by_name,
           who_installed_first_does_not_gain_the_rights_of_who_installs_later,
           who_may_do_more_than_the_tables_owner_does_not_install,
           a_script_that_is_pasted_refuses_a_schema_of_somebody_else,
           a_line_break_in_a_name_stays_in_the_comment)
