/* SPDX-License-Identifier: Apache-2.0 */
/* Temporary failures during the last steps of a rebuild. */
#include "rebuilds.h"

START_TEST(a_swap_whose_answer_was_lost_has_swapped)
{
    struct world w;
    struct program_result result;
    synced(&w, 200);
    world_fault(&w, "{\"close\":\"after\",\"count\":1,\"path\":\"_aliases\"}");
    reindex(&w, 0, &result, NULL, NULL);
    expect_text(result.out, "is kept for --rollback");
    program_result_release(&result);
    expect_live(&w, "-2");
    world_expect_equal(&w);
    sql_exec(w.conn, "update articles set title = 'after' where source_id = 20");
    world_sync(&w, 0, &result);
    program_result_release(&result);
    ck_assert(has_title(&w, 20, "after"));
    world_stop(&w);
}
END_TEST

/* Every request of the last steps fails twice. */
START_TEST(a_service_that_fails_for_a_moment_is_waited_for_in_every_step)
{
    static const char *const paths[] = {"_settings", "_refresh", "_count",       "_cluster",
                                        "_mapping",  "_aliases", "shop-articles"};
    struct world w;
    struct program_result result;
    synced(&w, 100);
    for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
        char fault[96];
        snprintf(fault, sizeof(fault), "{\"status\":503,\"count\":2,\"path\":\"%s\"}", paths[i]);
        printf("%s\n", fault);
        fflush(stdout);
        service_is_fast(&w);
        world_fault(&w, fault);
        reindex(&w, 0, &result, NULL, NULL);
        expect_text(result.out, "articles: rebuilt as ");
        program_result_release(&result);
        world_expect_equal(&w);
    }
    world_stop(&w);
}
END_TEST

/* The rebuild request stays for the next process. */
START_TEST(an_interrupt_ends_the_wait_for_a_service)
{
    struct world w;
    struct program p;
    struct program_result result;
    synced(&w, 100);
    world_fault(&w, "{\"status\":503,\"path\":\"_settings\"}");
    rowferry_start(&p, w.config, "reindex", NULL);
    program_await(&p, "event=away pipeline=articles side=\"source or service\"", WAIT_MS);
    program_signal(&p, SIGINT);
    finish(&p, 0, &result);
    expect_text(result.out, "articles: stopped; rowferry reindex articles continues it");
    program_result_release(&result);
    service_is_fast(&w);
    reindex(&w, 0, &result, NULL, NULL);
    program_result_release(&result);
    world_expect_equal(&w);
    world_stop(&w);
}
END_TEST

SUITE_MAIN("reindex/transient_errors",
           a_service_that_fails_for_a_moment_is_waited_for_in_every_step,
           an_interrupt_ends_the_wait_for_a_service, a_swap_whose_answer_was_lost_has_swapped)
