/* SPDX-License-Identifier: Apache-2.0 */
/* A refused swap, and an index that must be adopted first. */
#include "generations.h"
#include "rebuilds.h"

/* Kills it between load and check, then deletes 40 documents from the new index. */
static void filled_wrongly(struct world *w)
{
    struct program_result result;
    synced(w, 500);
    setenv("ROWFERRY_FAILPOINT", "rebuild_copied=kill", 1);
    reindex(w, 137, &result, NULL, NULL);
    unsetenv("ROWFERRY_FAILPOINT");
    program_result_release(&result);
    char *next = generations_next(w, "shop-articles");
    for (int id = 1; id <= 40; id++) {
        char path[320];
        snprintf(path, sizeof(path), "/%s/_doc/%d", next, id);
        json_object_put(reply_json(200, "DELETE", w->service.url, path, NULL, AUTH));
    }
    free(next);
}

START_TEST(a_generation_that_was_filled_wrongly_is_not_swapped_in)
{
    struct world w;
    struct program_result result;
    filled_wrongly(&w);
    reindex(&w, 1, &result, NULL, NULL);
    expect_text(result.err, "was not swapped in: of 500 documents 40 are missing, 0 too many");
    expect_text(result.out, "articles: not rebuilt\n");
    program_result_release(&result);
    expect_live(&w, "-1");
    world_expect_equal(&w);
    expect_status(&w, "  rebuild       is at 500 operations: index \"shop-articles-");
    sql_exec(w.conn, "update articles set title = 'after' where source_id = 20");
    rowferry_run(&result, w.config, "sync", NULL); /* the live index is still updated */
    ck_assert_int_eq(result.exit_code, 1);
    expect_text(result.out, "articles: not rebuilt\n");
    program_result_release(&result);
    rowferry_run(&result, w.config, "sync", "--json", NULL);
    const char *rebuilt = strstr(result.out, "\"action\":\"none\"");
    ck_assert_ptr_nonnull(rebuilt);
    expect_text(rebuilt, "\"error\":\"index \\\"shop-articles-");
    program_result_release(&result);
    ck_assert(has_title(&w, 20, "after"));
    reindex(&w, 0, &result, "--abort", NULL);
    program_result_release(&result);
    reindex(&w, 0, &result, NULL, NULL);
    program_result_release(&result);
    world_expect_equal(&w);
    world_stop(&w);
}
END_TEST

START_TEST(a_run_goes_on_with_the_live_index_where_the_swap_is_refused)
{
    struct world w;
    struct program p;
    struct program_result result;
    filled_wrongly(&w);
    rowferry_start(&p, w.config, "run", NULL);
    program_await(&p, "event=rebuild_failed pipeline=articles", WAIT_MS);
    await_status(&w, "  rebuild       is at 500 operations: index \"shop-articles-");
    sql_exec(w.conn, "update articles set title = 'after' where source_id = 200");
    await_title(&w, 200, "after");
    expect_live(&w, "-1");
    reindex(&w, 1, &result, NULL, NULL); /* retries on request */
    expect_text(result.err, "40 are missing");
    program_result_release(&result);
    reindex(&w, 0, &result, "--abort", NULL);
    program_result_release(&result);
    reindex(&w, 0, &result, NULL, NULL);
    program_result_release(&result);
    world_expect_equal(&w);
    program_signal(&p, SIGTERM);
    finish(&p, 0, &result);
    program_result_release(&result);
    world_stop(&w);
}
END_TEST

START_TEST(an_index_that_bears_the_name_is_adopted_only_when_it_is_said)
{
    struct world w;
    struct program_result result;
    world_start(&w, 100, NULL);
    world_install(&w);
    json_object_put(
        reply_json(201, "PUT", w.service.url, "/shop-articles/_doc/old", "{\"a\":1}", AUTH));
    reindex(&w, 1, &result, NULL, NULL);
    expect_text(result.err, "--adopt");
    program_result_release(&result);
    ck_assert_int_eq(index_status(&w, "shop-articles"), 200);
    reindex(&w, 0, &result, "--adopt", NULL);
    expect_text(result.out, "; the previous index is kept as shop-articles-before-rowferry\n");
    program_result_release(&result);
    expect_live(&w, "-1");
    world_expect_equal(&w);
    struct json_object *old = reply_json(200, "GET", w.service.url,
                                         "/shop-articles-before-rowferry/_doc/old", NULL, AUTH);
    json_object_put(old);
    world_sync(&w, 0, &result);
    program_result_release(&result);
    world_stop(&w);
}
END_TEST

