/* SPDX-License-Identifier: Apache-2.0 */
/* verify: concurrent changes are not differences, and use no memory. */
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "verifies.h"

/* Rows written during the last look leave the result open. */
static void equal_or_open(const struct program_result *r)
{
    counts(r, 0, 0, 0);
    int wanted = program_json_int(r, "waiting") > 0 ? 6 : 0;
    ck_assert_msg(r->exit_code == wanted, "%.1500s%.1500s", r->out, r->err);
}

START_TEST(an_equal_index_is_never_said_to_differ_while_it_is_written)
{
    struct world w;
    synced(&w, 2000);
    for (int i = 0; i < 10; i++) {
        struct program p;
        struct program_result r;
        rowferry_start(&p, w.config, "verify", "--json", NULL);
        for (long n = 0; program_running(&p); n++) {
            struct program_result result;
            sql_exec(w.conn, "update articles set title = 'hot %ld' where source_id %% 7 = %ld", n,
                     n % 7);
            sql_exec(w.conn, "delete from articles where source_id = %d", 100 * i + (int)(n % 100));
            world_sync(&w, 0, &result);
            program_result_release(&result);
            sql_exec(w.conn,
                     "insert into articles (source_id, title) values (%d, 'back') on conflict do "
                     "nothing",
                     100 * i + (int)(n % 100));
        }
        program_finish(&p, VERIFY_MS, &r);
        equal_or_open(&r);
        program_result_release(&r);
    }
    world_stop(&w);
}
END_TEST

/* Returns the number of rounds; the long test set uses a hundred. */
static long verifies(void)
{
    const char *text = getenv("ROWFERRY_VERIFIES");
    return text != NULL ? strtol(text, NULL, 10) : 10;
}

START_TEST(beside_a_run_an_equal_index_is_never_said_to_differ)
{
    struct world w;
    struct program run;
    long n = 0;
    world_start(&w, 2000, NULL);
    world_install(&w);
    rowferry_start(&run, w.config, "run", NULL);
    program_await(&run, "event=following", WAIT_MS);
    for (long i = 0; i < verifies(); i++) {
        struct program p;
        struct program_result r;
        rowferry_start(&p, w.config, "verify", "--json", NULL);
        for (; program_running(&p); n++) {
            sql_exec(w.conn,
                     "update articles set title = 'hot %ld' where source_id %% 97 = %ld;"
                     "delete from articles where source_id between %ld and %ld;"
                     "insert into articles (source_id, title) select i, 'back' from "
                     "generate_series(1, 2000) i on conflict do nothing",
                     n, n % 97, n % 1990, n % 1990 + 5);
        }
        program_finish(&p, VERIFY_MS, &r);
        counts(&r, 0, 0, 0);
        ck_assert_msg(r.exit_code == 0, "%.1500s%.1500s", r.out, r.err);
        program_result_release(&r);
    }
    struct program_result r;
    world_await_settled(&w); /* otherwise a write of this row may still be in flight */
    document_goes(&w, 1000);
    rowferry_run(&r, w.config, "verify", "--json", "--repair", NULL);
    ck_assert_msg(r.exit_code == 0, "%.1500s%.1500s", r.out, r.err);
    ck_assert_msg(strstr(r.out, "\"missing\":1,\"extra\":0,\"altered\":0,") != NULL, "%s", r.out);
    program_result_release(&r);
    program_signal(&run, SIGTERM);
    program_finish(&run, WAIT_MS, &r);
    ck_assert_int_eq(r.exit_code, 0);
    program_result_release(&r);
    world_expect_equal(&w);
    world_stop(&w);
}
END_TEST

START_TEST(a_service_that_falters_is_ridden_out)
{
    struct world w;
    synced(&w, 5000);
    world_fault(&w, "{\"status\":503,\"count\":4,\"path\":\"shop-articles\"}");
    world_fault(&w, "{\"close\":\"middle\",\"count\":2,\"path\":\"shop-articles\"}");
    verify_clean(&w, 5000);
    world_stop(&w);
}
END_TEST

/* Starts verify and delays its first request to the index, so that later events happen in its
 * middle. */
static void start_held(struct world *w, struct program *p)
{
    world_hold(w, "_mget");
    rowferry_start(p, w->config, "verify", "--json", NULL);
    world_await_held(w);
}

