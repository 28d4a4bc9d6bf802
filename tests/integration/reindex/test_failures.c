/* SPDX-License-Identifier: Apache-2.0 */
/* Accidents to table, state file and indices during a rebuild, and the way out of each. */
#include "generations.h"
#include "stands.h"

static void ends(const struct world *w, int exit_code, const char *word, const char *says)
{
    struct program_result result;
    reindex(w, exit_code, &result, word, NULL);
    expect_text(exit_code == 0 ? result.out : result.err, says);
    program_result_release(&result);
}

START_TEST(a_table_made_anew_under_a_rebuild_is_built_from_the_beginning)
{
    struct world w;
    struct program_result result;
    synced(&w, 300);
    stand_at(&w, "rebuild_copied=kill", NULL);
    sql_exec(w.conn, "create table kept (like articles including all);"
                     "insert into kept select * from articles where source_id <> 7;"
                     "drop table articles; alter table kept rename to articles");
    world_install(&w);
    rowferry_run(&result, w.config, "sync", NULL); /* continues the rebuild */
    ck_assert_msg(result.exit_code == 0, "%d: %s%s", result.exit_code, result.out, result.err);
    expect_text(result.err, "event=rebuild_begins_again pipeline=articles");
    program_result_release(&result);
    world_expect_equal(&w);
    generations_expect(&w, 2, NULL, NULL);
    world_stop(&w);
}
END_TEST

START_TEST(a_return_that_the_table_left_behind_names_the_way_out)
{
    struct world w;
    struct program_result result;
    synced(&w, 300);
    ends(&w, 0, NULL, "rebuilt as");
    stand_at(&w, "rebuild_copied=kill", "--rollback");
    sql_exec(w.conn, "create table kept (like articles including all);"
                     "insert into kept select * from articles;"
                     "drop table articles; alter table kept rename to articles");
    world_install(&w);
    ends(&w, 1, "--rollback", "rowferry reindex --abort articles, then rowferry reindex articles");
    ends(&w, 0, "--abort", "stays as it was: not live");
    reindex(&w, 0, &result, NULL, NULL);
    program_result_release(&result);
    world_expect_equal(&w);
    world_stop(&w);
}
END_TEST

START_TEST(what_is_said_to_be_kept_is_kept_also_after_the_state_file_is_lost)
{
    struct world w;
    char path[512];
    struct program_result result;
    synced(&w, 200);
    ends(&w, 0, NULL, "rebuilt as");
    char *live = generations_live(&w, "shop-articles");
    snprintf(path, sizeof(path), "rm %s/state.db*", w.dir);
    ck_assert_int_eq(system(path), 0);
    reindex(&w, 0, &result, NULL, NULL);
    snprintf(path, sizeof(path), "; %s is kept for --rollback", live);
    expect_text(result.out, path);
    program_result_release(&result);
    ck_assert_int_eq(index_status(&w, live), 200);
    generations_expect(&w, 2, NULL, NULL);
    sql_exec(w.conn, "delete from articles where source_id = 7");
    reindex(&w, 0, &result, "--rollback", NULL);
    expect_text(result.out, live);
    program_result_release(&result);
    expect_alias(&w, live);
    world_expect_equal(&w);
    free(live);
    world_stop(&w);
}
END_TEST

START_TEST(an_index_that_was_closed_says_how_it_is_opened)
{
    struct world w;
    char open[300];
    struct program_result result;
    synced(&w, 200);
    stand_at(&w, "rebuild_finished=kill", NULL);
    char *next = generations_next(&w, "shop-articles");
    generations_do(&w, "POST", NULL, "/%s/_close", next);
    ends(&w, 1, NULL, "the index is closed: POST /");
    expect_live(&w, "-1");
    snprintf(open, sizeof(open), "/%s/_open", next);
    json_object_put(reply_json(200, "POST", w.service.url, open, NULL, AUTH));
    reindex(&w, 0, &result, NULL, NULL);
    program_result_release(&result);
    world_expect_equal(&w);
    free(next);
    world_stop(&w);
}
END_TEST

START_TEST(a_generation_that_was_deleted_is_built_again)
{
    struct world w;
    synced(&w, 200);
    stand_at(&w, "rebuild_finished=kill", NULL);
    char *next = generations_next(&w, "shop-articles");
    generations_do(&w, "DELETE", NULL, "/%s", next);
    ends(&w, 0, NULL, "rebuilt as");
    generations_expect(&w, 2, NULL, NULL);
    world_expect_equal(&w);
    free(next);
    world_stop(&w);
}
END_TEST

START_TEST(the_state_of_the_live_index_is_not_that_of_a_refused_request)
{
    struct world w;
    world_start(&w, 100, NULL);
    world_install(&w);
    stand_at(&w, "rebuild_copied=kill", NULL);
    ends(&w, 0, "--abort", " is removed");
    expect_status(&w, "never synced");
    struct program_result result;
    world_sync(&w, 0, &result);
    program_result_release(&result);
    ends(&w, 1, "--rollback", "no former generation is kept");
    rowferry_run(&result, w.config, "status", NULL);
    ck_assert_msg(strstr(result.out, "the last run failed") == NULL, "%s", result.out);
    expect_text(result.out, "equal");
    program_result_release(&result);
    world_stop(&w);
}
END_TEST

START_TEST(the_answer_of_one_that_was_refused_says_how_far_it_was)
{
    struct world w;
    struct program p;
    struct program_result result;
    synced(&w, 2000);
    sql_exec(w.conn, "update articles set price = 'NaN' where source_id <= 75;"
                     "update articles set updated_at = 'infinity' where source_id between 76 and "
                     "150");
    for (int asked = 0; asked < 2; asked++) {
        if (asked == 1) {
            rowferry_start(&p, w.config, "run", NULL);
            program_await(&p, "event=rebuild_failed", WAIT_MS);
        }
        reindex(&w, 1, &result, "--json", NULL);
        expect_text(result.out, "\"action\":\"none\",\"generation\":\"shop-articles-");
        expect_text(result.out, "\"former\":null");
        expect_text(result.out, "\"documents\":1850");
        expect_text(result.out, "\"dead_letters\":150");
        program_result_release(&result);
    }
    program_signal(&p, SIGTERM);
    finish(&p, 0, &result);
    program_result_release(&result);
    expect_live(&w, "-1");
    world_stop(&w);
}
END_TEST

SUITE_MAIN("reindex/failures", a_table_made_anew_under_a_rebuild_is_built_from_the_beginning,
           a_return_that_the_table_left_behind_names_the_way_out,
           what_is_said_to_be_kept_is_kept_also_after_the_state_file_is_lost,
           an_index_that_was_closed_says_how_it_is_opened,
           a_generation_that_was_deleted_is_built_again,
           the_state_of_the_live_index_is_not_that_of_a_refused_request,
           the_answer_of_one_that_was_refused_says_how_far_it_was)
