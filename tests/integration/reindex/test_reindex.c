/* SPDX-License-Identifier: Apache-2.0 */
/* reindex while no other process holds the pipeline. */
#include "rebuilds.h"

START_TEST(another_generation_is_swapped_in_and_the_former_one_kept)
{
    struct world w;
    struct program_result result;
    synced(&w, 500);
    char *before = live_index(&w);
    sql_exec(w.conn, "update articles set title = 'changed' where source_id = 7; "
                     "delete from articles where source_id = 9");
    reindex(&w, 0, &result, NULL, NULL);
    expect_text(result.out, "articles: rebuilt as shop-articles-");
    expect_text(result.out, ": 499 documents, 0 dead letters; checked 499 of 499; ");
    expect_text(result.out, before);
    expect_text(result.out, " is kept for --rollback\n");
    program_result_release(&result);
    expect_live(&w, "-2");
    world_expect_equal(&w);
    ck_assert_int_eq(index_status(&w, before), 200);
    reindex(&w, 0, &result, "--json", NULL);
    expect_text(result.out, "\"action\":\"rebuilt\"");
    ck_assert_int_eq(program_json_int(&result, "documents"), 499);
    ck_assert_int_eq(program_json_int(&result, "removed"), 1);
    program_result_release(&result);
    expect_live(&w, "-3");
    ck_assert_int_eq(index_status(&w, before), 404);
    free(before);
    world_stop(&w);
}
END_TEST

START_TEST(a_changed_field_type_is_rebuilt)
{
    struct world w;
    struct program_result result;
    synced(&w, 500);
    world_configure(&w, OTHER_PROPERTIES, BRIEF);
    rowferry_run(&result, w.config, "sync", NULL);
    ck_assert_int_eq(result.exit_code, 1); /* the index has another definition */
    program_result_release(&result);
    reindex(&w, 0, &result, NULL, NULL);
    ck_assert(strstr(result.err, "stands_still") ==
              NULL); /* it is written with its own definition */
    program_result_release(&result);
    expect_live(&w, "-2");
    world_expect_equal(&w);
    world_sync(&w, 0, &result);
    program_result_release(&result);
    world_stop(&w);
}
END_TEST

START_TEST(what_was_never_synced_is_built)
{
    struct world w;
    struct program_result result;
    world_start(&w, 100, NULL);
    world_install(&w);
    reindex(&w, 0, &result, NULL, NULL);
    expect_text(result.out, "articles: rebuilt as shop-articles-");
    program_result_release(&result);
    expect_live(&w, "-1");
    world_expect_equal(&w);
    sql_exec(w.conn, "delete from articles where source_id = 9");
    world_sync(&w, 0, &result);
    ck_assert_int_eq(program_json_int(&result, "deletes"), 1);
    program_result_release(&result);
    world_expect_equal(&w);
    world_stop(&w);
}
END_TEST

START_TEST(the_former_generation_is_brought_up_to_date_and_goes_live_again)
{
    struct world w;
    struct program_result result;
    synced(&w, 500);
    reindex(&w, 0, &result, NULL, NULL);
    program_result_release(&result);
    sql_exec(w.conn, "update articles set title = 'after' where source_id = 7; "
                     "delete from articles where source_id = 9; "
                     "insert into articles (source_id, title) values (900, 'new')");
    reindex(&w, 0, &result, "--rollback", NULL);
    expect_text(result.out, "articles: rolled back to shop-articles-");
    expect_text(result.out, "-2 is kept for --rollback\n");
    program_result_release(&result);
    expect_live(&w, "-1");
    world_expect_equal(&w);
    world_sync(&w, 0, &result);
    program_result_release(&result);
    world_expect_equal(&w);
    world_stop(&w);
}
END_TEST

/* Always the generation that was live last, even while the source keeps the position of an older
 * one. */
