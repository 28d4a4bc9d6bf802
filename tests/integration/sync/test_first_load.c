/* SPDX-License-Identifier: Apache-2.0 */
/* The first sync of a table: everything arrives, including concurrent changes. */
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "generations.h"
#include "http.h"
#include "rowferry/base/text.h"
#include "sql.h"
#include "suite.h"
#include "wait.h"
#include "world.h"

START_TEST(first_sync_builds_the_index_and_the_second_sends_nothing)
{
    struct world w;
    struct program_result result;
    world_start(&w, 3000, NULL);
    world_install(&w);
    world_sync(&w, 0, &result);
    ck_assert_int_eq(program_json_int(&result, "operations"), 3000);
    program_result_release(&result);
    world_expect_equal(&w);
    world_sync(&w, 0, &result);
    ck_assert_int_eq(program_json_int(&result, "operations"), 0);
    program_result_release(&result);
    world_stop(&w);
}
END_TEST

START_TEST(an_empty_table_becomes_an_empty_index)
{
    struct world w;
    struct program_result result;
    world_start(&w, 0, NULL);
    world_install(&w);
    world_sync(&w, 0, &result);
    program_result_release(&result);
    world_expect_equal(&w);
    sql_exec(w.conn, "insert into articles (source_id, title) values (1, 'first')");
    world_sync(&w, 0, &result);
    ck_assert_int_eq(program_json_int(&result, "operations"), 1);
    program_result_release(&result);
    world_expect_equal(&w);
    world_stop(&w);
}
END_TEST

/* Updates, 200 deletes and 100 inserts during an initial load of 6,000 rows. The service delays the
 * first rows, which fill the window, so most are unread. */
START_TEST(changes_during_the_first_load_arrive)
{
    struct world w;
    struct program program;
    struct program_result result;
    world_start(&w, 6000, NULL);
    world_configure(&w, WORLD_PROPERTIES, SMALL_WINDOW);
    world_install(&w);
    world_hold_all(&w, "_bulk");
    rowferry_start(&program, w.config, "sync", "--json", NULL);
    world_await_held(&w);
    for (int i = 0; i < 100; i++) {
        sql_exec(w.conn, "update articles set title = 'changed ' || %d where source_id %% 600 = %d",
                 i, i);
        sql_exec(w.conn, "delete from articles where source_id in (%d, %d)", 1000 + i, 5000 + i);
        sql_exec(w.conn, "insert into articles (source_id, title) values (%d, 'new')", 30000 + i);
    }
    world_unfault(&w);
    program_finish(&program, WAIT_MS, &result);
    ck_assert_msg(result.exit_code == 0, "%s", result.err);
    program_result_release(&result);
    world_sync(&w, 0, &result);
    program_result_release(&result);
    world_expect_equal(&w);
    world_stop(&w);
}
END_TEST

static int64_t operations_taken(const struct world *w)
{
    struct json_object *stats =
        reply_json(200, "GET", w->service.url, "/_devsearch/stats", NULL, "ApiKey " WORLD_API_KEY);
    int64_t taken = json_object_get_int64(json_object_object_get(stats, "bulk_operations"));
    json_object_put(stats);
    return taken;
}

START_TEST(an_interrupted_first_load_says_where_it_goes_on)
{
    struct world w;
    struct program program;
    struct program_result result;
    struct deadline deadline = deadline_after(WAIT_MS);
    world_start(&w, 10000, NULL);
    sql_exec(w.conn, "alter table articles set (fillfactor = 10)");
    sql_exec(w.conn, "vacuum full analyze articles");
    world_configure(&w, "\"title\":{\"type\":\"text\"}",
                    "\"batch_operations\": 200, \"in_flight\": 2");
    world_install(&w);
    world_fault(&w, "{\"delay_ms\":1,\"count\":46}");
    world_hold_all(&w, "_bulk");
    rowferry_start(&program, w.config, "sync", NULL);
    while (operations_taken(&w) < 8800) { /* more than the first page of the initial load */
        ck_assert(deadline_wait(&deadline));
    }
    world_await_held(&w);
    program_signal(&program, SIGINT);
    world_unfault(&w);
    program_finish(&program, WAIT_MS, &result);
    ck_assert_msg(strstr(result.out, "articles: stopped after ") != NULL, "%s", result.out);
    ck_assert_ptr_null(strstr(result.err, "event=load_resumed"));
    program_result_release(&result);
    world_sync(&w, 0, &result);
    const char *said = strstr(result.err, "event=load_resumed pipeline=articles share=0.");
    ck_assert_msg(said != NULL, "%s", result.err);
    long left = strtol(strstr(said, "rows_left=") + strlen("rows_left="), NULL, 10);
    ck_assert_msg(left > 1000 && left < 9000, "%ld rows left", left);
    program_result_release(&result);
    world_stop(&w);
}
END_TEST