START_TEST(a_service_that_restarts_in_the_middle_is_waited_for)
{
    struct world w;
    struct program p;
    struct program_result r;
    char *data = scratch_new();
    world_start(&w, 5000, (const char *const[]){"--data", data, NULL});
    world_install(&w);
    world_sync(&w, 0, &r);
    program_result_release(&r);
    document_goes(&w, 4000);
    start_held(&w, &p);
    char *key = scratch_path(w.dir, "key");
    int port = w.service.port;
    devsearch_stop(&w.service);
    devsearch_start_at(&w.service, port,
                       (const char *const[]){"--api-key-file", key, "--data", data, NULL});
    program_finish(&p, VERIFY_MS, &r);
    ck_assert_msg(r.exit_code == 4, "%.1500s%.1500s", r.out, r.err);
    counts(&r, 1, 0, 0);
    ck_assert_int_eq(program_json_int(&r, "rows"), 5000);
    program_result_release(&r);
    free(key);
    world_stop(&w);
    scratch_remove(data);
}
END_TEST

START_TEST(an_index_that_is_swapped_in_the_middle_is_no_difference)
{
    struct world w;
    struct program p;
    struct program_result r;
    synced(&w, 3000);
    char *generation = live_index(&w);
    char body[400];
    index_does(&w, 200, "PUT", "/shop-articles-by-others", "{}");
    start_held(&w, &p);
    snprintf(body, sizeof(body),
             "{\"actions\":[{\"remove\":{\"index\":\"%s\",\"alias\":\"shop-articles\"}},"
             "{\"add\":{\"index\":\"shop-articles-by-others\",\"alias\":\"shop-articles\"}}]}",
             generation);
    index_does(&w, 200, "POST", "/_aliases", body);
    world_unfault(&w);
    free(generation);
    program_finish(&p, VERIFY_MS, &r);
    ck_assert_msg(r.exit_code == 1, "%.1500s%.1500s", r.out, r.err);
    ck_assert_msg(strstr(r.err, "does not point at") != NULL, "%.1500s", r.err);
    counts(&r, 0, 0, 0);
    program_result_release(&r);
    world_stop(&w);
}
END_TEST

START_TEST(an_index_that_is_deleted_in_the_middle_is_no_difference)
{
    struct world w;
    struct program p;
    struct program_result r;
    synced(&w, 3000);
    char *generation = live_index(&w);
    char path[300];
    snprintf(path, sizeof(path), "/%s", generation);
    start_held(&w, &p);
    index_does(&w, 200, "DELETE", path, NULL);
    world_unfault(&w);
    program_finish(&p, VERIFY_MS, &r);
    ck_assert_msg(r.exit_code == 1, "%.1500s%.1500s", r.out, r.err);
    counts(&r, 0, 0, 0);
    program_result_release(&r);
    free(generation);
    world_stop(&w);
}
END_TEST

/* Returns the peak memory of the program, run in a separate child, because the system sums up ended
 * children. */
static long peak_kib(struct world *w, const char *command)
{
    int ends[2];
    long peak = 0;
    ck_assert_int_eq(pipe(ends), 0);
    pid_t child = fork();
    ck_assert_int_ge(child, 0);
    if (child == 0) {
        struct program_result r;
        struct rusage usage;
        rowferry_run(&r, w->config, command, "--json", NULL);
        getrusage(RUSAGE_CHILDREN, &usage);
        peak = r.exit_code == 0 ? usage.ru_maxrss : -1;
        _exit(write(ends[1], &peak, sizeof(peak)) == sizeof(peak) ? 0 : 1);
    }
    ck_assert_int_eq(waitpid(child, NULL, 0), child);
    ck_assert_int_eq(read(ends[0], &peak, sizeof(peak)), sizeof(peak));
    ck_assert_int_gt(peak, 0);
    close(ends[0]);
    close(ends[1]);
    return peak;
}

#if defined(__SANITIZE_ADDRESS__)
#define MORE_KIB (512 * 1024) /* the sanitizer keeps freed memory */
#else
#define MORE_KIB (8 * 1024)
#endif

START_TEST(no_more_memory_than_an_idle_sync)
{
    struct world w;
    synced(&w, 20000);
    long idle = peak_kib(&w, "sync");
    long verifying = peak_kib(&w, "verify");
    ck_assert_msg(verifying <= idle + MORE_KIB, "%ld KiB beside %ld", verifying, idle);
    world_stop(&w);
}
END_TEST

SUITE_MAIN("sync/verify_concurrent", an_equal_index_is_never_said_to_differ_while_it_is_written,
           a_service_that_falters_is_ridden_out,
           a_service_that_restarts_in_the_middle_is_waited_for,
           an_index_that_is_swapped_in_the_middle_is_no_difference,
           an_index_that_is_deleted_in_the_middle_is_no_difference,
           beside_a_run_an_equal_index_is_never_said_to_differ, no_more_memory_than_an_idle_sync)
