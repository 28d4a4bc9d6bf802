/* SPDX-License-Identifier: Apache-2.0 */
/* Others change the alias or indices during a rebuild. */
#include "generations.h"
#include "stands.h"

#define ROWS 300
#define OTHERS "{\"settings\":{\"number_of_replicas\":1},\"mappings\":{}}"

struct meanwhile {
    struct world w;
    char *live;
    char *next; /* fully loaded, not yet checked */
};

static void enter(struct meanwhile *m)
{
    synced(&m->w, ROWS);
    m->live = generations_live(&m->w, "shop-articles");
    stand_at(&m->w, "rebuild_copied=kill", NULL);
    m->next = generations_next(&m->w, "shop-articles");
    sql_exec(m->w.conn, "update articles set title = 'meanwhile' where source_id <= 20;"
                        "delete from articles where source_id between 30 and 35");
}

static void leave(struct meanwhile *m)
{
    free(m->live);
    free(m->next);
    world_stop(&m->w);
}

static void refused(struct meanwhile *m, int exit_code, const char *text)
{
    struct program_result result;
    reindex(&m->w, exit_code, &result, NULL, NULL);
    expect_text(result.err, text);
    program_result_release(&result);
}

/* Recovers by a reindex, with an abort before it if abort is true. */
static void expect_well(struct meanwhile *m, bool abort)
{
    struct program_result result;
    if (abort) {
        reindex(&m->w, 0, &result, "--abort", NULL);
        program_result_release(&result);
        generations_expect(&m->w, 1, NULL, NULL);
        expect_alias(&m->w, m->live);
    }
    reindex(&m->w, 0, &result, NULL, NULL);
    program_result_release(&result);
    world_expect_equal(&m->w);
    world_sync(&m->w, 0, &result);
    program_result_release(&result);
    world_expect_equal(&m->w);
}

static void move_alias(const struct world *w, const char *from, const char *to)
{
    char body[768];
    snprintf(body, sizeof(body),
             "{\"actions\":[{\"remove\":{\"index\":\"%s\",\"alias\":\"shop-articles\"}},"
             "{\"add\":{\"index\":\"%s\",\"alias\":\"shop-articles\"}}]}",
             from, to);
    generations_do(w, "POST", body, "/_aliases");
}

static void add_alias(const struct world *w, const char *verb, const char *index)
{
    char body[512];
    snprintf(body, sizeof(body),
             "{\"actions\":[{\"%s\":{\"index\":\"%s\",\"alias\":\"shop-articles\"}}]}", verb,
             index);
    generations_do(w, "POST", body, "/_aliases");
}

static void make_other(const struct world *w)
{
    generations_do(w, "PUT", OTHERS, "/other");
    generations_do(w, "PUT", "{\"a\":1}", "/other/_doc/1?refresh=true");
}

START_TEST(an_alias_that_was_moved_to_another_ones_index_stays_there)
{
    for (int abort = 0; abort < 2; abort++) {
        struct meanwhile m;
        enter(&m);
        make_other(&m.w);
        move_alias(&m.w, m.live, "other");
        refused(&m, 1, "points at index \"other\", which pipeline \"articles\" did not build");
        expect_alias(&m.w, "other");
        ck_assert_int_eq(index_status(&m.w, m.live), 200);
        ck_assert_int_eq(index_status(&m.w, m.next), 200);
        move_alias(&m.w, "other", m.live);
        expect_well(&m, abort == 1);
        ck_assert_int_eq(generations_count(&m.w, "other", ""), 1);
        leave(&m);
    }
}
END_TEST

START_TEST(an_alias_that_is_moved_between_look_and_swap_stays_there)
{
    struct meanwhile m;
    struct program program;
    struct program_result result;
    enter(&m);
    make_other(&m.w);
    world_hold(&m.w, "/_aliases");
    rowferry_start(&program, m.w.config, "reindex", NULL);
    world_await_held(&m.w);
    move_alias(&m.w, m.live, "other");
    world_unfault(&m.w);
    finish(&program, 1, &result);
    expect_text(result.err, "shop-articles");
    program_result_release(&result);
    expect_alias(&m.w, "other");
    refused(&m, 1, "points at index \"other\"");
    ck_assert_int_eq(index_status(&m.w, m.live), 200);
    move_alias(&m.w, "other", m.live);
    expect_well(&m, false);
    leave(&m);
}
END_TEST

