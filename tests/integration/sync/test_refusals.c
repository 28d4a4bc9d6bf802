/* SPDX-License-Identifier: Apache-2.0 */
/* Configurations that cannot work: one line of error, the documented exit code, and no change. */
#include <string.h>

#include "http.h"
#include "sql.h"
#include "suite.h"
#include "world.h"

/* Expects that the sync fails with the code, and the text on standard error. */
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

START_TEST(check_and_sync_say_the_same_of_a_disabled_trigger)
{
    static const char again[] = "everything is copied again";
    struct world w;
    struct program_result result;
    world_start(&w, 10, NULL);
    world_install(&w);
    world_sync(&w, 0, &result);
    program_result_release(&result);
    sql_exec(w.conn, "alter table articles disable trigger all;"
                     "update articles set title = 'unseen' where source_id = 7");
    rowferry_run(&result, w.config, "check", "--all", "--accept-admin", NULL);
    ck_assert_int_eq(result.exit_code, 4);
    ck_assert_msg(strstr(result.out, again) != NULL, "%s", result.out);
    program_result_release(&result);
    refused(&w, 1, again);
    world_install(&w);
    world_sync(&w, 0, &result);
    program_result_release(&result);
    world_expect_equal(&w);
    world_stop(&w);
}
END_TEST

