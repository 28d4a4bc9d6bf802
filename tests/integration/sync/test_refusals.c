/* SPDX-License-Identifier: Apache-2.0 */
/* What cannot work says so in one line, with the documented exit code, and changes nothing. */
#include <string.h>

#include "http.h"
#include "sql.h"
#include "suite.h"
#include "world.h"

/* The sync has to fail with the code, and its standard error has to hold the text. */
static void refused(struct world *w, int exit_code, const char *text)
{
    struct program_result result;
    world_sync(w, exit_code, &result);
    ck_assert_msg(strstr(result.err, text) != NULL, "no \"%s\" in:\n%s", text, result.err);
    program_result_release(&result);
}

START_TEST(a_table_without_the_change_log_is_told_to_install_it)
{
    struct world w;
    world_start(&w, 10, NULL);
    refused(&w, 1, "rowferry source install");
    world_stop(&w);
}
END_TEST

START_TEST(a_condition_that_is_no_sql_is_refused_before_an_index_is_made)
{
    struct world w;
    struct reply reply;
    world_start(&w, 10, NULL);
    world_install(&w);
    world_where(&w, "no_such_column > 3");
    refused(&w, 1, "no_such_column");
    reply_get(&reply, "GET", w.service.url, "/_stats", NULL, "ApiKey " WORLD_API_KEY);
    ck_assert_msg(strstr(reply.body, "shop-articles") == NULL, "%s", reply.body);
    reply_release(&reply);
    world_stop(&w);
}
END_TEST

START_TEST(a_missing_table_is_named)
{
    struct world w;
    world_start(&w, 10, NULL);
    sql_exec(w.conn, "alter table articles rename to article");
    refused(&w, 1, "\"public.articles\"");
    world_stop(&w);
}
END_TEST

START_TEST(a_table_without_a_key_is_refused)
{
    struct world w;
    world_start(&w, 10, NULL);
    sql_exec(w.conn, "alter table articles drop constraint articles_pkey");
    refused(&w, 1, "unique");
    world_stop(&w);
}
END_TEST

START_TEST(a_column_that_is_gone_is_named)
{
    struct world w;
    struct program_result result;
    world_start(&w, 10, NULL);
    world_install(&w);
    world_sync(&w, 0, &result);
    program_result_release(&result);
    sql_exec(w.conn, "alter table articles drop column price");
    refused(&w, 1, "\"price\"");
    world_stop(&w);
}
END_TEST

START_TEST(a_column_that_is_not_mapped_may_come_and_go)
{
    struct world w;
    struct program_result result;
    world_start(&w, 10, NULL);
    world_install(&w);
    world_sync(&w, 0, &result);
    program_result_release(&result);
    sql_exec(w.conn, "alter table articles add column internal_note text");
    sql_exec(w.conn, "update articles set title = 'x' where source_id = 3");
    world_sync(&w, 0, &result);
    ck_assert_int_eq(program_json_int(&result, "operations"), 1);
    program_result_release(&result);
    world_stop(&w);
}
END_TEST

START_TEST(a_column_that_is_not_mapped_may_come_while_a_sync_runs)
{
    struct world w;
    struct program program;
    struct program_result result;
    world_start(&w, 20000, NULL);
    world_install(&w);
    world_fault(&w, "{\"delay_ms\":100,\"count\":40}");
    rowferry_start(&program, w.config, "sync", "--json", NULL);
    program_await(&program, "event=sync_started", 30000);
    sql_exec(w.conn, "alter table articles add column internal_note text");
    sql_exec(w.conn, "select pg_terminate_backend(pid) from pg_stat_activity "
                     "where application_name like 'rowferry%%' and datname = current_database()");
    sql_exec(w.conn, "alter table articles add column another_note text");
    program_finish(&program, 60000, &result);
    ck_assert_msg(result.exit_code == 0, "%s", result.err);
    program_result_release(&result);
    world_expect_equal(&w);
    world_stop(&w);
}
END_TEST

START_TEST(rows_that_alter_table_rewrote_are_not_left_old_in_silence)
{
    struct world w;
    struct program_result result;
    world_start(&w, 10, NULL);
    world_install(&w);
    world_sync(&w, 0, &result);
    program_result_release(&result);
    sql_exec(w.conn, "vacuum full articles");
    world_sync(&w, 0, &result);
    ck_assert_int_eq(program_json_int(&result, "operations"), 0);
    program_result_release(&result);
    sql_exec(w.conn, "alter table articles alter column title type text using title || '!'");
    refused(&w, 1, "table \"public\".\"articles\" was rewritten by ALTER TABLE");
    refused(&w, 1, "state file");
    world_stop(&w);
}
END_TEST

START_TEST(a_mapping_that_the_service_refuses_is_quoted)
{
    struct world w;
    world_start(&w, 10, NULL);
    world_install(&w);
    world_configure(&w, "\"title\":{\"type\":\"text\",\"analyzer\":\"no_such_analyzer\"}", "");
    refused(&w, 1, "400");
    world_stop(&w);
}
END_TEST

