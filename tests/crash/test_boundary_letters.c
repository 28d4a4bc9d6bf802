/* SPDX-License-Identifier: Apache-2.0 */
/* kill -9, torn write and full disk at each system call of a sync that leaves dead letters, and of
 * their retry. */
#include "boundaries.h"
#include "generations.h"
#include "sql.h"

/* Rows that the service refuses, and rows that the program itself refuses. */
#define ODD "title = 'words' or price = 'NaN'"

static void begin_numbers(struct stage *s)
{
    world_configure(&s->w,
                    "\"title\":{\"type\":\"long\"},\"price\":{\"type\":\"double\"},\"tags\":{"
                    "\"type\":\"keyword\"},\"extra\":{\"type\":\"object\",\"enabled\":false},"
                    "\"published\":{\"type\":\"boolean\"},\"updated_at\":{\"type\":\"date\"}",
                    STAGE_LIMITS);
    sql_exec(s->w.conn, "update articles set title = source_id");
    stage_sync(s, 0);
}

static void make_odd(struct stage *s)
{
    int n = ++s->n;
    sql_exec(s->w.conn,
             "update articles set title = %d where source_id %% 5 = %d;"
             "update articles set title = 'words' where source_id %% 20 = %d;"
             "update articles set price = 'NaN' where source_id %% 20 = %d;"
             "delete from articles where source_id = (select max(source_id) from articles);"
             "insert into articles (source_id, title) values (nextval('fresh'), '7')",
             n, n % 5, n % 20, (n + 1) % 20);
}

static void mend_odd(struct stage *s)
{
    sql_exec(s->w.conn, "update articles set title = 1, price = 2 where " ODD);
}

static void expect_letters(struct stage *s, int exit_code)
{
    struct program_result result;
    world_sync(&s->w, exit_code, &result);
    ck_assert_int_eq(program_json_int(&result, "dead_letters"),
                     sql_int(s->w.conn, "select count(*) from articles where " ODD));
    program_result_release(&result);
}

static void mended_is_equal(struct stage *s)
{
    expect_letters(s, 3);
    mend_odd(s);
    expect_letters(s, 0);
    world_expect_equal(&s->w);
    generations_expect(&s->w, 1, NULL, NULL);
}

static const struct workload letters = {.name = "dead letters",
                                        .words = {"sync"},
                                        .exit_code = 3,
                                        .begin = begin_numbers,
                                        .prepare = make_odd,
                                        .recover = mended_is_equal};

START_TEST(a_sync_with_dead_letters_broken_at_any_call_goes_on)
{
    boundaries_test_all(&letters);
}
END_TEST

static void make_letters_and_mend(struct stage *s)
{
    make_odd(s);
    expect_letters(s, 3);
    mend_odd(s);
}

static void retried_is_equal(struct stage *s)
{
    rowferry_expect(0, s->w.config, "deadletter", "retry", NULL);
    expect_letters(s, 0);
    world_expect_equal(&s->w);
}

static const struct workload retry = {.name = "retry of dead letters",
                                      .words = {"deadletter", "retry"},
                                      .begin = begin_numbers,
                                      .prepare = make_letters_and_mend,
                                      .recover = retried_is_equal};

START_TEST(a_retry_of_dead_letters_broken_at_any_call_goes_on)
{
    boundaries_test_all(&retry);
}
END_TEST

CRASH_LONG_MAIN("crash/boundary_letters", a_sync_with_dead_letters_broken_at_any_call_goes_on,
                a_retry_of_dead_letters_broken_at_any_call_goes_on)
