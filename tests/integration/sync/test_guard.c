/* SPDX-License-Identifier: Apache-2.0 */
/* Deletes never too many: a large DELETE, a TRUNCATE, a condition, an empty table, hidden rows. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "http.h"
#include "sql.h"
#include "suite.h"
#include "world.h"

static int64_t documents(struct world *w)
{
    struct json_object *answer = reply_json(200, "POST", w->service.url, "/shop-articles/_refresh",
                                            NULL, "ApiKey " WORLD_API_KEY);
    json_object_put(answer);
    answer = reply_json(200, "GET", w->service.url, "/shop-articles/_count", NULL,
                        "ApiKey " WORLD_API_KEY);
    int64_t count = json_object_get_int64(json_object_object_get(answer, "count"));
    json_object_put(answer);
    return count;
}

static void synced(struct world *w, long rows, const char *where)
{
    struct program_result result;
    world_start(w, rows, NULL);
    if (where != NULL) {
        world_where(w, where);
    }
    world_install(w);
    world_sync(w, 0, &result);
    program_result_release(&result);
    ck_assert_int_eq(documents(w), rows);
}

static void stopped(struct world *w, const char *words, int64_t left)
{
    struct program_result result;
    world_sync(w, 1, &result);
    ck_assert_msg(strstr(result.err, words) != NULL, "%s", result.err);
    ck_assert_msg(strstr(result.err, "--allow-deletes articles") != NULL, "%s", result.err);
    ck_assert_int_eq(program_json_int(&result, "deletes"), 0);
    program_result_release(&result);
    ck_assert_int_eq(documents(w), left);
}

static void allowed(struct world *w, int64_t deletes)
{
    struct program_result result;
    rowferry_run(&result, w->config, "sync", "--json", "--allow-deletes", NULL);
    ck_assert_msg(result.exit_code == 0, "%s", result.err);
    ck_assert_int_eq(program_json_int(&result, "deletes"), deletes);
    program_result_release(&result);
}

static void status_says(struct world *w, const char *words, bool wanted)
{
    struct program_result result;
    rowferry_run(&result, w->config, "status", NULL);
    ck_assert_msg((strstr(result.out, words) != NULL) == wanted, "%s", result.out);
    program_result_release(&result);
}

START_TEST(a_truncated_table_empties_the_index_only_when_told_to)
{
    struct world w;
    synced(&w, 5000, NULL);
    sql_exec(w.conn, "truncate articles");
    stopped(&w, "the table was truncated, which would delete 5000 of 5000 documents", 5000);
    status_says(&w, "5,000 deletes, the index has 5,000 documents", true);
    stopped(&w, "5000 of 5000", 5000);
    allowed(&w, 5000);
    ck_assert_int_eq(documents(&w), 0);
    status_says(&w, "5,000 deletes, the", false);
    world_stop(&w);
}
END_TEST

/* A nightly reload is judged by the present rows, by their share alone. */
START_TEST(a_table_that_is_truncated_and_filled_loses_what_did_not_come_back)
{
    struct world w;
    struct program_result result;
    synced(&w, 3000, NULL);
    sql_exec(w.conn, "begin; create temp table kept as table articles; truncate articles; "
                     "insert into articles select * from kept; commit");
    world_sync(&w, 0, &result);
    program_result_release(&result);
    world_expect_equal(&w);
    sql_exec(w.conn, "begin; truncate articles; "
                     "insert into articles select * from kept where source_id > 50; commit");
    world_sync(&w, 0, &result);
    ck_assert_int_eq(program_json_int(&result, "deletes"), 50);
    program_result_release(&result);
    world_expect_equal(&w);
    sql_exec(w.conn, "begin; truncate articles; "
                     "insert into articles select * from kept where source_id > 400; commit");
    stopped(&w, "the table was truncated, which would delete 350 of 2950 documents", 2950);
    sql_exec(w.conn, "update articles set title = 'meanwhile' where source_id = 409");
    allowed(&w, 350);
    world_expect_equal(&w);
    world_stop(&w);
}
END_TEST