/* An index is invisible until it is complete. */
START_TEST(the_alias_appears_when_everything_is_there)
{
    struct world w;
    struct program program;
    struct program_result result;
    struct reply reply;
    world_start(&w, 3000, NULL);
    world_install(&w);
    world_hold(&w, "_bulk");
    rowferry_start(&program, w.config, "sync", NULL);
    world_await_held(&w);
    reply_get(&reply, "GET", w.service.url, "/shop-articles/_count", NULL, "ApiKey " WORLD_API_KEY);
    ck_assert_int_eq(reply.status, 404);
    reply_release(&reply);
    world_unfault(&w);
    program_finish(&program, WAIT_MS, &result);
    ck_assert_int_eq(result.exit_code, 0);
    program_result_release(&result);
    world_expect_equal(&w);
    world_stop(&w);
}
END_TEST

START_TEST(a_second_sync_at_the_same_time_says_who_holds_it)
{
    struct world w;
    struct program program;
    struct program_result result;
    world_start(&w, 500, NULL);
    world_install(&w);
    world_hold(&w, "_bulk");
    rowferry_start(&program, w.config, "sync", NULL);
    world_await_held(&w);
    struct program_result second;
    world_sync(&w, 5, &second);
    char pid[32];
    snprintf(pid, sizeof(pid), "%d", (int)program.pid);
    ck_assert_msg(strstr(second.err, pid) != NULL, "%s", second.err);
    program_result_release(&second);
    world_unfault(&w);
    program_finish(&program, WAIT_MS, &result);
    ck_assert_int_eq(result.exit_code, 0);
    program_result_release(&result);
    world_stop(&w);
}
END_TEST

/* Two hosts start at the same minute, each with its own state file. The second one is refused
 * before it creates a generation, and later continues with the first one's. */
START_TEST(of_two_hosts_that_begin_the_first_load_at_once_one_is_let_in)
{
    struct world w;
    struct program program;
    struct program_result result;
    struct generations g;
    world_start(&w, 500, NULL);
    world_install(&w);
    char *other = world_config_of_another(&w);
    world_hold(&w, "_bulk");
    rowferry_start(&program, w.config, "sync", NULL);
    world_await_held(&w);
    rowferry_run(&result, other, "sync", NULL);
    ck_assert_msg(result.exit_code == 5 && strstr(result.err, "first load of articles") != NULL,
                  "%d: %s", result.exit_code, result.err);
    program_result_release(&result);
    world_unfault(&w);
    program_finish(&program, WAIT_MS, &result);
    ck_assert_int_eq(result.exit_code, 0);
    program_result_release(&result);
    generations_list(&w, "shop-articles", &g);
    ck_assert_uint_eq(g.count, 1);
    generations_release(&g);
    rowferry_run(&result, other, "sync", NULL);
    ck_assert_msg(result.exit_code == 0 && strstr(result.err, "mirror_taken_over") != NULL,
                  "%d: %s", result.exit_code, result.err);
    program_result_release(&result);
    world_sync(&w, 0, &result);
    program_result_release(&result);
    world_expect_equal(&w);
    free(other);
    world_stop(&w);
}
END_TEST

static void kill_once_created(const struct world *w)
{
    struct program program;
    struct program_result result;
    const char *argv[] = {getenv("ROWFERRY_PROGRAM"), "-c", w->config, "sync", NULL};
    program_start(&program, argv,
                  (const char *const[]){"ROWFERRY_FAILPOINT=generation_created=kill", NULL});
    program_finish(&program, WAIT_MS, &result);
    ck_assert_msg(result.exit_code == 128 + SIGKILL, "%d: %s", result.exit_code, result.err);
    program_result_release(&result);
    world_await_free(w);
}

static char *only_generation(const struct world *w)
{
    struct generations g;
    generations_list(w, "shop-articles", &g);
    ck_assert_uint_eq(g.count, 1);
    char *name = text_copy(g.names[0]);
    generations_release(&g);
    return name;
}

START_TEST(a_first_load_killed_once_its_index_was_created_goes_on_with_it)
{
    struct world w;
    struct program_result result;
    world_start(&w, 50, NULL);
    world_install(&w);
    kill_once_created(&w);
    char *created = only_generation(&w);
    world_sync(&w, 0, &result);
    program_result_release(&result);
    world_expect_equal(&w);
    generations_expect(&w, 1, NULL, NULL);
    char *live = generations_live(&w, "shop-articles");
    ck_assert_str_eq(live, created);
    free(live);
    free(created);
    world_stop(&w);
}
END_TEST

