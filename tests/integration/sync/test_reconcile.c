/* SPDX-License-Identifier: Apache-2.0 */
/* Invisible changes of rows: missed by a cursor, by a condition, with a partition. */
#include <string.h>

#include "http.h"
#include "sql.h"
#include "suite.h"
#include "wait.h"
#include "world.h"

#define FOLLOW "\"capture\": {\"mode\": \"cursor\", \"column\": \"updated_at\"}"
#define RECONCILED(every)                                                                          \
    "\"capture\": {\"mode\": \"cursor\", \"column\": \"updated_at\", "                             \
    "\"deletes\": {\"reconcile\": \"" every "\"}}"

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

static void sync_well(struct world *w)
{
    struct program_result result;
    world_sync(w, 0, &result);
    program_result_release(&result);
}

static void begin(struct world *w, long rows, const char *from)
{
    world_start(w, rows, NULL);
    world_from(w, from);
    sync_well(w);
}

static void becomes(struct world *w, int64_t wanted)
{
    struct deadline deadline = deadline_after(WAIT_MS);
    while (documents(w) != wanted) {
        ck_assert_msg(deadline_wait(&deadline), "%lld documents", (long long)documents(w));
        sync_well(w);
    }
}

/* Syncs until the guard stops one; nothing may be deleted before. */
static void stops(struct world *w, const char *words, int64_t left)
{
    struct program_result result;
    struct deadline deadline = deadline_after(WAIT_MS);
    for (int exit_code = 0; exit_code == 0;) {
        ck_assert(deadline_wait(&deadline));
        rowferry_run(&result, w->config, "sync", "--json", NULL);
        exit_code = result.exit_code;
        ck_assert_int_eq(documents(w), left);
        if (exit_code != 0) {
            ck_assert_int_eq(exit_code, 1);
            ck_assert_msg(strstr(result.err, words) != NULL, "%s", result.err);
        }
        program_result_release(&result);
    }
}

static void allowed(struct world *w, int64_t left)
{
    struct program_result result;
    rowferry_run(&result, w->config, "sync", "--json", "--allow-deletes", NULL);
    ck_assert_msg(result.exit_code == 0, "%s", result.err);
    program_result_release(&result);
    ck_assert_int_eq(documents(w), left);
}

START_TEST(rows_deleted_behind_a_cursors_back_leave_the_index)
{
    struct world w;
    begin(&w, 12000, RECONCILED("1s"));
    sql_exec(w.conn, "delete from articles where source_id in (7, 11000)");
    becomes(&w, 11998);
    world_expect_equal(&w);
    sql_exec(w.conn, "delete from articles where source_id > 2000");
    stops(&w, "a reconcile would delete 9999 of 11998 documents", 11998);
    sql_exec(w.conn,
             "update articles set title = 'meanwhile', updated_at = now() where source_id = 9");
    allowed(&w, 1999);
    world_expect_equal(&w);
    world_stop(&w);
}
END_TEST

static void put_stray(struct world *w, const char *id)
{
    char path[128];
    char body[128];
    snprintf(path, sizeof(path), "/shop-articles/_doc/%s", id);
    snprintf(body, sizeof(body), "{\"source_id\":\"%s\"}", id);
    json_object_put(reply_json(201, "PUT", w->service.url, path, body, "ApiKey " WORLD_API_KEY));
}

START_TEST(documents_whose_id_is_no_key_leave_the_index_and_no_other_does)
{
    struct world w;
    begin(&w, 500, RECONCILED("1s"));
    put_stray(&w, "stray");
    put_stray(&w, "007");
    put_stray(&w, "99999999999999999999999");
    ck_assert_int_eq(documents(&w), 503);
    becomes(&w, 500);
    world_expect_equal(&w);
    world_stop(&w);
}
END_TEST

START_TEST(without_a_reconcile_nothing_is_listed_and_check_says_so)
{
    struct world w;
    struct program_result result;
    begin(&w, 20, FOLLOW);
    sql_exec(w.conn, "delete from articles where source_id = 7");
    sync_well(&w);
    ck_assert_int_eq(documents(&w), 20);
    rowferry_run(&result, w.config, "check", "--all", "--accept-admin", NULL);
    ck_assert_msg(strstr(result.out, "rows that are deleted in the table stay in the index") !=
                      NULL,
                  "%s", result.out);
    ck_assert_msg(strstr(result.out, "set from.capture.deletes") != NULL, "%s", result.out);
    program_result_release(&result);
    world_from(&w, RECONCILED("1h"));
    rowferry_run(&result, w.config, "check", "--all", "--accept-admin", NULL);
    ck_assert_msg(strstr(result.out, "leave the index with the first sync that runs 1h") != NULL,
                  "%s", result.out);
    program_result_release(&result);
    sync_well(&w); /* just reconciled while it was empty */
    ck_assert_int_eq(documents(&w), 20);
    world_stop(&w);
}
END_TEST