START_TEST(a_large_delete_stops_with_its_numbers)
{
    struct world w;
    struct program_result result;
    synced(&w, 12000, NULL);
    sql_exec(w.conn, "delete from articles where source_id <= 1200");
    world_sync(&w, 0, &result); /* exactly a tenth is permitted */
    ck_assert_int_eq(program_json_int(&result, "deletes"), 1200);
    program_result_release(&result);
    sql_exec(w.conn, "update articles set title = title || '!' where source_id > 10000");
    sql_exec(w.conn, "delete from articles where source_id between 2000 and 9999");
    stopped(&w, "would delete 8000 of 10800 documents", 10800);
    allowed(&w, 8000);
    world_expect_equal(&w);
    world_stop(&w);
}
END_TEST

START_TEST(a_condition_that_suddenly_matches_nothing_stops)
{
    struct world w;
    synced(&w, 500, "title is not null");
    sql_exec(w.conn, "update articles set title = null");
    stopped(&w, "would delete 500 of 500 documents", 500);
    allowed(&w, 500);
    ck_assert_int_eq(documents(&w), 0);
    world_stop(&w);
}
END_TEST

START_TEST(keys_without_a_document_are_not_counted_once_a_sync_was_stopped)
{
    struct world w;
    world_start(&w, 2000, NULL);
    world_where(&w, "source_id % 2 = 0");
    world_install(&w);
    struct program_result result;
    world_sync(&w, 0, &result);
    program_result_release(&result);
    sql_exec(w.conn, "create table kept as select * from articles;"
                     "delete from articles where source_id <= 600");
    for (int again = 0; again < 2; again++) {
        stopped(&w, "delete 300 of 1000 documents", 1000);
    }
    allowed(&w, 600);
    ck_assert_int_eq(documents(&w), 700);
    sql_exec(w.conn, "delete from articles where source_id <= 1000");
    stopped(&w, "delete 200 of 700 documents", 700);
    sql_exec(w.conn, "insert into articles select * from kept where source_id between 601 and 1000;"
                     "insert into articles select * from kept where source_id between 1 and 99 and "
                     "source_id %% 2 = 1");
    world_sync(&w, 0, &result);
    program_result_release(&result);
    ck_assert_int_eq(documents(&w), 700);
    status_says(&w, "stopped by the guard", false);
    world_stop(&w);
}
END_TEST

START_TEST(an_index_built_anew_from_an_empty_table_is_not_swapped_in)
{
    struct world w;
    char path[512];
    synced(&w, 50, NULL);
    sql_exec(w.conn, "delete from articles; delete from rowferry.consumer");
    snprintf(path, sizeof(path), "%s/state.db", w.dir);
    ck_assert_int_eq(remove(path), 0);
    stopped(&w, "the table gives no documents", 50);
    stopped(&w, "the table gives no documents", 50);
    allowed(&w, 0);
    ck_assert_int_eq(documents(&w), 0);
    world_stop(&w);
}
END_TEST

#define FEWER "the table gives 1 documents, 999 fewer than the 1000 of the live index"

START_TEST(a_first_load_of_few_rows_does_not_replace_an_index_of_many)
{
    struct world w;
    char path[512];
    synced(&w, 1000, NULL);
    sql_exec(w.conn, "delete from articles where source_id > 1; drop schema rowferry cascade");
    snprintf(path, sizeof(path), "%s/state.db", w.dir);
    ck_assert_int_eq(remove(path), 0);
    world_install(&w);
    stopped(&w, FEWER, 1000);
    status_says(&w, "999 deletes, the index has 1,000 documents", true);
    stopped(&w, FEWER, 1000);
    allowed(&w, 0);
    world_expect_equal(&w);
    status_says(&w, "999 deletes", false);
    world_stop(&w);
}
END_TEST

START_TEST(another_table_by_a_copied_configuration_does_not_replace_the_index)
{
    struct world w;
    char text[8192];
    synced(&w, 1000, NULL);
    sql_exec(w.conn, "create table draftset (like articles including all);"
                     "insert into draftset select * from articles where source_id = 1");
    char *other = world_config_of_another(&w);
    FILE *file = fopen(other, "r");
    ck_assert_ptr_nonnull(file);
    text[fread(text, 1, sizeof(text) - 1, file)] = '\0';
    fclose(file);
    char *table = strstr(text, "public.articles");
    ck_assert_ptr_nonnull(table);
    memcpy(table, "public.draftset", strlen("public.draftset"));
    free(other);
    free(w.config);
    w.config = scratch_write(w.dir, "other.json", text);
    world_install(&w);
    stopped(&w, FEWER, 1000);
    world_stop(&w);
}
END_TEST

