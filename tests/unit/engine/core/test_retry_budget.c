/* SPDX-License-Identifier: Apache-2.0 */
/* How long a server may be unreachable. */
#include "core/retry_budget.h"
#include <stdio.h>

#include <string.h>
#include <unistd.h>

#include "suite.h"

static int64_t now_us = 1000000;

static int64_t now(void *context)
{
    (void)context;
    return now_us;
}

static uint64_t chance(void *context)
{
    (void)context;
    return UINT64_MAX;
}

static const struct clock test_clock = {now, now, chance, NULL};

START_TEST(gives_up_after_its_budget_and_names_the_option)
{
    struct retry_budget p;
    struct err err;
    retry_budget_init(&p, "service", "things", 1000);
    int tries = 0;
    err_set(&err, ERR_TRANSIENT, "connection refused");
    while (retry_budget_away(&p, &test_clock, &err)) {
        int64_t wait_ms = retry_budget_wait_ms(&p, now_us);
        ck_assert_int_gt(wait_ms, 0);
        now_us += wait_ms * 1000;
        ck_assert_int_eq(retry_budget_wait_ms(&p, now_us), 0);
        tries++;
    }
    ck_assert_int_gt(tries, 2);
    ck_assert_int_lt(tries, 50);
    ck_assert_ptr_nonnull(strstr(err.message, "limits.retry_budget"));
}
END_TEST

START_TEST(is_fresh_again_after_a_success)
{
    struct retry_budget p;
    struct err err;
    retry_budget_init(&p, "source", "things", 1000);
    err_set(&err, ERR_TRANSIENT, "connection refused");
    ck_assert(retry_budget_away(&p, &test_clock, &err));
    retry_budget_well(&p, &test_clock);
    now_us += 10000000;
    ck_assert(retry_budget_away(&p, &test_clock, &err));
}
END_TEST

START_TEST(the_log_has_the_status_of_an_answer_and_not_its_words)
{
    struct retry_budget p;
    struct err err;
    char line[512] = "";
    int ends[2];
    retry_budget_init(&p, "service", "things", 1000);
    err_set(&err, ERR_TRANSIENT,
            "POST /things/_bulk of search:9200: 503 unavailable: [secret words of a row]");
    err.http_status = 503;
    err.place = strlen("POST /things/_bulk of search:9200");
    ck_assert_int_eq(pipe(ends), 0);
    ck_assert_int_eq(dup2(ends[1], STDERR_FILENO), STDERR_FILENO);
    ck_assert(retry_budget_away(&p, &test_clock, &err));
    ck_assert_int_gt(read(ends[0], line, sizeof(line) - 1), 0);
    ck_assert_ptr_nonnull(
        strstr(line, "http_status=503 request=\"POST /things/_bulk of search:9200\"\n"));
    ck_assert_ptr_null(strstr(line, "secret words"));
    ck_assert_ptr_null(strstr(p.why, "secret words"));
}
END_TEST

START_TEST(the_first_line_says_what_the_failure_is)
{
    static const struct {
        int status;
        const char *type, *hint;
        const char *line;
        bool lasting;
    } lines[] = {
        {403, "cluster_block_exception",
         "the block \"index.blocks.write\" is set: PUT /i/_settings",
         "warn event=refuses pipeline=things side=service http_status=403 "
         "why=\"cluster_block_exception, the block \\\"index.blocks.write\\\" is set\"\n",
         true},
        {429, "es_rejected_execution_exception", "",
         "warn event=refuses pipeline=things side=service http_status=429 "
         "why=es_rejected_execution_exception\n",
         false},
        {429, "", "", "warn event=refuses pipeline=things side=service http_status=429\n", false},
        {503, "cluster_block_exception", "", /* no master: it passes */
         "warn event=away pipeline=things side=service http_status=503 "
         "why=cluster_block_exception\n",
         false},
        {502, "", "", "warn event=away pipeline=things side=service http_status=502\n", false},
        {200, "", "ours: do",
         "warn event=unreadable pipeline=things side=service http_status=200 why=words\n", true},
        {0, "", "", "warn event=away pipeline=things side=service error=words\n", false},
    };
    int ends[2];
    ck_assert_int_eq(pipe(ends), 0);
    ck_assert_int_eq(dup2(ends[1], STDERR_FILENO), STDERR_FILENO);
    for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
        struct retry_budget p;
        struct err err;
        char line[512] = "";
        retry_budget_init(&p, "service", "things", 1000);
        err_set(&err, ERR_TRANSIENT, "words");
        err_hint(&err, "%s", lines[i].hint);
        snprintf(err.service_type, sizeof(err.service_type), "%s", lines[i].type);
        err.http_status = lines[i].status;
        ck_assert(retry_budget_away(&p, &test_clock, &err));
        ck_assert_int_gt(read(ends[0], line, sizeof(line) - 1), 0);
        ck_assert_msg(strstr(line, lines[i].line) != NULL, "%s", line);
        ck_assert(p.lasting == lines[i].lasting);
    }
}
END_TEST

/* A full disk used to be counted as an unreachable source, with retries until the budget was
 * exhausted. */
START_TEST(a_full_disk_below_the_state_file_is_neither_side)
{
    struct retry_budget p;
    struct err err;
    retry_budget_init(&p, "source", "things", 1000);
    err_set(&err, ERR_TRANSIENT, "could not write state file \"state.db\": no space left");
    err.sqlite_code = 13;
    ck_assert(!retry_budget_away(&p, &test_clock, &err));
    ck_assert_int_eq(p.away_since_us, 0);
    ck_assert_ptr_null(strstr(err.message, "limits.retry_budget"));
}
END_TEST

SUITE_MAIN("engine/retry_budget", gives_up_after_its_budget_and_names_the_option,
           a_full_disk_below_the_state_file_is_neither_side, is_fresh_again_after_a_success,
           the_log_has_the_status_of_an_answer_and_not_its_words,
           the_first_line_says_what_the_failure_is)
