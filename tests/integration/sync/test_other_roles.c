/* SPDX-License-Identifier: Apache-2.0 */
/* Roles unrelated to a pipeline: interference by them is reported, and not mistaken for success. */
#include <string.h>

#include "rowferry/base/text.h"
#include "sql.h"
#include "suite.h"
#include "world.h"

/* A role that may only connect holds the advisory lock of the pipeline's consumer. */
static PGconn *stranger_locks(struct world *w, char *role)
{
    char *name = sql_text(w->conn, "select name from rowferry.consumer limit 1");
    char *uri = uri_as(w->uri, role);
    ck_assert_int_eq(setenv("PGPASSWORD", "pw", 1), 0);
    PGconn *stranger = sql_open(uri);
    unsetenv("PGPASSWORD");
    sql_exec(stranger, "select pg_advisory_lock(1380927302, %d)",
             (int)(int32_t)(uint32_t)text_hash(name, strlen(name)));
    free(uri);
    free(name);
    return stranger;
}

START_TEST(a_lock_that_a_stranger_holds_is_a_failure_that_names_the_role)
{
    struct world w;
    struct program_result result;
    world_start(&w, 10, NULL);
    world_install(&w);
    world_sync(&w, 0, &result);
    program_result_release(&result);
    char *role = sql_text(w.conn, "select 'rowferry_s_' || current_database()");
    sql_exec(w.conn,
             "create role \"%1$s\" login password 'pw'; grant usage on schema rowferry to \"%1$s\";"
             "grant select, insert, update, delete on rowferry.consumer to \"%1$s\"",
             role);
    PGconn *stranger = stranger_locks(&w, role);
    sql_exec(w.conn, "update articles set title = 'newer' where source_id = 1");
    world_sync_says(&w, 1, role);
    PQfinish(stranger);
    world_sync(&w, 0, &result);
    ck_assert_int_eq(program_json_int(&result, "upserts"), 1);
    program_result_release(&result);
    sql_exec(w.conn, "drop owned by \"%1$s\"; drop role \"%1$s\"", role);
    free(role);
    world_stop(&w);
}
END_TEST

START_TEST(a_key_of_a_hundred_kilobytes_is_a_dead_letter)
{
    struct world w;
    struct program_result result;
    world_start(&w, 3, NULL);
    sql_exec(w.conn, "alter table articles alter source_id type text");
    world_install(&w);
    world_sync(&w, 0, &result);
    program_result_release(&result);
    sql_exec(w.conn, "insert into articles (source_id, title) values (repeat('x', 100000), "
                     "'long'), ('9', 'short')");
    world_sync(&w, 3, &result);
    ck_assert_int_eq(program_json_int(&result, "upserts"), 1);
    ck_assert_int_eq(program_json_int(&result, "rejected"), 1);
    program_result_release(&result);
    rowferry_run(&result, w.config, "deadletter", "list", NULL);
    ck_assert_msg(strstr(result.out, "more than 8192 bytes") != NULL, "%s", result.out);
    program_result_release(&result);
    sql_exec(w.conn, "delete from articles where title = 'long'");
    world_sync(&w, 0, &result);
    ck_assert_int_eq(program_json_int(&result, "cleared"), 1);
    program_result_release(&result);
    world_expect_equal(&w);
    world_stop(&w);
}
END_TEST

/* A type's owner can define casts, which validate and check might call. */
START_TEST(a_cast_of_a_columns_type_does_not_run_in_validate_or_check)
{
    struct world w;
    struct program_result result;
    world_start(&w, 10, NULL);
    sql_exec(w.conn, "create type mood as enum ('good', 'bad');"
                     "create function said(mood) returns text language plpgsql as $$ begin perform "
                     "pg_notify('loot', 'text'); return 'x'; end $$;"
                     "create function told(mood) returns json language plpgsql as $$ begin perform "
                     "pg_notify('loot', 'json'); return '1'; end $$;"
                     "create cast (mood as text) with function said(mood);"
                     "create cast (mood as json) with function told(mood);"
                     "alter table articles alter title type mood using 'good'; listen loot");
    world_configure(&w, "\"title\":{\"type\":\"keyword\"}", "");
    world_install(&w);
    world_sync(&w, 0, &result);
    program_result_release(&result);
    rowferry_run(&result, w.config, "validate", NULL);
    ck_assert_msg(result.exit_code == 0, "%s%s", result.out, result.err);
    program_result_release(&result);
    rowferry_run(&result, w.config, "check", "--all", NULL);
    program_result_release(&result);
    rowferry_run(&result, w.config, "verify", NULL);
    ck_assert_msg(result.exit_code == 0, "%s%s", result.out, result.err);
    program_result_release(&result);
    sql_exec(w.conn, "select");
    PGnotify *called = PQnotifies(w.conn);
    ck_assert_msg(called == NULL, "%s", called->extra);
    world_stop(&w);
}
END_TEST

SUITE_MAIN("sync/other_roles", a_lock_that_a_stranger_holds_is_a_failure_that_names_the_role,
           a_key_of_a_hundred_kilobytes_is_a_dead_letter,
           a_cast_of_a_columns_type_does_not_run_in_validate_or_check)
