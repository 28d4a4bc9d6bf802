/* SPDX-License-Identifier: Apache-2.0 */
/* The change log gives no role additional privileges: not the owner of a table or type, not a
 * reader, and not the creator of an earlier schema. */
#include "roles.h"

START_TEST(a_cast_of_the_keys_owner_does_not_run_with_the_installers_rights)
{
    struct walk w = {.table = "public.t", .columns = body, .column_count = 1};
    char *owner = world_of(&w, NOTES "create type mood as enum ('good', 'bad');"
                                     "create function say(mood) returns text language plpgsql as "
                                     "$$ begin perform public.note_who(); return 'evil'; end $$;"
                                     "create cast (mood as text) with function say(mood);"
                                     "create table t (id mood primary key, body text)");
    walk_install(&w);
    as(&w, owner, "insert into t values ('good', 'x'); update t set body = 'y'");
    ck_assert_int_eq(sql_int(w.db, "select count(*) from ran"), 0);
    char *key = sql_text(w.db, "select string_agg(distinct key, ',') from rowferry.change");
    ck_assert_str_eq(key, "good");
    free(key);
    world_end(&w, owner);
}
END_TEST

START_TEST(a_key_that_became_another_type_does_not_run_its_cast)
{
    struct walk w = {.table = "public.t", .columns = body, .column_count = 1};
    char *owner = world_of(&w, NOTES "create table t (id bigint primary key, body text)");
    walk_install(&w);
    as(&w, owner,
       "create type pair as (a int, b int);"
       "create function constant() returns text language plpgsql immutable as "
       "$$ begin perform public.note_who(); return 'x'; end $$;"
       "create function say(pair) returns text language sql as 'select public.constant()';"
       "create cast (pair as text) with function say(pair);"
       "alter table t alter id type pair using row(id, id)::pair;"
       "insert into t values (row(1, 2), 'x')");
    ck_assert_int_eq(sql_int(w.db, "select count(*) from ran"), 0);
    char *key = sql_text(w.db, "select key from rowferry.change");
    ck_assert_str_eq(key, "(1,2)");
    free(key);
    world_end(&w, owner);
}
END_TEST

/* The session of a reader with more privileges than the type's owner. */
START_TEST(a_cast_of_the_keys_owner_does_not_run_with_the_readers_rights)
{
    struct walk w = {.columns = body, .column_count = 1};
    char *owner = world_of(&w, NOTES "create type mood as enum ('good', 'bad', 'so so');"
                                     "create table a (id mood primary key, body text)");
    char *typist = role_new(&w, 't');
    char *one = role_new(&w, 'p');
    sql_exec(w.db, "grant create on schema public to \"%1$s\"; alter type mood owner to \"%1$s\"",
             typist);
    as(&w, typist,
       "create function read(text) returns mood language plpgsql as $$ begin perform "
       "pg_notify('loot', current_user); return 'bad'; end $$;"
       "create function write(mood) returns text language plpgsql as $$ begin perform "
       "pg_notify('loot', current_user); return 'bad'; end $$;"
       "create cast (text as mood) with function read(text);"
       "create cast (mood as text) with function write(mood)");
    grant(&w, "public.a", one);
    as(&w, owner, "insert into a values ('good', 'x'), ('so so', 'y')");
    sql_exec(w.db, "listen loot");
    char *plain = w.uri;
    w.uri = uri_as(plain, one);
    walk_start(&w);
    walk_copy(&w);
    as(&w, owner, "update a set body = body || '!'; delete from a where id = 'so so'");
    walk_drain(&w);
    sql_exec(w.db, "select");
    ck_assert_ptr_null(PQnotifies(w.db));
    ck_assert_int_eq(
        sql_int(w.db, "select count(*) from mirror where (key, content) = ('good', 'x!')"), 1);
    ck_assert_int_eq(sql_int(w.db, "select count(*) from mirror"), 1);
    walk_close(&w);
    free(w.uri);
    w.uri = plain;
    role_drop(&w, one);
    role_drop(&w, typist);
    world_end(&w, owner);
}
END_TEST

