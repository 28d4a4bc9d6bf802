/* SPDX-License-Identifier: Apache-2.0 */
/* reindex --abort: what it removes and leaves, and an unreachable service. */
#include "generations.h"
#include "stands.h"

static void ends(const struct world *w, int exit_code, const char *word, const char *says)
{
    struct program_result result;
    reindex(w, exit_code, &result, word, NULL);
    expect_text(exit_code == 0 ? result.out : result.err, says);
    program_result_release(&result);
}

/* The former generation has lost documents, so the check refuses it. It stays, because the rollback
 * did not build it. */
START_TEST(a_rollback_that_is_given_up_leaves_the_former_index)
{
    struct world w;
    struct program_result result;
    synced(&w, 500);
    char *former = generations_live(&w, "shop-articles");
    ends(&w, 0, NULL, "rebuilt as");
    stand_at(&w, "rebuild_finished=kill", "--rollback");
    for (int id = 1; id <= 7; id++) {
        generations_do(&w, "DELETE", NULL, "/%s/_doc/%d", former, id);
    }
    expect_status(&w, "rowferry reindex --rollback articles continues it, --abort gives it up");
    rowferry_run(&result, w.config, "check", "--accept-admin", NULL);
    expect_text(result.out, "a rollback that began ");
    expect_text(result.out, "continue it: rowferry reindex --rollback articles; or cancel it");
    program_result_release(&result);
    reindex(&w, 1, &result, "--rollback", NULL);
    expect_text(result.out, "articles: not rolled back\n");
    expect_text(result.err, "7 are missing, 0 too many, 0 altered");
    expect_text(result.err, "rowferry reindex --abort articles cancels the rollback");
    program_result_release(&result);
    ends(&w, 0, "--abort", " stays as it was: not live\n");
    ck_assert_int_eq(index_status(&w, former), 200);
    expect_live(&w, "-2");
    rowferry_run(&result, w.config, "reindex", "--abort", "--json", NULL);
    expect_text(result.out, "\"action\":\"none\"");
    program_result_release(&result);
    ends(&w, 0, NULL, "rebuilt as");
    world_expect_equal(&w);
    free(former);
    world_stop(&w);
}
END_TEST

START_TEST(an_abort_waits_for_a_service_that_is_away)
{
    struct world w;
    synced(&w, 100);
    stand_at(&w, "rebuild_finished=kill", NULL);
    world_fault(&w, "{\"status\":503,\"count\":3,\"path\":\"shop-articles\"}");
    ends(&w, 0, "--abort", " is removed\n");
    generations_expect(&w, 1, NULL, NULL);
    world_stop(&w);
}
END_TEST

START_TEST(an_abort_by_a_run_waits_for_a_service_that_is_away)
{
    struct world w;
    struct program p;
    struct program_result result;
    char fault[400];
    synced(&w, 100);
    stand_at(&w, "rebuild_finished=kill", NULL);
    char *next = generations_next(&w, "shop-articles");
    generations_do(&w, "DELETE", NULL, "/%s/_doc/7", next);
    rowferry_start(&p, w.config, "run", NULL);
    program_await(&p, "event=rebuild_failed pipeline=articles", WAIT_MS);
    snprintf(fault, sizeof(fault), "{\"status\":503,\"count\":3,\"path\":\"%s\"}", next);
    world_fault(&w, fault);
    ends(&w, 0, "--abort", " is removed\n");
    ck_assert_int_eq(index_status(&w, next), 404);
    program_signal(&p, SIGTERM);
    finish(&p, 0, &result);
    program_result_release(&result);
    free(next);
    world_stop(&w);
}
END_TEST

START_TEST(an_interrupt_ends_the_wait_and_the_next_abort_does_it)
{
    struct world w;
    struct program p;
    struct program_result result;
    synced(&w, 100);
    stand_at(&w, "rebuild_finished=kill", NULL);
    world_fault(&w, "{\"status\":503,\"path\":\"shop-articles\"}");
    rowferry_start(&p, w.config, "reindex", "--abort", NULL);
    program_await(&p, "event=away pipeline=articles", WAIT_MS);
    program_signal(&p, SIGINT);
    finish(&p, 6, &result);
    expect_text(result.out, "articles: not aborted\n");
    program_result_release(&result);
    service_is_fast(&w);
    ends(&w, 0, "--abort", " is removed\n");
    generations_expect(&w, 1, NULL, NULL);
    world_stop(&w);
}
END_TEST

SUITE_MAIN("reindex/abort", a_rollback_that_is_given_up_leaves_the_former_index,
           an_abort_waits_for_a_service_that_is_away,
           an_abort_by_a_run_waits_for_a_service_that_is_away,
           an_interrupt_ends_the_wait_and_the_next_abort_does_it)