START_TEST(a_table_that_was_emptied_behind_a_cursors_back_deletes_nothing)
{
    struct world w;
    begin(&w, 50, RECONCILED("1s"));
    sql_exec(w.conn, "truncate articles");
    stops(&w, "no document has a row: a reconcile would delete 50 of 50 documents", 50);
    allowed(&w, 0);
    world_stop(&w);
}
END_TEST

START_TEST(a_condition_that_suddenly_matches_nothing_meets_the_guard_of_a_cursor)
{
    struct world w;
    struct program_result result;
    begin(&w, 6000, "\"where\": \"title is not null\", " FOLLOW);
    sql_exec(w.conn, "update articles set title = null, updated_at = now()");
    stops(&w, "the next changes would delete 6000 of 6000 documents", 6000);
    allowed(&w, 0);
    world_sync(&w, 0, &result); /* reported again while they may have been late */
    program_result_release(&result);
    sql_exec(w.conn, "update articles set title = 'back', updated_at = now()");
    sync_well(&w);
    ck_assert_int_eq(documents(&w), 6000);
    world_stop(&w);
}
END_TEST

START_TEST(deletes_that_are_told_again_do_not_count_twice)
{
    struct world w;
    begin(&w, 800, "\"where\": \"title is not null\", " FOLLOW);
    for (int part = 0; part < 4; part++) { /* each less than a tenth, together more */
        sql_exec(w.conn,
                 "update articles set title = null, updated_at = now() where source_id %% 12 = %d",
                 part);
        sync_well(&w);
    }
    ck_assert_int_eq(documents(&w), sql_int(w.conn, "select count(title) from articles"));
    world_stop(&w);
}
END_TEST

START_TEST(what_a_permission_was_given_for_is_not_used_up_by_what_is_told_again)
{
    struct world w;
    begin(&w, 1000, "\"where\": \"title is not null\", " RECONCILED("1h"));
    world_from(&w, "\"where\": \"title is not null\", " RECONCILED("1s"));
    sql_exec(w.conn, "delete from articles where source_id <= 300; update articles set title = "
                     "null, updated_at = now() where source_id between 400 and 700");
    stops(&w, "the next changes would delete 301 of 1000 documents", 1000);
    struct program_result result;
    struct deadline deadline = deadline_after(WAIT_MS);
    do { /* until the reconcile is due */
        ck_assert(deadline_wait(&deadline));
        rowferry_run(&result, w.config, "sync", "--json", "--allow-deletes", NULL);
        bool stopped = strstr(result.err, "a reconcile would delete 300 of 699") != NULL;
        ck_assert_msg(stopped == (result.exit_code == 1), "%s", result.err);
        program_result_release(&result);
        if (stopped) {
            break;
        }
    } while (documents(&w) != 399);
    ck_assert_int_eq(documents(&w), 699);
    allowed(&w, 399);
    world_stop(&w);
}
END_TEST

START_TEST(a_condition_of_the_clock_needs_a_reconcile)
{
    struct world w;
    struct program_result result;
    begin(&w, 300, "\"where\": \"updated_at > now() - interval '10 years'\", " RECONCILED("1s"));
    rowferry_run(&result, w.config, "check", "--all", "--accept-admin", NULL);
    ck_assert_msg(result.exit_code == 0, "%s", result.out);
    ck_assert_msg(strstr(result.out, "rows that match no more are found") != NULL, "%s",
                  result.out);
    program_result_release(&result);
    sql_exec(w.conn, "update articles set updated_at = '2001-01-01' where source_id <= 5");
    becomes(&w, 295);
    world_from(&w, "\"where\": \"updated_at > now() - interval '10 years'\", " FOLLOW);
    rowferry_run(&result, w.config, "check", "--all", "--accept-admin", NULL);
    ck_assert_msg(result.exit_code == 4, "%s", result.out);
    program_result_release(&result);
    world_stop(&w);
}
END_TEST

START_TEST(rows_that_a_policy_hides_are_an_error_and_no_deletes)
{
    struct world w;
    struct program_result result;
    begin(&w, 300, RECONCILED("1s"));
    char *role = sql_text(w.conn, "select 'reader_' || current_database()");
    sql_exec(w.conn, "create role \"%s\" login password 'pw'; grant select on articles to \"%s\"",
             role, role);
    char *owner = w.uri;
    ck_assert_int_eq(setenv("PGPASSWORD", "pw", 1), 0);
    w.uri = uri_as(owner, role);
    world_from(&w, RECONCILED("1s"));
    free(w.uri);
    w.uri = owner;
    sync_well(&w);
    sql_exec(w.conn, "alter table articles enable row level security");
    world_sync(&w, 1, &result);
    ck_assert_msg(strstr(result.err, "row-level security") != NULL, "%s", result.err);
    ck_assert_msg(strstr(result.err, "bypassrls") != NULL, "%s", result.err);
    program_result_release(&result);
    ck_assert_int_eq(documents(&w), 300);
    sql_exec(w.conn, "alter role \"%s\" bypassrls", role); /* the remedy works */
    sync_well(&w);
    unsetenv("PGPASSWORD");
    sql_exec(w.conn, "drop owned by \"%s\"; drop role \"%s\"", role, role);
    free(role);
    world_stop(&w);
}
END_TEST