START_TEST(a_partitions_owner_does_not_gain_the_installers_rights)
{
    struct walk w = {.table = "public.t", .columns = body, .column_count = 1};
    char *owner = world_of(
        &w, NOTES "create table t (id bigint primary key, body text) partition by range (id);"
                  "create table t0 partition of t for values from (0) to (10);"
                  "create function planned() returns int language plpgsql immutable as "
                  "$$ begin perform public.note_who(); return 1; "
                  "exception when read_only_sql_transaction then return 1; end $$");
    char *one = role_new(&w, 'p');
    grant(&w, "public.t", one);
    char *plain = w.uri;
    w.uri = uri_as(plain, one);
    walk_start(&w);
    walk_copy(&w);
    walk_drain(&w);
    as(&w, owner,
       "create table t1 (id bigint primary key, body text);"
       "insert into t1 values (11, 'x');"
       "create index on t1 ((id + planned()));"
       "alter table t attach partition t1 for values from (10) to (20)");
    sql_exec(w.db, "delete from ran");
    struct err err = {0};
    for (int i = 0; i < 20 && walk_try(&w, &err) < 0; i++) { /* includes the member */
        walk_again(&w);
        if (w.capture->again != NULL) {
            walk_copy(&w);
        }
    }
    walk_drain(&w);
    ck_assert_int_eq(sql_int(w.db, "select count(*) from pg_trigger where tgrelid = "
                                   "'t1'::regclass and tgname like 'rowferry%%'"),
                     5);
    ck_assert_int_eq(
        sql_int(w.db, "select count(*) from ran r join pg_roles p on p.rolname = r.who where "
                      "p.rolsuper"),
        0);
    ck_assert_int_eq(walk_differences(&w, "select id::text as key, body as content from t"), 0);
    walk_close(&w);
    free(w.uri);
    w.uri = plain;
    role_drop(&w, one);
    world_end(&w, owner);
}
END_TEST

START_TEST(the_key_of_an_entry_is_the_text_that_is_read)
{
    static const char *const types[] = {
        "bool",     "char(5)", "inet",       "cidr", "\"char\"",    "name",
        "uuid",     "numeric", "float8",     "date", "timestamptz", "bytea",
        "interval", "int4[]",  "varchar(9)", "mood", "flag"};
    static const char *const values[] = {"true,false",
                                         "a,ab   ",
                                         "1.2.3.4,::1,10.0.0.0/8",
                                         "10.0.0.0/8,1.2.3.4/32",
                                         "a",
                                         "abc",
                                         "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11",
                                         "1.10,-0.0",
                                         "0.1,1e300",
                                         "2026-01-02",
                                         "2026-01-02 03:04:05.6+01",
                                         "\\x00ff",
                                         "1 day 2 hours",
                                         "{1;2}",
                                         "a:b",
                                         "good",
                                         "true,false"};
    struct walk w = {.columns = body, .column_count = 1};
    char *owner = world_of(&w, "create type mood as enum ('good'); create domain flag as bool");
    for (size_t i = 0; i < sizeof(types) / sizeof(*types); i++) {
        char table[16];
        snprintf(table, sizeof(table), "public.t%zu", i);
        sql_exec(w.db, "create table %s (id %s primary key, body text)", table, types[i]);
        w.table = table;
        walk_install(&w);
        sql_exec(w.db,
                 "insert into %s select replace(v, ';', ',')::%s from "
                 "unnest(string_to_array('%s', ',')) v",
                 table, types[i], values[i]);
        ck_assert_msg(sql_int(w.db,
                              "set timezone = 'UTC'; set intervalstyle = 'iso_8601';"
                              "select count(*) from %1$s t full join (select c.key from "
                              "rowferry.change c join rowferry.capture p on p.id = c.capture and "
                              "p.relation = '%1$s'::regclass) k on k.key = t.id::text "
                              "where k.key is null or t.id is null",
                              table) == 0,
                      "%s", types[i]);
    }
    world_end(&w, owner);
}
END_TEST

