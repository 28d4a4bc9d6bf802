/* SPDX-License-Identifier: Apache-2.0 */
/* Later syncs: only changes are sent, none is missed, and a bad document does not stop the
 * others. */
#include <string.h>

#include "sql.h"
#include "suite.h"
#include "world.h"

static void synced_world(struct world *w, long rows)
{
    struct program_result result;
    world_start(w, rows, NULL);
    world_install(w);
    world_sync(w, 0, &result);
    program_result_release(&result);
}

static void sync_and_count(struct world *w, int64_t upserts, int64_t deletes)
{
    struct program_result result;
    world_sync(w, 0, &result);
    ck_assert_int_eq(program_json_int(&result, "upserts"), upserts);
    ck_assert_int_eq(program_json_int(&result, "deletes"), deletes);
    program_result_release(&result);
    world_expect_equal(w);
}

START_TEST(only_changes_travel)
{
    struct world w;
    synced_world(&w, 2000);
    sql_exec(w.conn, "update articles set title = title || '!' where source_id <= 500");
    sql_exec(w.conn, "insert into articles (source_id, title) "
                     "select i, 'new' from generate_series(5001, 5100) i");
    sql_exec(w.conn, "delete from articles where source_id between 901 and 1000");
    sync_and_count(&w, 600, 100);
    sync_and_count(&w, 0, 0);
    world_stop(&w);
}
END_TEST

START_TEST(a_transaction_that_commits_after_two_syncs_is_not_lost)
{
    struct world w;
    synced_world(&w, 100);
    PGconn *late = sql_open(w.uri);
    sql_exec(late, "begin");
    sql_exec(late, "update articles set title = 'late' where source_id = 7");
    sql_exec(w.conn, "update articles set title = 'early' where source_id = 8");
    struct program_result result;
    for (int i = 0; i < 2; i++) {
        world_sync(&w, 0, &result);
        ck_assert_int_eq(program_json_int(&result, "operations"), i == 0 ? 1 : 0);
        program_result_release(&result);
    }
    sql_exec(late, "commit");
    PQfinish(late);
    sync_and_count(&w, 1, 0);
    world_stop(&w);
}
END_TEST

START_TEST(a_changed_key_moves_the_document)
{
    struct world w;
    synced_world(&w, 100);
    sql_exec(w.conn, "update articles set source_id = 1007 where source_id = 7");
    sync_and_count(&w, 1, 1);
    world_stop(&w);
}
END_TEST

START_TEST(a_rolled_back_change_is_no_change)
{
    struct world w;
    synced_world(&w, 100);
    sql_exec(w.conn, "begin; update articles set title = 'x'; rollback");
    sync_and_count(&w, 0, 0);
    world_stop(&w);
}
END_TEST

START_TEST(ten_thousand_changes_in_one_transaction_arrive)
{
    struct world w;
    synced_world(&w, 12000);
    sql_exec(w.conn, "update articles set price = price + 1 where source_id <= 10000");
    sync_and_count(&w, 10000, 0);
    world_stop(&w);
}
END_TEST

START_TEST(one_rejected_document_is_a_dead_letter_until_its_row_is_corrected)
{
    struct world w;
    struct program_result result;
    world_start(&w, 50, NULL);
    world_configure(&w, "\"title\":{\"type\":\"long\"}", "");
    sql_exec(w.conn, "update articles set title = source_id");
    sql_exec(w.conn, "update articles set title = 'no number' where source_id = 7");
    world_install(&w);
    world_sync(&w, 3, &result);
    ck_assert_int_eq(program_json_int(&result, "upserts"), 49);
    ck_assert_int_eq(program_json_int(&result, "rejected"), 1);
    program_result_release(&result);
    rowferry_run(&result, w.config, "deadletter", "list", NULL);
    ck_assert_msg(strstr(result.out, "7") != NULL &&
                      strstr(result.out, "mapper_parsing_exception") != NULL,
                  "%s", result.out);
    program_result_release(&result);
    world_sync(&w, 3, &result); /* still unresolved */
    program_result_release(&result);
    sql_exec(w.conn, "update articles set title = '77' where source_id = 7");
    world_sync(&w, 0, &result);
    ck_assert_int_eq(program_json_int(&result, "cleared"), 1);
    program_result_release(&result);
    world_stop(&w);
}
END_TEST