static void parted(struct world *w)
{
    world_start(w, 0, NULL);
    sql_exec(w->conn, "alter table articles rename to flat;"
                      "create table articles (like flat including defaults, "
                      "primary key (source_id)) partition by range (source_id);"
                      "create table low partition of articles for values from (0) to (1000);"
                      "create table high partition of articles for values from (1000) to (10000);"
                      "insert into articles (source_id, title, updated_at) "
                      "select i, 'title', now() from generate_series(1, 2000) i");
}

static void sync_ends(struct world *w, int exit_code, const char *option)
{
    struct program_result result;
    rowferry_run(&result, w->config, "sync", "--json", option, NULL);
    ck_assert_msg(result.exit_code == exit_code, "%d: %s", result.exit_code, result.err);
    program_result_release(&result);
}

START_TEST(rows_of_a_detached_partition_leave_the_index_although_the_service_was_away_meanwhile)
{
    struct world w;
    parted(&w);
    world_configure(&w, "\"title\":{\"type\":\"text\"}", "\"retry_budget\": \"1s\"");
    world_install(&w);
    sync_well(&w);
    sql_exec(w.conn, "alter table articles detach partition low");
    sync_ends(&w, 1, NULL);
    world_fault(&w, "{\"status\":503,\"path\":\"_bulk\"}");
    sync_ends(&w, 6, "--allow-deletes");
    json_object_put(reply_json(200, "DELETE", w.service.url, "/_devsearch/faults", NULL,
                               "ApiKey " WORLD_API_KEY));
    ck_assert_int_eq(documents(&w), 2000);
    sync_ends(&w, 1, NULL); /* still not permitted, and not forgotten */
    sync_ends(&w, 0, "--allow-deletes");
    ck_assert_int_eq(documents(&w), 1001);
    sync_well(&w);
    world_stop(&w);
}
END_TEST

START_TEST(rows_of_a_dropped_partition_leave_the_index_beside_rows_that_were_deleted)
{
    struct world w;
    parted(&w);
    world_install(&w);
    sync_well(&w);
    sql_exec(w.conn, "drop table low; delete from articles where source_id <= 1300");
    sync_ends(&w, 1, NULL);
    sync_ends(&w, 0, "--allow-deletes");
    world_expect_equal(&w);
    world_stop(&w);
}
END_TEST

START_TEST(a_partitioned_table_is_followed_and_reconciled)
{
    struct world w;
    parted(&w);
    world_from(&w, RECONCILED("1s"));
    sync_well(&w);
    world_expect_equal(&w);
    sql_exec(w.conn,
             "update articles set title = 'new', updated_at = now() where source_id %% 500 = 0;"
             "update articles set source_id = 5000, updated_at = now() where source_id = 4;"
             "delete from articles where source_id in (5, 1500)");
    becomes(&w, 1998);
    world_expect_equal(&w);
    sql_exec(w.conn, "alter table articles detach partition low");
    stops(&w, "a reconcile would delete 997 of 1998 documents", 1998);
    allowed(&w, 1001);
    world_expect_equal(&w);
    world_stop(&w);
}
END_TEST

START_TEST(an_index_with_a_narrow_result_window_is_reconciled_too)
{
    struct world w;
    world_start(&w, 50, NULL);
    w.to = "\"settings\": {\"index\": {\"max_result_window\": 7}}";
    world_from(&w, RECONCILED("1s"));
    sync_well(&w);
    sql_exec(w.conn, "delete from articles where source_id <= 10");
    becomes(&w, 40);
    rowferry_expect(0, w.config, "verify", NULL);
    world_stop(&w);
}
END_TEST

SUITE_MAIN("sync/reconcile", an_index_with_a_narrow_result_window_is_reconciled_too,
           rows_deleted_behind_a_cursors_back_leave_the_index,
           documents_whose_id_is_no_key_leave_the_index_and_no_other_does,
           without_a_reconcile_nothing_is_listed_and_check_says_so,
           a_table_that_was_emptied_behind_a_cursors_back_deletes_nothing,
           a_condition_that_suddenly_matches_nothing_meets_the_guard_of_a_cursor,
           deletes_that_are_told_again_do_not_count_twice,
           what_a_permission_was_given_for_is_not_used_up_by_what_is_told_again,
           a_condition_of_the_clock_needs_a_reconcile,
           rows_that_a_policy_hides_are_an_error_and_no_deletes,
           rows_of_a_detached_partition_leave_the_index_although_the_service_was_away_meanwhile,
           rows_of_a_dropped_partition_leave_the_index_beside_rows_that_were_deleted,
           a_partitioned_table_is_followed_and_reconciled)
