/* SPDX-License-Identifier: Apache-2.0 */
/* A rollback restores the dead letters of the former generation. */
#include "rebuilds.h"

#define PRICE_AS_WORD                                                                              \
    "\"title\":{\"type\":\"text\"},\"price\":{\"type\":\"keyword\"},\"tags\":{\"type\":"           \
    "\"keyword\"},\"extra\":{\"type\":\"object\",\"enabled\":false},\"published\":{\"type\":"      \
    "\"boolean\"},\"updated_at\":{\"type\":\"date\"}"

/* Uses prices that no double can hold. */
static void begin(struct world *w)
{
    struct program_result result;
    world_start(w, 500, NULL);
    sql_exec(w->conn, "alter table articles alter price type numeric");
    world_install(w);
    world_sync(w, 0, &result);
    program_result_release(&result);
}

/* Creates five dead letters before sending and six refused by the service. */
static void make_letters(const struct world *w)
{
    sql_exec(w->conn, "update articles set price = 'NaN' where source_id between 1 and 5");
    sql_exec(w->conn, "update articles set price = 1e400 where source_id between 11 and 16");
}

static void expect_letters(const struct world *w, const char *count)
{
    char line[64];
    struct program_result result;
    snprintf(line, sizeof(line), "  dead letters  %s", count);
    expect_status(w, line);
    rowferry_run(&result, w->config, "verify", NULL);
    ck_assert_msg(result.exit_code == 3, "%d: %s%s", result.exit_code, result.out, result.err);
    program_result_release(&result);
}

static void repaired(struct world *w)
{
    struct program_result result;
    sql_exec(w->conn, "update articles set price = 2 where source_id <= 16");
    world_sync(w, 0, &result);
    program_result_release(&result);
    world_expect_equal(w);
}

static void ends_with_letters(const struct world *w, const char *word, const char *says)
{
    struct program_result result;
    reindex(w, 3, &result, word, NULL);
    expect_text(result.out, says);
    program_result_release(&result);
}

START_TEST(letters_that_were_open_when_it_was_replaced_are_open_after_the_way_back)
{
    struct world w;
    struct program_result result;
    begin(&w);
    make_letters(&w);
    world_sync(&w, 3, &result);
    program_result_release(&result);
    ends_with_letters(&w, NULL, "11 dead letters;");
    ends_with_letters(&w, "--rollback", "11 dead letters;");
    expect_live(&w, "-1");
    expect_letters(&w, "11");
    ends_with_letters(&w, "--rollback", "11 dead letters;");
    expect_live(&w, "-2");
    expect_letters(&w, "11");
    repaired(&w);
    world_stop(&w);
}
END_TEST

/* Without a position, the former generation gets a re-snapshot, which deletes nothing by itself. */
START_TEST(rows_deleted_since_do_not_come_back_with_a_generation_that_had_letters)
{
    struct world w;
    struct program_result result;
    begin(&w);
    make_letters(&w);
    world_sync(&w, 3, &result);
    program_result_release(&result);
    ends_with_letters(&w, NULL, "11 dead letters;");
    sql_exec(w.conn, "delete from articles where source_id between 3 and 30");
    ends_with_letters(&w, "--rollback", "2 dead letters;");
    expect_live(&w, "-1");
    expect_letters(&w, "2");
    sql_exec(w.conn, "update articles set price = 2 where source_id <= 2");
    world_sync(&w, 0, &result);
    program_result_release(&result);
    world_expect_equal(&w);
    world_stop(&w);
}
END_TEST

START_TEST(letters_that_came_since_it_was_replaced_are_open_after_the_way_back)
{
    struct world w;
    struct program_result result;
    begin(&w);
    reindex(&w, 0, &result, NULL, NULL);
    program_result_release(&result);
    make_letters(&w);
    world_sync(&w, 3, &result);
    program_result_release(&result);
    ends_with_letters(&w, "--rollback", "11 dead letters;");
    expect_letters(&w, "11");
    repaired(&w);
    world_stop(&w);
}
END_TEST

START_TEST(what_only_the_former_mapping_refuses_is_refused_after_the_way_back)
{
    struct world w;
    struct program_result result;
    begin(&w);
    make_letters(&w);
    world_sync(&w, 3, &result);
    program_result_release(&result);
    world_configure(&w, PRICE_AS_WORD, BRIEF);
    reindex(&w, 0, &result, NULL, NULL); /* a keyword accepts any price */
    program_result_release(&result);
    world_configure(&w, SAME_PROPERTIES, BRIEF);
    ends_with_letters(&w, "--rollback", "11 dead letters;");
    expect_letters(&w, "11");
    repaired(&w);
    world_stop(&w);
}
END_TEST

SUITE_MAIN("reindex/dead_letters",
           letters_that_were_open_when_it_was_replaced_are_open_after_the_way_back,
           rows_deleted_since_do_not_come_back_with_a_generation_that_had_letters,
           letters_that_came_since_it_was_replaced_are_open_after_the_way_back,
           what_only_the_former_mapping_refuses_is_refused_after_the_way_back)