START_TEST(trigger_functions_run_with_the_right_to_write_entries_alone)
{
    struct walk w = {.table = "public.t", .columns = body, .column_count = 1};
    char *owner = world_of(&w, "create table t (id bigint primary key, body text)");
    walk_install(&w);
    ck_assert_int_eq(sql_int(w.db, "select count(*) from pg_proc p where p.proname = 'capture_1' "
                                   "and p.proowner = 'rowferry_capture'::regrole"),
                     1);
    ck_assert_int_eq(
        sql_int(w.db,
                "select has_table_privilege('rowferry_capture', 'rowferry.change', 'select, "
                "update, delete')::int + has_table_privilege('rowferry_capture', 't', 'select, "
                "insert')::int + has_schema_privilege('rowferry_capture', 'rowferry', "
                "'create')::int + (select rolcanlogin::int from pg_roles where rolname = "
                "'rowferry_capture')"),
        0);
    as(&w, owner, "set row_security = off; insert into t values (1, 'x'); reset row_security");
    ck_assert_int_eq(sql_int(w.db, "select count(*) from rowferry.change"), 1);
    world_end(&w, owner);
}
END_TEST

/* --- readers --------------------------------------------------------------------------------- */

static void hinted(const struct walk *w, const char *uri, const char *wanted)
{
    struct err err = {0};
    struct pg *pg = walk_connect(uri);
    struct table *t = walk_table(w, pg);
    err_set(&err, ERR_STATE, "broken");
    installed_hint(pg, t, &err);
    ck_assert_str_eq(err.hint, wanted);
    catalog_table_free(t);
    pg_close(pg);
}

START_TEST(the_role_that_may_install_is_named_to_one_that_may_not)
{
    struct walk w = {.columns = body, .column_count = 1, .table = "public.a"};
    char *owner = world_of(&w, "create table a (id bigint primary key, body text)");
    char *reader = role_new(&w, 'p');
    char *uris[] = {uri_as(w.uri, owner), uri_as(w.uri, reader)};
    char *as_owner =
        sql_text(w.db, "select 'run: rowferry source install PIPELINE --as %s'", owner);
    as(&w, owner, "grant select on a to public");
    hinted(&w, uris[0], "run: rowferry source install PIPELINE");
    hinted(&w, w.uri, "run: rowferry source install PIPELINE"); /* a superuser */
    hinted(&w, uris[1], as_owner);
    free(as_owner);
    grant(&w, "public.a", reader); /* the schema is the superuser's */
    as_owner = sql_text(w.db, "select format('run: rowferry source install PIPELINE --as %%s"
                              "; then everything is copied again, because changes "
                              "may have been missed', current_user)");
    sql_exec(w.db, "alter table a disable trigger user");
    hinted(&w, uris[1], as_owner);
    free(as_owner);
    free(uris[0]);
    free(uris[1]);
    role_drop(&w, reader);
    world_end(&w, owner);
}
END_TEST