START_TEST(a_wrong_api_key_is_a_failure_not_an_outage)
{
    struct world w;
    world_start(&w, 10, NULL);
    world_install(&w);
    free(scratch_write(w.dir, "key", "wrong-key-77aa\n"));
    struct program_result result;
    world_sync(&w, 1, &result);
    ck_assert_msg(strstr(result.err, "401") != NULL, "%s", result.err);
    ck_assert_msg(strstr(result.err, "wrong-key-77aa") == NULL, "the key stands in the error");
    program_result_release(&result);
    world_stop(&w);
}
END_TEST

START_TEST(an_index_that_bears_the_alias_name_is_left_alone)
{
    struct world w;
    world_start(&w, 10, NULL);
    world_install(&w);
    struct reply reply;
    reply_get(&reply, "PUT", w.service.url, "/shop-articles", "{}", "ApiKey " WORLD_API_KEY);
    ck_assert_int_eq(reply.status, 200);
    reply_release(&reply);
    refused(&w, 1, "\"shop-articles\" is an index of its own");
    world_stop(&w);
}
END_TEST

START_TEST(a_database_that_is_away_is_temporary)
{
    struct world w;
    world_start(&w, 10, NULL);
    char *uri = w.uri;
    char away[128];
    snprintf(away, sizeof(away), "postgresql://nobody@127.0.0.1:%d/x", free_port());
    w.uri = away;
    world_configure(&w, "\"title\":{\"type\":\"text\"}", "\"retry_budget\": \"300ms\"");
    w.uri = uri;
    refused(&w, 6, "could not connect");
    world_stop(&w);
}
END_TEST

START_TEST(a_service_that_is_away_is_temporary)
{
    struct world w;
    world_start(&w, 10, NULL);
    world_install(&w);
    char url[64];
    snprintf(url, sizeof(url), "%s", w.service.url);
    snprintf(w.service.url, sizeof(w.service.url), "http://127.0.0.1:%d", free_port());
    world_configure(&w, "\"title\":{\"type\":\"text\"}", "\"retry_budget\": \"300ms\"");
    snprintf(w.service.url, sizeof(w.service.url), "%s", url);
    refused(&w, 6, "could not connect");
    world_stop(&w);
}
END_TEST

START_TEST(a_vanished_index_is_an_error_and_not_created_again)
{
    struct world w;
    struct program_result result;
    struct reply reply;
    world_start(&w, 10, NULL);
    world_install(&w);
    world_sync(&w, 0, &result);
    struct json_object *alias = reply_json(200, "GET", w.service.url, "/_alias/shop-articles", NULL,
                                           "ApiKey " WORLD_API_KEY);
    char path[300];
    json_object_object_foreach(alias, name, members)
    {
        (void)members;
        snprintf(path, sizeof(path), "/%s", name);
    }
    json_object_put(alias);
    program_result_release(&result);
    reply_get(&reply, "DELETE", w.service.url, path, NULL, "ApiKey " WORLD_API_KEY);
    ck_assert_int_eq(reply.status, 200);
    reply_release(&reply);
    sql_exec(w.conn, "delete from articles where source_id = 3");
    refused(&w, 1, "shop-articles");
    reply_get(&reply, "GET", w.service.url, path, NULL, "ApiKey " WORLD_API_KEY);
    ck_assert_int_eq(reply.status, 404);
    reply_release(&reply);
    world_stop(&w);
}
END_TEST

START_TEST(a_truncated_table_does_not_empty_the_index)
{
    struct world w;
    struct program_result result;
    world_start(&w, 10, NULL);
    world_install(&w);
    world_sync(&w, 0, &result);
    program_result_release(&result);
    sql_exec(w.conn, "truncate articles");
    refused(&w, 1, "truncated");
    struct json_object *count = reply_json(200, "GET", w.service.url, "/shop-articles/_count", NULL,
                                           "ApiKey " WORLD_API_KEY);
    ck_assert_int_eq(json_object_get_int(json_object_object_get(count, "count")), 10);
    json_object_put(count);
    world_stop(&w);
}
END_TEST

SUITE_MAIN("integration/refusals", a_condition_that_is_no_sql_is_refused_before_an_index_is_made,
           a_table_without_the_change_log_is_told_to_install_it, a_missing_table_is_named,
           a_table_without_a_key_is_refused, a_column_that_is_gone_is_named,
           a_column_that_is_not_mapped_may_come_and_go,
           a_column_that_is_not_mapped_may_come_while_a_sync_runs,
           rows_that_alter_table_rewrote_are_not_left_old_in_silence,
           a_mapping_that_the_service_refuses_is_quoted, a_wrong_api_key_is_a_failure_not_an_outage,
           an_index_that_bears_the_alias_name_is_left_alone, a_database_that_is_away_is_temporary,
           a_service_that_is_away_is_temporary, a_vanished_index_is_an_error_and_not_created_again,
           a_truncated_table_does_not_empty_the_index)
