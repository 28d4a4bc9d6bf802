/* SPDX-License-Identifier: Apache-2.0 */
/* A generation with wrong contents is not swapped in. */
#include "generations.h"
#include "stands.h"

#define ROWS 500

/* Leaves the next generation of a synced world, complete but not checked; the caller frees its
 * name. */
static char *complete(struct world *w, long rows)
{
    synced(w, rows);
    stand_at(w, "rebuild_finished=kill", NULL);
    return generations_next(w, "shop-articles");
}

/* Expects that the swap is refused twice with these numbers, that an abort leaves nothing, and that
 * a new rebuild succeeds. */
static void expect_refused(struct world *w, char *next, const char *numbers)
{
    struct program_result result;
    char *live = generations_live(w, "shop-articles");
    for (int i = 0; i < 2; i++) {
        reindex(w, 1, &result, NULL, NULL);
        expect_text(result.err, "was not swapped in: ");
        expect_text(result.err, next);
        expect_text(result.err, numbers);
        expect_text(result.err, "rowferry reindex --abort articles");
        expect_text(result.out, "articles: not rebuilt\n");
        program_result_release(&result);
        expect_alias(w, live);
        ck_assert_int_eq(index_status(w, next), 200);
    }
    reindex(w, 0, &result, "--abort", NULL);
    expect_text(result.out, next);
    program_result_release(&result);
    ck_assert_int_eq(index_status(w, next), 404);
    generations_expect(w, 1, NULL, NULL);
    expect_alias(w, live);
    world_expect_equal(w);
    reindex(w, 0, &result, NULL, NULL);
    program_result_release(&result);
    generations_expect(w, 2, NULL, NULL);
    world_expect_equal(w);
    free(live);
    free(next);
    world_stop(w);
}

START_TEST(documents_that_are_missing_are_counted_and_refused)
{
    struct world w;
    char *next = complete(&w, ROWS);
    for (int id = 11; id <= 17; id++) {
        generations_do(&w, "DELETE", NULL, "/%s/_doc/%d", next, id);
    }
    expect_refused(&w, next, "of 500 documents 7 are missing, 0 too many, 0 altered");
}
END_TEST

START_TEST(documents_that_are_too_many_are_counted_and_refused)
{
    struct world w;
    char *next = complete(&w, ROWS);
    generations_do(&w, "PUT", "{\"source_id\":\"900\",\"title\":\"too many\"}", "/%s/_doc/900",
                   next);
    generations_do(&w, "PUT", "{\"source_id\":\"901\",\"title\":\"too many\"}", "/%s/_doc/901",
                   next);
    expect_refused(&w, next, "0 are missing, 2 too many, 0 altered");
}
END_TEST

START_TEST(documents_that_are_altered_are_counted_and_refused)
{
    struct world w;
    char *next = complete(&w, ROWS);
    for (int id = 21; id <= 23; id++) {
        generations_do(&w, "PUT", "{\"source_id\":\"21\",\"title\":\"altered\"}", "/%s/_doc/%d",
                       next, id);
    }
    expect_refused(&w, next, "of 500 documents 0 are missing, 0 too many, 3 altered");
}
END_TEST

/* The number of documents is right, but some are wrong. */
START_TEST(one_for_another_is_refused_in_a_table_of_which_a_sample_is_looked_at)
{
    struct world w;
    char body[64];
    char *next = complete(&w, 3000);
    for (int id = 1; id <= 300; id++) {
        generations_do(&w, "DELETE", NULL, "/%s/_doc/%d", next, id * 10);
        snprintf(body, sizeof(body), "{\"source_id\":\"%d\"}", 100000 + id);
        generations_do(&w, "PUT", body, "/%s/_doc/%d", next, 100000 + id);
    }
    expect_refused(&w, next, "of 3000 documents 300 are missing, 300 too many, 0 altered");
}
END_TEST

START_TEST(a_generation_of_which_many_rows_are_dead_letters_is_refused)
{
    struct world w;
    struct program_result result;
    synced(&w, 2000);
    char *live = generations_live(&w, "shop-articles");
    sql_exec(w.conn,
             "update articles set price = 'NaN' where source_id <= 75;"
             "update articles set updated_at = 'infinity' where source_id between 76 and 150");
    reindex(&w, 1, &result, NULL, NULL);
    expect_text(result.err, "150 rows are dead letters, and only 1850 are documents");
    program_result_release(&result);
    expect_alias(&w, live);
    sql_exec(w.conn, "update articles set price = 1, updated_at = now() where source_id <= 150");
    reindex(&w, 0, &result, NULL,
            NULL); /* continues the rebuild: the changed rows are repaired in it too */
    program_result_release(&result);
    world_expect_equal(&w);
    generations_expect(&w, 2, NULL, NULL);
    free(live);
    world_stop(&w);
}
END_TEST

SUITE_MAIN("reindex/wrong_contents", documents_that_are_missing_are_counted_and_refused,
           documents_that_are_too_many_are_counted_and_refused,
           documents_that_are_altered_are_counted_and_refused,
           one_for_another_is_refused_in_a_table_of_which_a_sample_is_looked_at,
           a_generation_of_which_many_rows_are_dead_letters_is_refused)
