/* SPDX-License-Identifier: Apache-2.0 */
/* run of three pipelines: when two of them stop, the third one continues, and the stops are
 * visible. */
#include <sys/resource.h>

#include "rowferry/base/buf.h"
#include "runs.h"

#define COUNT 40
/* A blocked pipeline would wait for something that happens twice a minute. */
#define HELD_UP_MS 10000

static void configure_three(struct world *w)
{
    char *text = NULL;
    ck_assert_int_gt(
        asprintf(&text,
                 "{\"accept_admin\": true, \"source\": {\"uri\": \"%s\"}, \"service\": {\"url\": "
                 "\"%s\", \"auth\": "
                 "{\"api_key\": {\"file\": \"%s/key\"}}}, \"state\": {\"path\": \"%s/state.db\"},\n"
                 "\"pipelines\": [{\"name\": \"articles\", \"from\": {\"table\": "
                 "\"public.articles\"}, \"to\": {\"index\": \"shop-articles\", \"mappings\": "
                 "{\"properties\": {%s}}}},\n"
                 "{\"name\": \"guarded\", \"from\": {\"table\": \"public.guarded\"}, \"to\": "
                 "{\"index\": \"shop-guarded\", \"mappings\": {\"properties\": {\"title\": "
                 "{\"type\": \"text\"}}}}},\n"
                 "{\"name\": \"drifted\", \"from\": {\"table\": \"public.drifted\"}, \"to\": "
                 "{\"index\": \"shop-drifted\", \"mappings\": {\"properties\": {\"title\": "
                 "{\"type\": \"text\"}}}}}]}",
                 w->uri, w->service.url, w->dir, w->dir, RUNS_PROPERTIES),
        0);
    free(w->config);
    w->config = scratch_write(w->dir, "three.json", text);
    free(text);
}

static void start_three(struct world *w)
{
    world_start(w, 500, NULL);
    for (int i = 0; i < 2; i++) {
        sql_exec(w->conn,
                 "create table %s (id bigint primary key, title text);"
                 "insert into %s select i, 'row ' || i from generate_series(1, 500) i",
                 i == 0 ? "guarded" : "drifted", i == 0 ? "guarded" : "drifted");
    }
    configure_three(w);
    world_install(w);
}