START_TEST(an_alias_of_two_indices_is_named_and_left_alone)
{
    struct meanwhile m;
    enter(&m);
    make_other(&m.w);
    add_alias(&m.w, "add", "other");
    refused(&m, 1, "alias \"shop-articles\" points at several indices");
    ck_assert_int_eq(index_status(&m.w, m.live), 200);
    ck_assert_int_eq(index_status(&m.w, m.next), 200);
    ck_assert_int_eq(index_status(&m.w, "other"), 200);
    add_alias(&m.w, "remove", "other");
    expect_well(&m, true);
    leave(&m);
}
END_TEST

/* The alias was moved by hand instead of a swap. The index is live, and gets the settings of a live
 * one. */
START_TEST(a_next_generation_that_somebody_else_put_behind_the_alias_is_made_whole)
{
    for (int word = 0; word < 3; word++) {
        struct meanwhile m;
        struct program_result result;
        enter(&m);
        move_alias(&m.w, m.live, m.next);
        if (word == 0) {
            world_sync(&m.w, 0, &result);
        } else {
            reindex(&m.w, 0, &result, word == 1 ? "--abort" : NULL, NULL);
        }
        program_result_release(&result);
        expect_alias(&m.w, m.next);
        world_sync(&m.w, 0, &result);
        program_result_release(&result);
        world_expect_equal(&m.w);
        generations_expect(&m.w, 2, NULL, NULL);
        leave(&m);
    }
}
END_TEST

START_TEST(a_next_generation_that_was_deleted_is_built_anew)
{
    for (int abort = 0; abort < 2; abort++) {
        struct meanwhile m;
        enter(&m);
        generations_do(&m.w, "DELETE", NULL, "/%s", m.next);
        expect_well(&m, abort == 1);
        generations_expect(&m.w, 2, NULL, NULL);
        leave(&m);
    }
}
END_TEST

START_TEST(in_place_of_a_next_generation_of_another_maker_another_one_is_built)
{
    struct meanwhile m;
    enter(&m);
    generations_do(&m.w, "DELETE", NULL, "/%s", m.next);
    generations_do(&m.w, "PUT", OTHERS, "/%s", m.next);
    generations_do(&m.w, "PUT", "{\"a\":1}", "/%s/_doc/1?refresh=true", m.next);
    expect_well(&m, false);
    ck_assert_int_eq(generations_count(&m.w, m.next, ""), 1);
    leave(&m);
}
END_TEST

START_TEST(a_live_generation_that_was_deleted_is_replaced_by_the_next)
{
    struct meanwhile m;
    struct program_result result;
    enter(&m);
    generations_do(&m.w, "DELETE", NULL, "/%s", m.live);
    reindex(&m.w, 0, &result, NULL, NULL);
    program_result_release(&result);
    expect_alias(&m.w, m.next);
    world_expect_equal(&m.w);
    generations_expect(&m.w, 1, NULL, NULL);
    leave(&m);
}
END_TEST

START_TEST(a_next_generation_that_takes_no_writes_is_named)
{
    for (int abort = 0; abort < 2; abort++) {
        struct meanwhile m;
        enter(&m);
        generations_do(&m.w, "PUT", "{\"index\":{\"blocks\":{\"write\":true}}}", "/%s/_settings",
                       m.next);
        refused(&m, 6, m.next);
        expect_alias(&m.w, m.live);
        if (abort == 0) {
            generations_do(&m.w, "PUT", "{\"index\":{\"blocks\":{\"write\":null}}}",
                           "/%s/_settings", m.next);
        }
        expect_well(&m, abort == 1);
        generations_expect(&m.w, 2, NULL, NULL);
        leave(&m);
    }
}
END_TEST