/* An admin may grant the owner, as on a service without a superuser. */
static void give_to_an_owner(const struct world *w, const char *role)
{
    sql_exec(w->conn,
             "create role \"owner of %1$s\" login; alter table articles owner to \"owner of %1$s\";"
             "create role \"admin of %1$s\" login createrole;"
             "grant \"owner of %1$s\" to \"admin of %1$s\" with admin option",
             role);
}

START_TEST(rows_that_a_policy_hides_are_an_error_and_no_deletes)
{
    struct world w;
    struct program_result result;
    synced(&w, 300, NULL);
    char *role = sql_text(w.conn, "select 'reader_' || current_database()");
    sql_exec(w.conn, "create role \"%s\" login password 'pw'", role);
    rowferry_expect(0, w.config, "source", "install", "--reader", role, NULL);
    char *owner = w.uri;
    ck_assert_int_eq(setenv("PGPASSWORD", "pw", 1), 0);
    w.uri = uri_as(owner, role);
    world_where(&w, "true");
    free(w.uri);
    w.uri = owner;
    sql_exec(w.conn, "alter table articles enable row level security");
    sql_exec(w.conn, "update articles set title = 'hidden'");
    world_sync(&w, 1, &result);
    ck_assert_msg(strstr(result.err, "row-level security") != NULL, "%s", result.err);
    ck_assert_msg(strstr(result.err, "bypassrls") != NULL, "%s", result.err);
    program_result_release(&result);
    rowferry_run(&result, w.config, "check", "--accept-admin", NULL);
    ck_assert_ptr_null(strstr(result.out, "if that is impossible")); /* its owner is a superuser */
    program_result_release(&result);
    static const char *const others[][4] = {{"check", "--all", "--accept-admin", NULL},
                                            {"verify", NULL},
                                            {"resync", "--where", "true", NULL}};
    for (size_t i = 0; i < 3; i++) {
        rowferry_run(&result, w.config, others[i][0], others[i][1], others[i][2], NULL);
        ck_assert_int_eq(result.exit_code, i == 0 ? 4 : 1);
        const char *said = i == 0 ? result.out : result.err;
        ck_assert_msg(strstr(said, "bypassrls") != NULL, "%s: %s", others[i][0], said);
        ck_assert_ptr_null(strstr(said, "source print"));
        program_result_release(&result);
    }
    ck_assert_int_eq(documents(&w), 300);
    /* the remedy of a service without a superuser */
    give_to_an_owner(&w, role);
    rowferry_run(&result, w.config, "check", "--accept-admin", NULL);
    expect_text(result.out, "run: grant \"owner of ");
    program_result_release(&result);
    sql_exec(w.conn, "grant \"owner of %1$s\" to \"%1$s\"", role);
    w.uri = uri_as(owner, role);
    world_configure(&w, WORLD_PROPERTIES, "");
    free(w.uri);
    w.uri = owner;
    rowferry_expect(0, w.config, "check", "--accept-admin", NULL);
    world_sync(&w, 0, &result);
    ck_assert_int_eq(program_json_int(&result, "upserts"), 300);
    program_result_release(&result);
    unsetenv("PGPASSWORD");
    sql_exec(
        w.conn,
        "reassign owned by \"owner of %1$s\" to current_user; drop owned by \"%1$s\"; drop role "
        "\"%1$s\", \"owner of %1$s\", \"admin of %1$s\"",
        role);
    free(role);
    world_stop(&w);
}
END_TEST

SUITE_MAIN("integration/guard", a_truncated_table_empties_the_index_only_when_told_to,
           a_table_that_is_truncated_and_filled_loses_what_did_not_come_back,
           a_large_delete_stops_with_its_numbers, a_condition_that_suddenly_matches_nothing_stops,
           keys_without_a_document_are_not_counted_once_a_sync_was_stopped,
           an_index_built_anew_from_an_empty_table_is_not_swapped_in,
           a_first_load_of_few_rows_does_not_replace_an_index_of_many,
           another_table_by_a_copied_configuration_does_not_replace_the_index,
           rows_that_a_policy_hides_are_an_error_and_no_deletes)
