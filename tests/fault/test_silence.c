/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A database that stops answering while all connections stay open: a stopped server, or a proxy or
 * firewall that drops all traffic.
 */
#include <check.h>
#include <signal.h>

#include "pgway.h"
#include "rowferry/base/text.h"
#include "sql.h"

#define NOTICED_MS 60000 /* 20 s of silence, 10 s for a second connection, and a retry */
#define STOPPED_MS 6000  /* two seconds per connection, plus a margin for a busy machine */
#define WORDS_MOST 4
#define READ_BEFORE 12 /* results before the silence */

struct command {
    const char *words[WORDS_MOST];
    int exit_code; /* if the database is silent */
};

static const struct command commands[] = {
    {{"check"}, 4}, {{"status"}, 0}, {{"sync"}, 6}, {{"verify"}, 6}, {{"reindex", "articles"}, 6},
};

#define COMMANDS (sizeof(commands) / sizeof(commands[0]))

static void start(struct program *p, const struct pgway *g, const struct command *c)
{
    rowferry_start(p, g->w.config, c->words[0], c->words[1], NULL);
}

static void expect_end(struct program *p, const struct command *c, int64_t within_ms, int exit_code)
{
    struct program_result result;
    int64_t begin_ms = deadline_now_ms();
    program_finish(p, NOTICED_MS, &result);
    int64_t took_ms = deadline_now_ms() - begin_ms;
    ck_assert_msg(took_ms < within_ms, "%s took %lld ms: %s%s", c->words[0], (long long)took_ms,
                  result.out, result.err);
    ck_assert_msg(exit_code < 0 || result.exit_code == exit_code, "%s ended with %d: %s%s",
                  c->words[0], result.exit_code, result.out, result.err);
    ck_assert_msg(result.exit_code < 128 || result.exit_code == 128 + SIGTERM,
                  "%s ended by signal %d", c->words[0], result.exit_code - 128);
    program_result_release(&result);
}

static void await_results(const struct pgway *g, size_t count)
{
    struct deadline deadline = deadline_after(WAIT_MS);
    while (pgproxy_results(g->proxy) < count) {
        ck_assert(deadline_wait(&deadline));
    }
}

static void begin_in_silence(struct pgway *g, struct program *p, const struct command *c,
                             size_t after)
{
    struct program_result result;
    pgway_start(g, 100);
    world_sync(&g->w, 0, &result);
    program_result_release(&result);
    pgproxy_plan(g->proxy, after, PGPROXY_SILENT);
    if (after == 0) {
        pgproxy_silence(g->proxy);
    }
    start(p, g, c);
}

/* Silences the database after a number of results, or from the first connection on. The commands
 * wait in parallel, each in its own world, because they are mostly idle. */
static void expect_noticed(size_t after)
{
    struct pgway g[COMMANDS];
    struct program p[COMMANDS];
    for (size_t i = 0; i < COMMANDS; i++) {
        begin_in_silence(&g[i], &p[i], &commands[i], after);
    }
    for (size_t i = 0; i < COMMANDS; i++) {
        expect_end(&p[i], &commands[i], NOTICED_MS, commands[i].exit_code);
        pgway_stop(&g[i]);
    }
}

START_TEST(a_database_that_goes_silent_ends_a_command_in_a_minute)
{
    expect_noticed(READ_BEFORE);
}
END_TEST

START_TEST(a_database_that_never_says_a_word_ends_a_command_in_a_minute)
{
    expect_noticed(0);
}
END_TEST

START_TEST(a_stop_is_obeyed_while_the_database_is_silent)
{
    struct pgway g;
    struct program p;
    struct program_result result;
    pgway_start(&g, 100);
    world_sync(&g.w, 0, &result);
    program_result_release(&result);
    pgproxy_plan(g.proxy, READ_BEFORE, PGPROXY_SILENT);
    start(&p, &g, &commands[_i]);
    await_results(&g, READ_BEFORE);
    program_signal(&p, SIGTERM);
    expect_end(&p, &commands[_i], STOPPED_MS, -1);
    pgproxy_plan(g.proxy, 0, PGPROXY_NONE);
    world_sync(&g.w, 0, &result);
    program_result_release(&result);
    world_expect_equal(&g.w);
    pgway_stop(&g);
}
END_TEST

START_TEST(run_goes_on_when_a_silent_database_speaks_again)
{
    struct pgway g;
    struct program p;
    struct program_result result;
    pgway_start(&g, 500);
    rowferry_start(&p, g.w.config, "run", NULL);
    program_await(&p, "event=following", WAIT_MS);
    pgproxy_silence(g.proxy);
    sql_exec(g.w.conn, "update articles set title = 'meanwhile'");
    program_await(&p, "event=away pipeline=articles side=source", WAIT_MS);
    pgproxy_plan(g.proxy, 0, PGPROXY_NONE);
    program_await(&p, "event=back pipeline=articles side=source", WAIT_MS);
    world_await_equal(&g.w, WAIT_MS);
    pgproxy_silence(g.proxy);
    program_signal(&p, SIGTERM);
    int64_t begin_ms = deadline_now_ms();
    program_finish(&p, WAIT_MS, &result);
    ck_assert_int_lt(deadline_now_ms() - begin_ms, STOPPED_MS);
    program_result_release(&result);
    pgway_stop(&g);
}
END_TEST

/* Longer than any silence limit: the second connection shows that the statement is still
 * running. */
START_TEST(a_statement_that_takes_long_is_waited_for)
{
    struct pgway g;
    struct program_result result;
    pgway_start(&g, 20);
    sql_exec(g.w.conn, "create function public.slow(bigint) returns boolean language sql stable "
                       "as 'select pg_sleep(case when $1 = 1 then 25 else 0 end) is not null'");
    world_where(&g.w, "public.slow(source_id)");
    world_sync(&g.w, 0, &result);
    program_result_release(&result);
    pgway_stop(&g);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("fault/silence");
    const struct {
        const TTest *test;
        int count;
    } tests[] = {
        {a_database_that_goes_silent_ends_a_command_in_a_minute, 1},
        {a_database_that_never_says_a_word_ends_a_command_in_a_minute, 1},
        {a_stop_is_obeyed_while_the_database_is_silent, COMMANDS},
        {run_goes_on_when_a_silent_database_speaks_again, 1},
        {a_statement_that_takes_long_is_waited_for, 1},
    };
    for (size_t i = 0; i < sizeof(tests) / sizeof(tests[0]); i++) {
        TCase *tcase = tcase_create(tests[i].test->name);
        tcase_set_timeout(tcase, SUITE_TEST_S);
        tcase_add_loop_test(tcase, tests[i].test, 0, tests[i].count);
        suite_add_tcase(suite, tcase);
    }
    return suite_end(suite);
}
