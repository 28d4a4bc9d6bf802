/* SPDX-License-Identifier: Apache-2.0 */
/* A rebuild cannot bypass the guard: an index with too many documents missing is not swapped in. */
#include "rebuilds.h"
#include "stands.h"

#define FEWER "it has 401 documents, 599 fewer than the 1000 of the live index \"shop-articles-"
#define HALTED "the guard stopped the pipeline at 599 deletes, so no index is swapped in"

static void delete_many(const struct world *w)
{
    sql_exec(w->conn, "delete from articles where source_id < 600");
}

static int64_t documents(const struct world *w)
{
    json_object_put(reply_json(200, "POST", w->service.url, "/shop-articles/_refresh", NULL, AUTH));
    struct json_object *answer =
        reply_json(200, "GET", w->service.url, "/shop-articles/_count", NULL, AUTH);
    int64_t count = json_object_get_int64(json_object_object_get(answer, "count"));
    json_object_put(answer);
    return count;
}

static void refused(const struct world *w, const char *word, const char *reason)
{
    struct program_result result;
    reindex(w, 1, &result, word, NULL);
    expect_text(result.err, reason);
    expect_text(result.err, "--allow-deletes articles");
    program_result_release(&result);
    ck_assert_int_eq(documents(w), 1000);
}

static void sync_ends(const struct world *w, const char *word, int exit_code, const char *says)
{
    struct program_result result;
    rowferry_run(&result, w->config, "sync", word, NULL);
    ck_assert_msg(result.exit_code == exit_code, "%d: %s%s", result.exit_code, result.out,
                  result.err);
    expect_text(exit_code == 0 ? result.out : result.err, says);
    program_result_release(&result);
}

START_TEST(neither_reindex_nor_rollback_is_a_way_past_a_guard_that_has_stopped_the_pipeline)
{
    struct world w;
    struct program_result result;
    synced(&w, 1000);
    reindex(&w, 0, &result, NULL, NULL);
    program_result_release(&result);
    delete_many(&w);
    sync_ends(&w, NULL, 1, "would delete 599 of 1000 documents");
    refused(&w, "--rollback", HALTED);
    expect_status(&w, "599 deletes, the index has 1,000 documents");
    reindex(&w, 0, &result, "--abort", NULL);
    program_result_release(&result);
    refused(&w, NULL, HALTED);
    expect_live(&w, "-2");
    expect_status(&w, "599 deletes, the index has 1,000 documents");
    sync_ends(&w, "--allow-deletes", 0, "rebuilt as"); /* permitted: the rebuild continues */
    expect_live(&w, "-3");
    world_expect_equal(&w);
    world_stop(&w);
}
END_TEST

START_TEST(deletes_that_the_live_index_has_not_seen_yet_are_not_swapped_in)
{
    struct world w;
    struct program p;
    struct program_result result;
    synced(&w, 1000);
    stand_at(&w, "rebuild_finished=kill", NULL);
    delete_many(&w);
    rowferry_start(&p, w.config, "run", NULL);
    program_await(&p, "event=rebuild_failed pipeline=articles", WAIT_MS);
    expect_live(&w, "-1");
    ck_assert_int_eq(documents(&w), 1000);
    await_status(&w, "working       guard");
    refused(&w, NULL, HALTED);
    program_signal(&p, SIGTERM);
    program_finish(&p, WAIT_MS, &result); /* 1 while it waits, 0 if it is just counting again */
    ck_assert_msg(result.exit_code == 0 || result.exit_code == 1, "%d: %s", result.exit_code,
                  result.out);
    program_result_release(&result);
    sync_ends(&w, "--allow-deletes", 0, "rebuilt as");
    world_expect_equal(&w);
    world_stop(&w);
}
END_TEST

START_TEST(a_condition_that_leaves_out_many_is_swapped_in_when_the_limits_say_so)
{
    struct world w;
    struct program_result result;
    synced(&w, 1000);
    world_where(&w, "source_id >= 600");
    refused(&w, NULL, FEWER);
    expect_live(&w, "-1");
    w.members = "\"delete_guard\": {\"share\": 1}";
    world_where(&w, "source_id >= 600");
    reindex(&w, 0, &result, NULL, NULL);
    program_result_release(&result);
    expect_live(&w, "-2");
    ck_assert_int_eq(documents(&w), 401);
    world_stop(&w);
}
END_TEST