START_TEST(a_service_that_refuses_for_a_while_is_ridden_out)
{
    struct world w;
    synced_world(&w, 300);
    sql_exec(w.conn, "update articles set title = 'after the storm'");
    world_fault(&w, "{\"items_status\":429,\"every\":2,\"count\":3}");
    sync_and_count(&w, 300, 0);
    sql_exec(w.conn, "update articles set title = 'after the outage'");
    world_fault(&w, "{\"status\":503,\"count\":4}");
    sync_and_count(&w, 300, 0);
    world_stop(&w);
}
END_TEST

START_TEST(a_restarted_database_is_waited_for)
{
    struct world w;
    struct program program;
    struct program_result result;
    world_start(&w, 6000, NULL);
    world_install(&w);
    world_configure(&w, WORLD_PROPERTIES, SMALL_WINDOW);
    world_hold_all(&w, "_bulk");
    rowferry_start(&program, w.config, "sync", "--json", NULL);
    world_await_held(&w);
    sql_exec(w.conn, "select pg_terminate_backend(pid) from pg_stat_activity "
                     "where application_name like 'rowferry%%' and datname = current_database()");
    world_unfault(&w);
    program_finish(&program, WAIT_MS, &result);
    ck_assert_msg(result.exit_code == 0, "%s", result.err);
    program_result_release(&result);
    world_expect_equal(&w);
    world_stop(&w);
}
END_TEST

START_TEST(a_partitioned_table_is_followed_through_a_new_partition)
{
    struct world w;
    struct program_result result;
    world_start(&w, 2000, NULL);
    sql_exec(w.conn,
             "alter table articles rename to low; create table articles (like low including all) "
             "partition by range (source_id);"
             "alter table articles attach partition low for values from (minvalue) to (5000)");
    world_install(&w);
    world_sync(&w, 0, &result);
    ck_assert_int_eq(program_json_int(&result, "upserts"), 2000);
    program_result_release(&result);
    world_expect_equal(&w);
    sql_exec(w.conn, "update low set title = title || '!' where source_id <= 5;"
                     "create table high partition of articles for values from (5000) to (9000);"
                     "insert into high (source_id, title) values (5001, 'new');"
                     "update articles set source_id = 5010 where source_id = 10");
    sync_and_count(&w, 7, 1);
    sql_exec(w.conn, "delete from high");
    sync_and_count(&w, 0, 2);
    rowferry_run(&result, w.config, "check", "--all", "--accept-admin", NULL);
    ck_assert_msg(strstr(result.out, "relies on") == NULL, "%s", result.out);
    program_result_release(&result);
    sql_exec(w.conn, "alter table articles detach partition high");
    rowferry_run(&result, w.config, "check", "--all", "--accept-admin", NULL);
    ck_assert_msg(strstr(result.out, "relies on public.high") != NULL, "%s", result.out);
    program_result_release(&result);
    sync_and_count(&w, 0, 0); /* it was empty */
    sql_exec(w.conn, "delete from high; insert into high (source_id, title) "
                     "select i, 'x' from generate_series(6000, 6004) i;"
                     "alter table articles attach partition high for values from (5000) to (9000)");
    sync_and_count(&w, 5, 0);
    sql_exec(w.conn, "alter table articles detach partition high;"
                     "update articles set title = 'y' where source_id = 7");
    sync_and_count(&w, 1, 5);
    sql_exec(w.conn, "alter table articles detach partition low");
    rowferry_run(&result, w.config, "sync", NULL);
    ck_assert_int_eq(result.exit_code, 1);
    ck_assert_msg(strstr(result.err, "no document has a row") != NULL, "%s", result.err);
    program_result_release(&result);
    world_stop(&w);
}
END_TEST