static void old_index_takes(const struct world *w, int status, const char *id)
{
    char path[96];
    snprintf(path, sizeof(path), "/shop-articles/_doc/%s", id);
    json_object_put(reply_json(status, "PUT", w->service.url, path, "{\"a\":1}", AUTH));
}

static void adopt_killed_at(const struct world *w, const char *point)
{
    struct program_result result;
    setenv("ROWFERRY_FAILPOINT", point, 1);
    reindex(w, 137, &result, "--adopt", NULL);
    unsetenv("ROWFERRY_FAILPOINT");
    program_result_release(&result);
    old_index_takes(w, 403, "meanwhile");
}

START_TEST(an_adoption_that_was_killed_is_taken_back_by_an_abort)
{
    static const char *const points[] = {"index_blocked=kill", "index_cloned=kill"};
    struct world w;
    struct program_result result;
    world_start(&w, 100, NULL);
    world_install(&w);
    old_index_takes(&w, 201, "old");
    for (size_t i = 0; i < 2; i++) {
        adopt_killed_at(&w, points[i]);
        ck_assert_int_eq(index_status(&w, "shop-articles-before-rowferry"), i == 0 ? 404 : 200);
        reindex(&w, 0, &result, "--abort", NULL);
        program_result_release(&result);
        old_index_takes(&w, 201, points[i]);
        ck_assert_int_eq(index_status(&w, "shop-articles-before-rowferry"), 404);
    }
    adopt_killed_at(&w, points[1]);
    reindex(&w, 0, &result, "--adopt", NULL); /* its own block does not matter */
    program_result_release(&result);
    world_expect_equal(&w);
    json_object_put(reply_json(200, "GET", w.service.url, "/shop-articles-before-rowferry/_doc/old",
                               NULL, AUTH));
    world_stop(&w);
}
END_TEST

START_TEST(an_index_that_somebody_has_blocked_is_not_adopted)
{
    struct world w;
    struct program_result result;
    world_start(&w, 100, NULL);
    world_install(&w);
    old_index_takes(&w, 201, "old");
    json_object_put(reply_json(200, "PUT", w.service.url, "/shop-articles/_settings",
                               "{\"index.blocks.write\":true}", AUTH));
    reindex(&w, 1, &result, "--adopt", NULL);
    expect_text(result.err, "cannot adopt index \"shop-articles\": it is write-blocked");
    program_result_release(&result);
    reindex(&w, 0, &result, "--abort", NULL);
    program_result_release(&result);
    old_index_takes(&w, 403, "still");
    world_stop(&w);
}
END_TEST

/* Regression: it retried every five seconds and never reported the reason. */
START_TEST(a_first_load_that_cannot_read_a_row_ends_a_reindex_with_the_reason)
{
    struct world w;
    struct program_result result;
    const char *why = "invalid input syntax for type integer: \"bad\"";
    world_start(&w, 50, NULL);
    sql_exec(w.conn, "update articles set title = source_id; "
                     "update articles set title = 'bad' where source_id = 30");
    world_where(&w, "title::integer > 1");
    world_install(&w);
    world_sync(&w, 1, &result);
    expect_text(result.err, why);
    program_result_release(&result);
    reindex(&w, 1, &result, NULL, NULL);
    expect_text(result.err, why);
    program_result_release(&result);
    sql_exec(w.conn, "update articles set title = '30' where source_id = 30");
    reindex(&w, 0, &result, NULL, NULL);
    program_result_release(&result);
    world_stop(&w);
}
END_TEST

START_TEST(a_reindex_that_is_refused_at_once_leaves_no_rebuild)
{
    struct world w;
    struct program_result result;
    synced(&w, 10);
    w.strict = true;
    world_configure(&w, WORLD_PROPERTIES, "");
    reindex(&w, 1, &result, NULL, NULL);
    expect_text(result.err, "is a superuser");
    program_result_release(&result);
    rowferry_run(&result, w.config, "status", NULL);
    ck_assert_ptr_null(strstr(result.out, "  rebuild  "));
    program_result_release(&result);
    world_stop(&w);
}
END_TEST

SUITE_MAIN("reindex/refused", a_reindex_that_is_refused_at_once_leaves_no_rebuild,
           a_first_load_that_cannot_read_a_row_ends_a_reindex_with_the_reason,
           a_generation_that_was_filled_wrongly_is_not_swapped_in,
           a_run_goes_on_with_the_live_index_where_the_swap_is_refused,
           an_index_that_bears_the_name_is_adopted_only_when_it_is_said,
           an_adoption_that_was_killed_is_taken_back_by_an_abort,
           an_index_that_somebody_has_blocked_is_not_adopted)