START_TEST(a_condition_that_leaves_out_many_is_swapped_in_when_it_is_said)
{
    struct world w;
    struct program_result result;
    synced(&w, 1000);
    world_where(&w, "source_id >= 600");
    refused(&w, NULL, FEWER);
    reindex(&w, 0, &result, "--allow-deletes", NULL);
    program_result_release(&result);
    expect_live(&w, "-2");
    ck_assert_int_eq(documents(&w), 401);
    reindex(&w, 2, &result, "--abort", "--allow-deletes");
    expect_text(result.err, "option \"--allow-deletes\" does not apply to \"--abort\"");
    program_result_release(&result);
    world_stop(&w);
}
END_TEST

START_TEST(a_run_that_waits_for_a_word_takes_it_with_the_request_for_a_rebuild)
{
    struct world w;
    struct program p;
    struct program_result result;
    synced(&w, 1000);
    delete_many(&w);
    rowferry_start(&p, w.config, "run", NULL);
    await_status(&w, "working       guard");
    refused(&w, NULL, HALTED);
    reindex(&w, 0, &result, "--allow-deletes", NULL);
    program_result_release(&result);
    expect_live(&w, "-2");
    world_expect_equal(&w);
    sql_exec(w.conn, "update articles set title = 'after' where source_id = 700");
    await_title(&w, 700, "after");
    program_signal(&p, SIGTERM);
    finish(&p, 0, &result);
    program_result_release(&result);
    world_stop(&w);
}
END_TEST

START_TEST(a_table_that_was_emptied_is_swapped_in_when_it_is_said)
{
    struct world w;
    struct program_result result;
    synced(&w, 1000);
    sql_exec(w.conn, "truncate articles");
    refused(&w, NULL, "the guard stopped the pipeline");
    reindex(&w, 0, &result, "--allow-deletes", NULL);
    program_result_release(&result);
    expect_live(&w, "-2");
    ck_assert_int_eq(documents(&w), 0);
    sql_exec(w.conn, "insert into articles (source_id, title) values (1, 'again')");
    world_sync(&w, 0, &result);
    program_result_release(&result);
    world_expect_equal(&w);
    world_stop(&w);
}
END_TEST

/* Deleted documents vanish from searches only after a refresh. */
START_TEST(a_sync_that_empties_the_live_index_goes_on_to_the_end_of_the_rebuild)
{
    struct world w;
    synced(&w, 1000);
    sql_exec(w.conn, "truncate articles");
    sync_ends(&w, NULL, 1, "the table was truncated");
    refused(&w, NULL, "the guard stopped the pipeline");
    sync_ends(&w, "--allow-deletes", 0, "rebuilt as");
    expect_live(&w, "-2");
    ck_assert_int_eq(documents(&w), 0);
    world_stop(&w);
}
END_TEST

START_TEST(an_empty_index_is_swapped_in_when_it_is_said)
{
    struct world w;
    struct program_result result;
    synced(&w, 1000);
    w.members = "\"delete_guard\": {\"share\": 1}"; /* not even then */
    world_where(&w, "source_id > 1000");
    refused(&w, NULL, "it has no documents, but the live index \"shop-articles-");
    expect_live(&w, "-1");
    reindex(&w, 0, &result, "--allow-deletes", NULL); /* as in the hint */
    program_result_release(&result);
    expect_live(&w, "-2");
    ck_assert_int_eq(documents(&w), 0);
    world_stop(&w);
}
END_TEST