START_TEST(a_next_generation_that_is_closed_is_named)
{
    for (int abort = 0; abort < 2; abort++) {
        struct meanwhile m;
        enter(&m);
        generations_do(&m.w, "POST", NULL, "/%s/_close", m.next);
        refused(&m, 1, m.next);
        expect_alias(&m.w, m.live);
        if (abort == 0) {
            generations_do(&m.w, "POST", NULL, "/%s/_open", m.next);
        }
        expect_well(&m, abort == 1);
        generations_expect(&m.w, 2, NULL, NULL);
        leave(&m);
    }
}
END_TEST

/* The highest numbers alone would select another generation. */
START_TEST(after_a_way_back_what_was_live_last_is_kept)
{
    struct meanwhile m;
    struct program_result result;
    enter(&m);
    expect_well(&m, false);
    reindex(&m.w, 0, &result, "--rollback", NULL);
    program_result_release(&result);
    expect_alias(&m.w, m.live);
    reindex(&m.w, 0, &result, NULL, NULL);
    expect_text(result.out, m.live);
    expect_text(result.out, " is kept for --rollback");
    program_result_release(&result);
    ck_assert_int_eq(index_status(&m.w, m.live), 200);
    ck_assert_int_eq(index_status(&m.w, m.next), 404);
    generations_expect(&m.w, 2, NULL, NULL);
    reindex(&m.w, 0, &result, "--rollback", NULL);
    program_result_release(&result);
    expect_alias(&m.w, m.live);
    world_expect_equal(&m.w);
    leave(&m);
}
END_TEST

START_TEST(an_abort_after_the_swap_does_not_take_away_what_is_searched)
{
    struct meanwhile m;
    struct program_result result;
    enter(&m);
    stand_at(&m.w, "alias_swapped=kill", NULL);
    reindex(&m.w, 0, &result, "--abort", NULL);
    expect_text(result.out, "articles: no rebuild is under way\n");
    program_result_release(&result);
    expect_alias(&m.w, m.next);
    world_expect_equal(&m.w);
    generations_expect(&m.w, 2, NULL, NULL);
    leave(&m);
}
END_TEST

/* The live index cannot be updated; the next generation has the missing changes. */
START_TEST(a_live_generation_that_takes_no_writes_is_replaced_by_the_next)
{
    struct meanwhile m;
    struct program_result result;
    enter(&m);
    generations_do(&m.w, "PUT", "{\"index\":{\"blocks\":{\"write\":true}}}", "/%s/_settings",
                   m.live);
    reindex(&m.w, 0, &result, NULL, NULL);
    program_result_release(&result);
    expect_alias(&m.w, m.next);
    world_expect_equal(&m.w);
    reindex(&m.w, 1, &result, "--rollback", NULL);
    expect_text(result.err, "it is write-blocked");
    program_result_release(&result);
    expect_alias(&m.w, m.next);
    generations_do(&m.w, "PUT", "{\"index\":{\"blocks\":{\"write\":null}}}", "/%s/_settings",
                   m.live);
    reindex(&m.w, 0, &result, "--rollback", NULL);
    program_result_release(&result);
    expect_alias(&m.w, m.live);
    world_expect_equal(&m.w);
    leave(&m);
}
END_TEST

SUITE_MAIN("reindex/concurrent_changes", an_alias_that_was_moved_to_another_ones_index_stays_there,
           an_alias_that_is_moved_between_look_and_swap_stays_there,
           an_alias_of_two_indices_is_named_and_left_alone,
           a_next_generation_that_somebody_else_put_behind_the_alias_is_made_whole,
           a_next_generation_that_was_deleted_is_built_anew,
           in_place_of_a_next_generation_of_another_maker_another_one_is_built,
           a_live_generation_that_was_deleted_is_replaced_by_the_next,
           a_next_generation_that_takes_no_writes_is_named,
           a_next_generation_that_is_closed_is_named,
           a_live_generation_that_takes_no_writes_is_replaced_by_the_next,
           after_a_way_back_what_was_live_last_is_kept,
           an_abort_after_the_swap_does_not_take_away_what_is_searched)