START_TEST(a_first_load_killed_once_its_index_was_created_removes_it_where_the_mapping_changed)
{
    struct world w;
    struct program_result result;
    world_start(&w, 50, NULL);
    world_install(&w);
    kill_once_created(&w);
    char *created = only_generation(&w);
    world_configure(&w, "\"title\":{\"type\":\"keyword\"}", "");
    world_sync(&w, 0, &result);
    program_result_release(&result);
    ck_assert_int_eq(generations_count(&w, "shop-articles", ""), 50);
    generations_expect(&w, 1, NULL, NULL);
    char *live = generations_live(&w, "shop-articles");
    ck_assert_str_ne(live, created);
    free(live);
    free(created);
    world_stop(&w);
}
END_TEST

/* Another user with another state file chose the same name. */
START_TEST(an_index_of_the_name_that_another_state_file_created_is_left_alone)
{
    struct world w;
    struct program_result result;
    world_start(&w, 50, NULL);
    world_install(&w);
    kill_once_created(&w);
    char *created = only_generation(&w);
    generations_do(&w, "PUT",
                   "{\"_meta\":{\"rowferry\":{\"pipeline\":\"articles\",\"creator\":"
                   "\"00000000000000ff\"}}}",
                   "/%s/_mapping", created);
    world_sync(&w, 0, &result);
    program_result_release(&result);
    world_expect_equal(&w);
    char *live = generations_live(&w, "shop-articles");
    ck_assert_str_ne(live, created);
    generations_do(&w, "GET", NULL, "/%s", created);
    free(live);
    free(created);
    world_stop(&w);
}
END_TEST

#define TEMPLATE "/_index_template/for-the-shop"

static void refused_by_template(struct world *w, const char *command)
{
    struct program_result result;
    rowferry_run(&result, w->config, command, NULL);
    ck_assert_msg(result.exit_code == 1, "%s: %d: %s", command, result.exit_code, result.err);
    ck_assert_msg(
        strstr(result.err, "an index template (\"for-the-shop\") gives the new index \"") != NULL &&
            strstr(result.err, "the alias \"shop-articles\"") != NULL,
        "%s: %s", command, result.err);
    program_result_release(&result);
}

/* Otherwise searches would find a half-filled index, and every document twice during a rebuild. */
START_TEST(an_index_template_that_carries_the_alias_is_refused_by_its_name)
{
    struct world w;
    struct program_result result;
    const char *auth = "ApiKey " WORLD_API_KEY;
    const char *carries = "{\"index_patterns\":[\"shop-*\"],\"template\":{\"aliases\":{"
                          "\"shop-articles\":{}}}}";
    world_start(&w, 100, NULL);
    world_install(&w);
    json_object_put(reply_json(200, "PUT", w.service.url, TEMPLATE, carries, auth));
    refused_by_template(&w, "sync");
    json_object_put(reply_json(404, "GET", w.service.url, "/shop-articles", NULL, auth));
    rowferry_run(&result, w.config, "check", "--all", NULL);
    ck_assert_msg(strstr(result.out, "get the alias \"shop-articles\" by the template "
                                     "\"for-the-shop\"") != NULL,
                  "%s", result.out);
    program_result_release(&result);
    json_object_put(reply_json(200, "DELETE", w.service.url, TEMPLATE, NULL, auth));
    world_sync(&w, 0, &result);
    program_result_release(&result);
    world_expect_equal(&w);
    json_object_put(reply_json(200, "PUT", w.service.url, TEMPLATE, carries, auth));
    refused_by_template(&w, "reindex");
    world_expect_equal(&w);
    json_object_put(reply_json(200, "DELETE", w.service.url, TEMPLATE, NULL, auth));
    rowferry_run(&result, w.config, "reindex", NULL);
    ck_assert_msg(result.exit_code == 0, "%s", result.err);
    program_result_release(&result);
    world_expect_equal(&w);
    world_stop(&w);
}
END_TEST

SUITE_MAIN("integration/first_load",
           an_index_template_that_carries_the_alias_is_refused_by_its_name,
           first_sync_builds_the_index_and_the_second_sends_nothing,
           an_empty_table_becomes_an_empty_index, changes_during_the_first_load_arrive,
           an_interrupted_first_load_says_where_it_goes_on,
           the_alias_appears_when_everything_is_there,
           a_second_sync_at_the_same_time_says_who_holds_it,
           of_two_hosts_that_begin_the_first_load_at_once_one_is_let_in,
           a_first_load_killed_once_its_index_was_created_goes_on_with_it,
           a_first_load_killed_once_its_index_was_created_removes_it_where_the_mapping_changed,
           an_index_of_the_name_that_another_state_file_created_is_left_alone)