START_TEST(an_older_change_log_is_upgraded_and_its_position_stays_valid)
{
    struct world w;
    struct program_result result;
    world_start(&w, 100, NULL);
    rowferry_run(&result, w.config, "source", "upgrade", NULL);
    ck_assert_int_ne(result.exit_code, 0);
    ck_assert_ptr_nonnull(strstr(result.err, "no change log is installed"));
    ck_assert_ptr_nonnull(strstr(result.err, "rowferry source install"));
    program_result_release(&result);
    world_install(&w);
    world_sync(&w, 0, &result);
    program_result_release(&result);
    sql_exec(w.conn, "update rowferry.migration set version = 1;"
                     "drop trigger rowferry_1_row on articles;"
                     "drop function rowferry.join_members(integer)");
    sql_exec(w.conn, "update rowferry.consumer set triggers = rowferry.members(1)");
    sql_exec(w.conn, "update articles set title = 'before' where source_id = 3");
    rowferry_run(&result, w.config, "sync", NULL);
    ck_assert_int_ne(result.exit_code, 0);
    ck_assert_msg(strstr(result.err, "rowferry source upgrade") != NULL, "%s", result.err);
    program_result_release(&result);
    rowferry_run(&result, w.config, "source", "upgrade", NULL);
    ck_assert_int_eq(result.exit_code, 0);
    ck_assert_msg(strstr(result.out, "upgraded to the current version") != NULL, "%s", result.out);
    program_result_release(&result);
    sql_exec(w.conn, "update articles set title = 'after' where source_id = 4");
    sync_and_count(&w, 2, 0);
    world_stop(&w);
}
END_TEST

/* Debezium creates such a publication: without a replica identity PostgreSQL refuses to prune. */
START_TEST(a_publication_of_all_tables_stops_no_sync_and_the_log_is_pruned)
{
    struct world w;
    world_start(&w, 10, NULL);
    sql_exec(w.conn, "create publication everything for all tables");
    world_install(&w);
    world_sync_says(&w, 0, "generation_live");
    for (int i = 0; i < 3; i++) {
        sql_exec(w.conn, "update articles set title = title || '!'");
        sync_and_count(&w, 10, 0);
    }
    struct deadline deadline = deadline_after(WAIT_MS);
    do { /* an open transaction of another test, of any database, keeps the changes after it */
        ck_assert(deadline_wait(&deadline));
        sync_and_count(&w, 0, 0);
    } while (sql_int(w.conn, "select count(*) from rowferry.change") > 0);
    world_stop(&w);
}
END_TEST

START_TEST(a_log_that_cannot_be_pruned_is_a_warning)
{
    struct world w;
    synced_world(&w, 10);
    sql_exec(w.conn, "create publication everything for all tables; "
                     "alter table rowferry.change replica identity nothing");
    sql_exec(w.conn, "update articles set title = title || '!'");
    sync_and_count(&w, 10, 0);
    sql_exec(w.conn, "update articles set title = title || '!'");
    world_sync_says(&w, 0, "event=prune_failed");
    world_expect_equal(&w);
    world_stop(&w);
}
END_TEST

SUITE_MAIN("integration/changes", a_publication_of_all_tables_stops_no_sync_and_the_log_is_pruned,
           a_log_that_cannot_be_pruned_is_a_warning, only_changes_travel,
           a_transaction_that_commits_after_two_syncs_is_not_lost, a_changed_key_moves_the_document,
           a_rolled_back_change_is_no_change, ten_thousand_changes_in_one_transaction_arrive,
           one_rejected_document_is_a_dead_letter_until_its_row_is_corrected,
           a_service_that_refuses_for_a_while_is_ridden_out, a_restarted_database_is_waited_for,
           a_partitioned_table_is_followed_through_a_new_partition,
           an_older_change_log_is_upgraded_and_its_position_stays_valid)