START_TEST(status_names_the_generation_that_a_rollback_would_go_back_to)
{
    struct world w;
    struct program_result result;
    synced(&w, 50);
    for (int n = 0; n < 3; n++) {
        char line[320];
        char *before = live_index(&w);
        reindex(&w, 0, &result, NULL, NULL);
        program_result_release(&result);
        snprintf(line, sizeof(line), "  former        %s, live until ", before);
        expect_status(&w, line);
        free(before);
    }
    char *before = live_index(&w);
    char line[320];
    reindex(&w, 0, &result, "--rollback", NULL);
    program_result_release(&result);
    snprintf(line, sizeof(line), "  former        %s, live until ", before);
    expect_status(&w, line);
    snprintf(line, sizeof(line), "/%s", before);
    json_object_put(reply_json(200, "DELETE", w.service.url, line, NULL, AUTH));
    snprintf(line, sizeof(line), "  former        %s, which was deleted\n", before);
    expect_status(&w, line);
    rowferry_run(&result, w.config, "status", "--json", NULL);
    expect_text(result.out, "\"former\":null");
    program_result_release(&result);
    free(before);
    world_stop(&w);
}
END_TEST

START_TEST(a_rollback_without_a_former_generation_is_refused_with_the_reason)
{
    struct world w;
    struct program_result result;
    synced(&w, 50);
    reindex(&w, 1, &result, "--rollback", NULL);
    expect_text(result.err, "no former generation is kept");
    expect_text(result.err, "to build a new index: rowferry reindex articles\n");
    expect_text(result.out, "articles: not rolled back\n");
    program_result_release(&result);
    reindex(&w, 0, &result, "--abort", NULL); /* there was nothing left */
    expect_text(result.out, "articles: no rebuild is under way\n");
    program_result_release(&result);
    world_stop(&w);
}
END_TEST

/* The file keeps the later mapping all the time. */
START_TEST(a_rollback_works_by_the_definition_that_the_former_index_was_built_from)
{
    struct world w;
    struct program_result result;
    synced(&w, 50);
    world_configure(&w, OTHER_PROPERTIES, BRIEF);
    reindex(&w, 0, &result, NULL, NULL);
    program_result_release(&result);
    sql_exec(w.conn, "update articles set title = 'after' where source_id = 7");
    reindex(&w, 0, &result, "--rollback", NULL);
    expect_text(result.out, "articles: the file has another definition now, which is not used "
                            "until rowferry reindex articles\n");
    program_result_release(&result);
    expect_live(&w, "-1");
    sql_exec(w.conn, "delete from articles where source_id = 9");
    world_sync(&w, 0, &result);
    expect_text(result.err, "event=definition_not_used pipeline=articles "
                            "until=\"rowferry reindex articles\"");
    ck_assert_int_eq(program_json_int(&result, "deletes"), 1);
    program_result_release(&result);
    world_expect_equal(&w);
    w.members = "\"on_schema_change\": \"stop\"}, {\"name\": \"second\", \"from\": {\"table\": "
                "\"articles\", \"key\": [\"source_id\"]}, \"to\": {\"index\": \"second\", "
                "\"mappings\": {\"properties\": {\"title\": {\"type\": \"text\"}}}}";
    world_configure(&w, OTHER_PROPERTIES, BRIEF);
    expect_status(&w, "the file's is not used until rowferry reindex articles"); /* in brief */
    w.members = NULL;
    world_configure(&w, OTHER_PROPERTIES, BRIEF);
    expect_status(&w, "the file's is not used until rowferry reindex articles");
    reindex(&w, 0, &result, NULL, NULL);
    program_result_release(&result);
    expect_live(&w, "-3");
    world_expect_equal(&w);
    world_stop(&w);
}
END_TEST

START_TEST(of_what_reindex_may_do_one_thing_is_asked)
{
    struct world w;
    struct program_result result;
    world_start(&w, 5, NULL);
    reindex(&w, 2, &result, "--rollback", "--abort");
    expect_text(result.err, "only one");
    program_result_release(&result);
    world_stop(&w);
}
END_TEST

SUITE_MAIN("reindex/reindex", another_generation_is_swapped_in_and_the_former_one_kept,
           a_changed_field_type_is_rebuilt, what_was_never_synced_is_built,
           the_former_generation_is_brought_up_to_date_and_goes_live_again,
           status_names_the_generation_that_a_rollback_would_go_back_to,
           a_rollback_without_a_former_generation_is_refused_with_the_reason,
           a_rollback_works_by_the_definition_that_the_former_index_was_built_from,
           of_what_reindex_may_do_one_thing_is_asked)