START_TEST(a_reader_reaches_its_own_captures_and_consumers_alone)
{
    struct walk w = {.columns = body, .column_count = 1};
    char *owner = world_of(&w, "create table a (id bigint primary key, body text);"
                               "create table b (id bigint primary key, body text)");
    char *one = role_new(&w, 'p');
    char *two = role_new(&w, 'q');
    grant(&w, "public.a", one);
    grant(&w, "public.b", two);
    as(&w, owner, "insert into a values (1, 'x'); insert into b values (2, 'x'), (3, 'x')");
    char *plain = w.uri;
    w.uri = uri_as(plain, one);
    w.table = "public.a";
    walk_start(&w);
    walk_copy(&w);
    walk_drain(&w);
    walk_release(&w);
    sql_exec(w.db, "set session authorization \"%s\"", two);
    ck_assert_int_eq(sql_int(w.db, "select count(*) from rowferry.change where capture = 1"), 0);
    ck_assert_int_eq(sql_int(w.db, "select count(*) from rowferry.change"), 2);
    ck_assert_int_eq(sql_int(w.db, "select count(*) from rowferry.capture"), 1);
    ck_assert_int_eq(sql_int(w.db, "select count(*) from rowferry.consumer"), 0);
    sql_exec(w.db, "update rowferry.consumer set keep = '0'");
    sql_exec(w.db, "select rowferry.leave('test/one', null)");
    static const char *const refused[] = {
        "do $$ begin lock table rowferry.consumer in access exclusive mode; end $$",
        "do $$ begin lock table rowferry.change in access exclusive mode; end $$",
        "delete from rowferry.consumer",
        ("insert into rowferry.consumer (name, capture, position, keep, triggers, definition, "
         "filenode, versions) values ('test/one', 1, '', '0', '', '', 0, '')"),
        "select rowferry.join_members(1)",
        "select rowferry.prune(1, 10)",
        "insert into rowferry.change (capture, op) values (2, 'T')"};
    for (size_t i = 0; i < sizeof(refused) / sizeof(*refused); i++) {
        PGresult *r = PQexec(w.db, refused[i]);
        ck_assert_msg(PQresultStatus(r) == PGRES_FATAL_ERROR, "%s", refused[i]);
        ck_assert_str_eq(PQresultErrorField(r, PG_DIAG_SQLSTATE), "42501");
        PQclear(r);
    }
    sql_exec(w.db, "reset session authorization");
    ck_assert_int_eq(sql_int(w.db, "select count(*) from rowferry.consumer"), 1);
    walk_close(&w);
    free(w.uri);
    w.uri = plain;
    role_drop(&w, one);
    role_drop(&w, two);
    world_end(&w, owner);
}
END_TEST

START_TEST(two_readers_of_one_table_do_not_meet)
{
    struct walk w = {.columns = body, .column_count = 1};
    char *owner = world_of(&w, "create table a (id bigint primary key, body text)");
    char *one = role_new(&w, 'p');
    char *two = role_new(&w, 'q');
    grant(&w, "public.a", one);
    grant(&w, "public.a", two);
    as(&w, owner, "insert into a select i, 'x' from generate_series(1, 10) i");
    char *plain = w.uri;
    struct walk other = w;
    w.uri = uri_as(plain, one);
    other.uri = uri_as(plain, two);
    walk_start(&w);
    walk_start(&other);
    walk_copy(&w);
    walk_copy(&other);
    as(&w, owner, "delete from a where id < 4");
    ck_assert_uint_eq(walk_drain(&w), 3);
    walk_release(&w);
    ck_assert_uint_eq(walk_drain(&other), 3);
    walk_release(&other);
    ck_assert_int_eq(sql_int(w.db, "select count(distinct reader) from rowferry.consumer where "
                                   "name = 'test/one'"),
                     2);
    walk_close(&w);
    walk_close(&other);
    free(w.uri);
    free(other.uri);
    free(other.position);
    w.uri = plain;
    role_drop(&w, one);
    role_drop(&w, two);
    world_end(&w, owner);
}
END_TEST

/* False data of another reader about itself, for the same table. */
START_TEST(a_reader_that_lies_about_itself_holds_nobody_up)
{
    struct walk w = {.columns = body, .column_count = 1};
    char *owner = world_of(&w, "create table a (id bigint primary key, body text) partition by "
                               "range (id); create table a0 partition of a for values from (0) to "
                               "(10)");
    char *one = role_new(&w, 'p');
    char *two = role_new(&w, 'q');
    grant(&w, "public.a", one);
    grant(&w, "public.a", two);
    as(&w, two,
       "insert into rowferry.consumer (name, capture, position, keep, triggers, definition, "
       "filenode, versions) select 'lies', 1, '', '18446744073709551615', "
       "string_agg(o || ' - x', e'\\n'), '', 0, '' from generate_series(1, 300000) o;"
       "select rowferry.prune(1, 100)");
    char *plain = w.uri;
    w.uri = uri_as(plain, one);
    walk_start(&w);
    walk_copy(&w);
    as(&w, owner,
       "insert into a values (1, 'x'); create table a1 partition of a for values from (10) to "
       "(20); insert into a values (11, 'y')");
    struct err err = {0};
    for (int i = 0; i < 20 && walk_try(&w, &err) < 0; i++) { /* includes the member */
        walk_again(&w);
    }
    walk_drain(&w);
    ck_assert_int_eq(walk_differences(&w, "select id::text as key, body as content from a"), 0);
    walk_release(&w);
    walk_close(&w);
    free(w.uri);
    w.uri = plain;
    role_drop(&w, one);
    role_drop(&w, two);
    world_end(&w, owner);
}
END_TEST