static int by_size(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a;
    int64_t y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* Returns the median time from commit to document of single updates. */
static int64_t median_ms(const struct world *w, const char *prefix)
{
    int64_t took[COUNT];
    for (int i = 0; i < COUNT; i++) {
        char title[64];
        snprintf(title, sizeof(title), "%s %d", prefix, i);
        set_title(w, 1 + i, title);
        int64_t begin_ms = deadline_now_ms();
        await_title(w, 1 + i, title);
        took[i] = deadline_now_ms() - begin_ms;
    }
    qsort(took, COUNT, sizeof(took[0]), by_size);
    return took[COUNT / 2];
}

START_TEST(two_that_stop_do_not_hold_up_the_third)
{
    struct world w;
    struct program p;
    struct program_result result;
    start_three(&w);
    rowferry_start(&p, w.config, "run", NULL);
    await_title_in(&w, "shop-guarded", 5, "row 5", WAIT_MS);
    await_title_in(&w, "shop-drifted", 5, "row 5", WAIT_MS);
    await_title(&w, 5, "title 5");
    int64_t before_ms = median_ms(&w, "before");
    sql_exec(w.conn, "delete from guarded where id > 100");
    sql_exec(w.conn, "alter table drifted drop column title;"
                     "insert into drifted values (1000)");
    program_await(&p, "event=guard pipeline=guarded", WAIT_MS);
    program_await(&p, "event=stopped pipeline=drifted", WAIT_MS);
    int64_t after_ms = median_ms(&w, "after");
    printf("median of the third: %lld ms before, %lld ms after\n", (long long)before_ms,
           (long long)after_ms);
    ck_assert_int_le(after_ms, before_ms + HELD_UP_MS);
    world_expect_equal(&w);
    expect_status(&w, "guarded", "guard");
    await_status(&w, "drifted", "stopped"); /* logged first, then recorded */
    await_status(&w, "articles", "following");
    ck_assert(has_title(w.service.url, "shop-guarded", 300, "row 300"));
    stop_run(&p, SIGTERM, 1, &result);
    program_result_release(&result);
    world_stop(&w);
}
END_TEST

/* The end of the stop does not affect the others either. */
START_TEST(one_that_is_permitted_goes_on_beside_the_others)
{
    struct world w;
    struct program p;
    struct program_result result;
    start_three(&w);
    rowferry_start(&p, w.config, "run", NULL);
    await_title_in(&w, "shop-guarded", 300, "row 300", WAIT_MS);
    sql_exec(w.conn, "delete from guarded where id > 100");
    program_await(&p, "event=guard pipeline=guarded", WAIT_MS);
    set_title(&w, 5, "meanwhile");
    await_title(&w, 5, "meanwhile");
    rowferry_expect(0, w.config, "sync", "--allow-deletes", "guarded", NULL);
    ck_assert(!has_title(w.service.url, "shop-guarded", 300, "row 300"));
    sql_exec(w.conn, "insert into guarded values (1000, 'again')");
    await_title_in(&w, "shop-guarded", 1000, "again", WAIT_MS);
    set_title(&w, 5, "and after");
    await_title(&w, 5, "and after");
    stop_run(&p, SIGTERM, 0, &result);
    program_result_release(&result);
    world_expect_equal(&w);
    world_stop(&w);
}
END_TEST

/* --- too few descriptors -----------------------------------------------------------------------
 */

#define MANY 12
#define FEW "64" /* twelve pipelines need about 150 */

static void configure_many(struct world *w)
{
    struct buf text;
    buf_init(&text, (size_t)1 << 20);
    buf_printf(&text,
               "{\"accept_admin\": true, \"source\": {\"uri\": \"%s\"}, \"service\": {\"url\": "
               "\"%s\", \"auth\": "
               "{\"api_key\": {\"file\": \"%s/key\"}}}, \"state\": {\"path\": \"%s/state.db\"},"
               "\"pipelines\": [",
               w->uri, w->service.url, w->dir, w->dir);
    for (int i = 0; i < MANY; i++) {
        buf_printf(&text,
                   "%s{\"name\": \"p%d\", \"from\": {\"table\": \"public.articles\"}, \"to\": "
                   "{\"index\": \"shop-p%d\", \"mappings\": {\"properties\": {%s}}}}",
                   i > 0 ? "," : "", i, i, RUNS_PROPERTIES);
    }
    buf_push_literal(&text, "]}");
    free(w->config);
    w->config = scratch_write(w->dir, "many.json", buf_text(&text));
    buf_release(&text);
}

START_TEST(with_too_few_descriptors_every_pipeline_waits_and_none_stops)
{
    struct world w;
    struct program p;
    struct program_result result;
    world_start(&w, 50, NULL);
    configure_many(&w);
    world_install(&w);
    const char *argv[] = {"/bin/bash",
                          "-c",
                          "ulimit -n " FEW "; exec \"$0\" -c \"$1\" run",
                          getenv("ROWFERRY_PROGRAM"),
                          w.config,
                          NULL};
    program_start(&p, argv, NULL);
    program_await(&p, "event=few_descriptors", WAIT_MS);
    program_await(&p, "Too many open files", WAIT_MS);
    const struct rlimit enough = {1024, 1024};
    bool raised = prlimit(p.pid, RLIMIT_NOFILE, &enough, NULL) == 0; /* permitted for root */
    for (int i = 0; raised && i < MANY; i++) {
        char index[32];
        snprintf(index, sizeof(index), "shop-p%d", i);
        await_title_in(&w, index, 5, "title 5", WAIT_MS);
    }
    stop_run(&p, SIGTERM, 0, &result);
    ck_assert(strstr(result.err, "event=stopped") == NULL);
    program_result_release(&result);
    world_stop(&w);
}
END_TEST

SUITE_MAIN("run/neighbours", two_that_stop_do_not_hold_up_the_third,
           one_that_is_permitted_goes_on_beside_the_others,
           with_too_few_descriptors_every_pipeline_waits_and_none_stops)