/* The search path lacks citext's "=", so the condition would compare as text: 0 of 10 rows. */
START_TEST(a_condition_on_citext_is_refused_until_it_says_how_to_compare)
{
    struct world w;
    struct program_result result;
    world_start(&w, 10, NULL);
    sql_exec(w.conn, "create extension citext; alter table articles add mail citext; "
                     "update articles set mail = 'A@b'");
    world_install(&w);
    world_where(&w, "mail = 'a@B'");
    refused(&w, 1,
            "from.where uses the column \"mail\", whose type public.citext would be taken for");
    refused(&w, 1, "\"mail\" operator(public.=) ..");
    rowferry_run(&result, w.config, "check", "--all", "--accept-admin", NULL);
    ck_assert_int_eq(result.exit_code, 4);
    ck_assert_msg(strstr(result.out, "from.where uses the column") != NULL, "%s", result.out);
    program_result_release(&result);
    world_where(&w, "mail operator(public.=) 'a@B'");
    world_sync(&w, 0, &result);
    ck_assert_int_eq(program_json_int(&result, "upserts"), 10);
    program_result_release(&result);
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

/* Expects that the three commands that read a table report the fault, and not that something is
 * missing. */
static void refused_by_all(struct world *w, const char *text)
{
    struct program_result result;
    rowferry_run(&result, w->config, "check", "--all", "--accept-admin", NULL);
    ck_assert_int_eq(result.exit_code, 4);
    ck_assert_msg(strstr(result.out, text) != NULL, "no \"%s\" in:\n%s", text, result.out);
    program_result_release(&result);
    rowferry_run(&result, w->config, "source", "install", NULL);
    ck_assert_int_eq(result.exit_code, 1);
    ck_assert_msg(strstr(result.err, text) != NULL, "no \"%s\" in:\n%s", text, result.err);
    program_result_release(&result);
}

START_TEST(a_view_is_refused_by_check_and_install_in_the_same_words)
{
    static const char said[] =
        "cannot capture the changes of \"public\".\"articles\": it is a view, "
        "and a view has no changes of its own";
    struct world w;
    world_start(&w, 10, NULL);
    sql_exec(w.conn, "alter table articles rename to article; create view articles as select * "
                     "from article");
    refused_by_all(&w, said);
    refused(&w, 1, said);
    world_from(&w, "\"capture\": {\"mode\": \"cursor\", \"column\": \"updated_at\"}");
    refused(&w, 1, said);
    world_stop(&w);
}
END_TEST

START_TEST(an_unlogged_table_is_refused_by_check_and_install_in_the_same_words)
{
    struct world w;
    world_start(&w, 10, NULL);
    sql_exec(w.conn, "alter table articles set unlogged");
    refused_by_all(&w, "cannot capture the changes of \"public\".\"articles\": it is temporary or "
                       "unlogged");
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
    world_start(&w, 6000, NULL);
    world_install(&w);
    world_hold(&w, "_bulk");
    rowferry_start(&program, w.config, "sync", "--json", NULL);
    world_await_held(&w);
    sql_exec(w.conn, "alter table articles add column internal_note text");
    sql_exec(w.conn, "select pg_terminate_backend(pid) from pg_stat_activity "
                     "where application_name like 'rowferry%%' and datname = current_database()");
    sql_exec(w.conn, "alter table articles add column another_note text");
    world_unfault(&w);
    program_finish(&program, WAIT_MS, &result);
    ck_assert_msg(result.exit_code == 0, "%s", result.err);
    program_result_release(&result);
    world_expect_equal(&w);
    world_stop(&w);
}
END_TEST

START_TEST(rows_that_alter_table_rewrote_are_copied_again)
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
    world_sync_says(&w, 0, "event=copied_again");
    rowferry_run(&result, w.config, "status", NULL);
    ck_assert_msg(strstr(result.out, "copied again") != NULL &&
                      strstr(result.out, "was rewritten by ALTER TABLE") != NULL,
                  "%s", result.out);
    program_result_release(&result);
    world_expect_equal(&w);
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

START_TEST(a_semicolon_at_the_end_of_a_condition_is_told)
{
    struct world w;
    world_start(&w, 10, NULL);
    world_install(&w);
    world_where(&w, "source_id > 3;");
    refused(&w, 2, "leave out the \";\"");
    world_stop(&w);
}
END_TEST

/* Regression: it disabled the condition of each page, so sync, verify and resync never ended. */
START_TEST(a_condition_that_closes_more_than_it_opens_is_refused_by_every_command)
{
    static const char *const commands[] = {"check", "sync", "verify"};
    struct world w;
    struct program_result result;
    world_start(&w, 10, NULL);
    world_install(&w);
    world_sync(&w, 0, &result);
    program_result_release(&result);
    static const char *const asked[] = {"resync", "verify"};
    for (size_t i = 0; i < 2; i++) {
        rowferry_run(&result, w.config, asked[i], "--where", "true) or (true", NULL);
        ck_assert_int_eq(result.exit_code, 2);
        ck_assert_ptr_nonnull(strstr(result.err, "option \"--where\": not a complete condition"));
        program_result_release(&result);
    }
    world_where(&w, "true) or (true");
    for (size_t i = 0; i < 3; i++) {
        rowferry_run(&result, w.config, commands[i], NULL);
        ck_assert_msg(result.exit_code == 2, "%s: %d", commands[i], result.exit_code);
        ck_assert_ptr_nonnull(strstr(result.err, "from.where\": not a complete condition"));
        program_result_release(&result);
    }
    world_stop(&w);
}
END_TEST

START_TEST(a_mistyped_type_is_answered_with_the_nearest)
{
    struct world w;
    struct program_result result;
    world_start(&w, 10, NULL);
    world_install(&w);
    world_configure(&w, "\"title\":{\"type\":\"keywrod\"}", "");
    refused(&w, 1, "did you mean \"keyword\"?");
    rowferry_run(&result, w.config, "check", "--all", "--accept-admin", NULL);
    ck_assert_msg(strstr(result.out, "did you mean \"keyword\"?") != NULL, "%s", result.out);
    program_result_release(&result);
    world_stop(&w);
}
END_TEST

START_TEST(a_type_of_the_other_product_is_answered_with_the_one_that_was_meant)
{
    struct world w;
    world_start(&w, 10, NULL);
    world_install(&w);
    world_configure(&w, "\"extra\":{\"type\":\"flattened\"}", "");
    refused(&w, 1, "did you mean \"flat_object\"?");
    world_stop(&w);
}
END_TEST

START_TEST(an_alias_that_points_at_several_indices_is_told)
{
    struct world w;
    struct program_result result;
    struct reply reply;
    world_start(&w, 10, NULL);
    world_install(&w);
    world_sync(&w, 0, &result);
    program_result_release(&result);
    reply_get(&reply, "PUT", w.service.url, "/other", "{\"aliases\":{\"shop-articles\":{}}}",
              "ApiKey " WORLD_API_KEY);
    ck_assert_int_eq(reply.status, 200);
    reply_release(&reply);
    sql_exec(w.conn, "update articles set title = 'x' where source_id = 3");
    refused(&w, 1, " alone, but at several indices");
    refused(&w, 1, "hint: point the alias at one index of the pipeline only, then try again");
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
    refused(&w, 1, "\"shop-articles\" is already the name of an index");
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

SUITE_MAIN("integration/refusals", a_condition_on_citext_is_refused_until_it_says_how_to_compare,
           check_and_sync_say_the_same_of_a_disabled_trigger,
           a_condition_that_is_no_sql_is_refused_before_an_index_is_made,
           a_table_without_the_change_log_is_told_to_install_it, a_missing_table_is_named,
           a_table_without_a_key_is_refused, a_column_that_is_gone_is_named,
           a_column_that_is_not_mapped_may_come_and_go,
           a_column_that_is_not_mapped_may_come_while_a_sync_runs,
           rows_that_alter_table_rewrote_are_copied_again,
           a_mapping_that_the_service_refuses_is_quoted, a_wrong_api_key_is_a_failure_not_an_outage,
           a_semicolon_at_the_end_of_a_condition_is_told,
           a_condition_that_closes_more_than_it_opens_is_refused_by_every_command,
           a_mistyped_type_is_answered_with_the_nearest,
           a_view_is_refused_by_check_and_install_in_the_same_words,
           an_unlogged_table_is_refused_by_check_and_install_in_the_same_words,
           a_type_of_the_other_product_is_answered_with_the_one_that_was_meant,
           an_alias_that_points_at_several_indices_is_told,
           an_index_that_bears_the_alias_name_is_left_alone, a_database_that_is_away_is_temporary,
           a_service_that_is_away_is_temporary, a_vanished_index_is_an_error_and_not_created_again,
           a_truncated_table_does_not_empty_the_index)