/* Dead letters are no deletions: no permission for deletions makes an empty index live. */
START_TEST(an_index_whose_rows_are_all_dead_letters_is_never_swapped_in)
{
    struct world w;
    struct program_result result;
    synced(&w, 60);
    world_configure(&w, "\"title\":{\"type\":\"integer\"}", BRIEF);
    rowferry_run(&result, w.config, "reindex", NULL);
    ck_assert_int_eq(result.exit_code, 1);
    expect_text(result.err, "60 rows are dead letters, and only 0 are documents");
    ck_assert_ptr_null(strstr(result.err, "--allow-deletes"));
    program_result_release(&result);
    rowferry_run(&result, w.config, "reindex", "--allow-deletes", NULL);
    ck_assert_int_eq(result.exit_code, 1);
    program_result_release(&result);
    expect_live(&w, "-1");
    ck_assert_int_eq(documents(&w), 60);
    world_stop(&w);
}
END_TEST

START_TEST(fewer_documents_than_the_limits_are_swapped_in)
{
    struct world w;
    struct program_result result;
    synced(&w, 1000);
    world_where(&w, "source_id > 100"); /* the number that delete_guard permits */
    reindex(&w, 0, &result, NULL, NULL);
    program_result_release(&result);
    ck_assert_int_eq(documents(&w), 900);
    world_where(&w, "source_id > 201");
    rowferry_run(&result, w.config, "reindex", NULL);
    ck_assert_int_eq(result.exit_code, 1);
    expect_text(result.err, "799 documents, 101 fewer than the 900");
    program_result_release(&result);
    ck_assert_int_eq(documents(&w), 900);
    world_stop(&w);
}
END_TEST

START_TEST(where_the_live_index_cannot_be_synced_the_limits_permit_it)
{
    struct world w;
    struct program_result result;
    synced(&w, 1000);
    delete_many(&w);
    sync_ends(&w, NULL, 1, "would delete 599 of 1000 documents");
    world_configure(&w, OTHER_PROPERTIES, BRIEF);
    sync_ends(&w, "--allow-deletes", 1, "rowferry reindex");
    refused(&w, NULL, HALTED);
    reindex(&w, 1, &result, NULL, NULL);
    const char *printed = strstr(result.err, "\nrowferry: ");
    ck_assert_msg(printed != NULL && strstr(printed, "rowferry sync") == NULL, "no way out: %s",
                  result.err);
    program_result_release(&result);
    w.members = "\"delete_guard\": {\"share\": 1}";
    world_configure(&w, OTHER_PROPERTIES, BRIEF);
    reindex(&w, 0, &result, NULL, NULL);
    program_result_release(&result);
    world_expect_equal(&w);
    expect_live(&w, "-2");
    world_stop(&w);
}
END_TEST

START_TEST(rows_that_were_put_back_need_no_permission)
{
    struct world w;
    struct program_result result;
    synced(&w, 1000);
    sql_exec(w.conn, "create table kept as select * from articles where source_id < 600");
    delete_many(&w);
    sync_ends(&w, NULL, 1, "would delete 599 of 1000 documents");
    sql_exec(w.conn, "insert into articles select * from kept");
    world_sync(&w, 0, &result); /* this ends the guard stop */
    program_result_release(&result);
    reindex(&w, 0, &result, NULL, NULL);
    program_result_release(&result);
    expect_live(&w, "-2");
    world_expect_equal(&w);
    world_stop(&w);
}
END_TEST

SUITE_MAIN("reindex/guard",
           neither_reindex_nor_rollback_is_a_way_past_a_guard_that_has_stopped_the_pipeline,
           deletes_that_the_live_index_has_not_seen_yet_are_not_swapped_in,
           a_condition_that_leaves_out_many_is_swapped_in_when_the_limits_say_so,
           a_condition_that_leaves_out_many_is_swapped_in_when_it_is_said,
           a_run_that_waits_for_a_word_takes_it_with_the_request_for_a_rebuild,
           a_table_that_was_emptied_is_swapped_in_when_it_is_said,
           a_sync_that_empties_the_live_index_goes_on_to_the_end_of_the_rebuild,
           an_empty_index_is_swapped_in_when_it_is_said,
           where_the_live_index_cannot_be_synced_the_limits_permit_it,
           rows_that_were_put_back_need_no_permission,
           an_index_whose_rows_are_all_dead_letters_is_never_swapped_in,
           fewer_documents_than_the_limits_are_swapped_in)
