/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A server that imitates PostgreSQL: each result of each command is falsified once in each way. The
 * program must always end in time, with a documented exit code and a reason, in little memory.
 *
 * $ROWFERRY_STRIDE (15): tests every n-th pair of result and falsification; 1 tests all of them.
 */
#include <check.h>
#include <sys/resource.h>
#include <unistd.h>

#include "pgway.h"
#include "rowferry/base/text.h"
#include "sql.h"

#define IN_TIME_MS 20000
#define MEMORY_MAX_KIB (64 * 1024)
#define WORDS_MOST 7
#define EXIT_CODES 7 /* documented exit codes */

struct command {
    const char *name;
    const char *words[WORDS_MOST];
    bool first; /* uses a new state file each time */
};

static const struct command commands[] = {
    {"init", {"init", "--source", "URI", "--table", "articles"}, false},
    {"init of a view", {"init", "--source", "URI", "--table", "shown"}, false},
    {"init with another table",
     {"init", "--source", "URI", "--table", "articles", "--with", "comments"},
     false},
    {"check", {"check"}, false},
    {"status", {"status"}, false},
    {"first sync", {"sync"}, true},
    {"sync", {"sync"}, false},
    {"verify", {"verify"}, false},
    {"source install", {"source", "install"}, false},
};

#define COMMANDS (sizeof(commands) / sizeof(commands[0]))

static void start(struct program *p, const struct pgway *g, const struct command *c)
{
    const char *argv[WORDS_MOST + 4] = {getenv("ROWFERRY_PROGRAM")};
    size_t count = 1;
    if (strncmp(c->name, "init", 4) != 0) {
        argv[count++] = "-c";
        argv[count++] = g->w.config;
    }
    for (size_t i = 0; i < WORDS_MOST && c->words[i] != NULL; i++) {
        argv[count++] = strcmp(c->words[i], "URI") == 0 ? g->uri : c->words[i];
    }
    if (c->first) {
        char *state = scratch_path(g->w.dir, "state.db");
        (void)unlink(state);
        free(state);
    }
    program_start(p, argv, NULL);
}

static void expect_good_end(const struct command *c, struct program *p, size_t nth, int fault)
{
    struct program_result result;
    struct rusage used;
    bool ended = program_ends(p, IN_TIME_MS, &result);
    ck_assert_msg(ended, "%s: result %zu, fault %d: it does not end: %.900s%.2000s", c->name, nth,
                  fault, result.out, result.err);
    ck_assert_msg(result.exit_code < EXIT_CODES, "%s: result %zu, fault %d: ends with %d: %.3000s",
                  c->name, nth, fault, result.exit_code, result.err);
    ck_assert_msg(strstr(result.err, "Sanitizer") == NULL, "%s: result %zu, fault %d: %.3000s",
                  c->name, nth, fault, result.err);
    bool reason = result.exit_code == 0 || result.err[0] != '\0' || result.out[0] != '\0';
    ck_assert_msg(reason, "%s: result %zu, fault %d: ends with %d and says nothing", c->name, nth,
                  fault, result.exit_code);
    ck_assert_int_eq(getrusage(RUSAGE_CHILDREN, &used), 0);
#ifndef __SANITIZE_ADDRESS__
    ck_assert_msg(used.ru_maxrss < MEMORY_MAX_KIB, "%s: result %zu, fault %d: %ld KiB: %.3000s",
                  c->name, nth, fault, used.ru_maxrss, result.err);
#endif
    program_result_release(&result);
}

/* Counts the results of a run without faults. */
static size_t count_results(const struct pgway *g, const struct command *c)
{
    struct program p;
    pgproxy_plan(g->proxy, 0, PGPROXY_NONE);
    start(&p, g, c);
    expect_good_end(c, &p, 0, 0);
    return pgproxy_results(g->proxy);
}

static size_t stride(void)
{
    const char *text = getenv("ROWFERRY_STRIDE");
    return text != NULL && atoi(text) > 0 ? (size_t)atoi(text) : 15;
}

START_TEST(no_answer_of_a_rogue_server_crashes_a_command_or_holds_it_up)
{
    struct pgway g;
    struct program_result result;
    const struct command *c = &commands[_i];
    size_t tried = 0;
    pgway_start(&g, 50);
    sql_exec(g.w.conn, "create domain public.name as text; alter table articles add name "
                       "public.name; create view public.shown as select * from articles;"
                       "create table public.comments (id bigint primary key, article bigint "
                       "references articles, words text)");
    world_sync(&g.w, 0, &result);
    program_result_release(&result);
    world_configure(&g.w, WORLD_PROPERTIES, "\"retry_budget\": \"0s\"");
    size_t count = count_results(&g, c);
    ck_assert_uint_gt(count, 0);
    for (size_t i = 0; i < count * (PGPROXY_FAULTS - 1); i += stride()) {
        struct program p;
        size_t nth = 1 + i / (PGPROXY_FAULTS - 1);
        int fault = 1 + (int)(i % (PGPROXY_FAULTS - 1));
        pgproxy_plan(g.proxy, nth, (enum pgproxy_fault)fault);
        start(&p, &g, c);
        expect_good_end(c, &p, nth, fault);
        tried++;
    }
    printf("rogue: %s: %zu results, %zu falsified\n", c->name, count, tried);
    pgproxy_plan(g.proxy, 0, PGPROXY_NONE);
    world_configure(&g.w, WORLD_PROPERTIES, PGWAY_LIMITS);
    world_sync(&g.w, 0, &result);
    program_result_release(&result);
    world_expect_equal(&g.w);
    pgway_stop(&g);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("fault/rogue");
    TCase *tcase = tcase_create("no_answer_of_a_rogue_server_crashes_a_command_or_holds_it_up");
    tcase_set_timeout(tcase, 4 * SUITE_TEST_S);
    tcase_add_loop_test(tcase, no_answer_of_a_rogue_server_crashes_a_command_or_holds_it_up, 0,
                        COMMANDS);
    suite_add_tcase(suite, tcase);
    return suite_end(suite);
}