/* --- session state left by a table's owner --------------------------------------------------- */

START_TEST(a_function_that_changes_the_search_path_does_not_reach_what_is_written)
{
    struct walk w = {.columns = body, .column_count = 1};
    char *owner = world_of(
        &w, "create table a (id bigint primary key, body text);"
            "create schema trap; grant usage on schema trap to public;"
            "create table trap.ran (in_write bool); grant insert on trap.ran to public;"
            "create function trap.equal(name, text) returns bool language plpgsql as $$ "
            "begin insert into trap.ran values (true); return $1::text operator("
            "pg_catalog.=) $2; end $$;"
            "create operator trap.= (function = trap.equal, leftarg = name, rightarg = "
            "text);"
            "create function trap.equal(text, text) returns bool language plpgsql as $$ "
            "begin insert into trap.ran values (true); return $1 operator(pg_catalog.=) "
            "$2; end $$;"
            "create operator trap.= (function = trap.equal, leftarg = text, rightarg = "
            "text);"
            "create function trap.now() returns timestamptz language plpgsql as $$ begin insert "
            "into trap.ran values (true); return pg_catalog.now(); end $$;"
            "create function trap.pg_is_in_recovery() returns bool language plpgsql as $$ "
            "begin insert into trap.ran values (true); return false; end $$;"
            "create function trap.pg_current_snapshot() returns pg_snapshot language "
            "plpgsql as $$ begin insert into trap.ran values (true); return "
            "pg_catalog.pg_current_snapshot(); end $$;"
            "create function trap.path() returns int language plpgsql immutable as $$ begin "
            "perform set_config('search_path', 'trap, pg_catalog', false); return 1; end "
            "$$;"
            "create index on a ((id + trap.path()))");
    char *one = role_new(&w, 'p');
    grant(&w, "public.a", one);
    as(&w, owner, "insert into a values (1, 'x')");
    char *plain = w.uri;
    w.uri = uri_as(plain, one);
    walk_start(&w);
    walk_copy(&w);
    as(&w, owner, "update a set body = 'y'");
    walk_drain(&w);
    walk_release(&w);
    as(&w, owner, "update a set body = 'z'");
    bool any;
    struct err err = {0};
    must(w.capture->ops->news(w.capture, &any, &err), &err);
    ck_assert(any);
    walk_drain(&w);
    walk_release(&w);
    ck_assert_int_eq(sql_int(w.db, "select count(*) from trap.ran"), 0);
    ck_assert_int_eq(walk_differences(&w, "select id::text as key, body as content from a"), 0);
    walk_close(&w);
    free(w.uri);
    w.uri = plain;
    role_drop(&w, one);
    world_end(&w, owner);
}
END_TEST

SUITE_MAIN("source/rights", the_role_that_may_install_is_named_to_one_that_may_not,
           a_cast_of_the_keys_owner_does_not_run_with_the_installers_rights,
           a_key_that_became_another_type_does_not_run_its_cast,
           a_cast_of_the_keys_owner_does_not_run_with_the_readers_rights,
           a_partitions_owner_does_not_gain_the_installers_rights,
           the_key_of_an_entry_is_the_text_that_is_read,
           trigger_functions_run_with_the_right_to_write_entries_alone,

           a_reader_reaches_its_own_captures_and_consumers_alone,
           two_readers_of_one_table_do_not_meet, a_reader_that_lies_about_itself_holds_nobody_up,
           a_function_that_changes_the_search_path_does_not_reach_what_is_written)
