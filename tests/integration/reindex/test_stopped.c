/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A run is stopped during each stage of a rebuild. It must end with 0, and the next run finishes
 * the rebuild.
 */
#include "generations.h"
#include "stands.h"

#define ROWS 300

/* A stage, identified by its first request, which is delayed while the run is stopped. */
struct stage {
    const char *name;
    const char *begins; /* step of the rebuild when the run starts */
    const char *path;
    int64_t before; /* number of such requests that pass first */
};

static const struct stage stages[] = {
    {"creates", "rebuild_wished=kill", "-2", 1},
    {"copies", "rebuild_wished=kill", "_bulk", 5},
    {"puts settings back", "rebuild_copied=kill", "/_settings", 0},
    {"waits for copies", "rebuild_copied=kill", "/_cluster/health", 0},
    {"checks", "rebuild_finished=kill", "/_count", 0},
    {"compares", "rebuild_finished=kill", "/_mget", 0},
    {"leaves", "rebuild_finished=kill", "/_mapping", 0},
    {"swaps", "rebuild_finished=kill", "/_aliases", 0},
    {"looks at what stays", "rebuild_finished=kill", "articles-2*", 0},
};

static int64_t fired(const struct world *w)
{
    struct json_object *stats =
        reply_json(200, "GET", w->service.url, "/_devsearch/stats", NULL, AUTH);
    int64_t count = json_object_get_int64(json_object_object_get(stats, "faults_fired"));
    json_object_put(stats);
    return count;
}

/* Lets `before` requests of the path pass and delays the next. Returns false if it never came. */
static bool stop_at(const struct world *w, const struct stage *stage, struct program *run)
{
    char fault[160];
    struct deadline deadline = deadline_after(WAIT_MS);
    int64_t already = fired(w);
    if (stage->before > 0) {
        snprintf(fault, sizeof(fault), "{\"path\":\"%s\",\"delay_ms\":1,\"count\":%lld}",
                 stage->path, (long long)stage->before);
        world_fault((struct world *)(uintptr_t)w, fault);
    }
    snprintf(fault, sizeof(fault), "{\"path\":\"%s\",\"delay_ms\":2000,\"count\":1}", stage->path);
    world_fault((struct world *)(uintptr_t)w, fault);
    rowferry_start(run, w->config, "run", NULL);
    bool came = false;
    for (bool ended = false; !came && !ended;) {
        came = fired(w) > already + stage->before;
        struct program_result result;
        rowferry_run(&result, w->config, "status", NULL);
        ended = result.exit_code == 0 && strstr(result.out, "  rebuild ") == NULL;
        program_result_release(&result);
        ck_assert_msg(came || ended || deadline_wait(&deadline), "%s: never", stage->name);
    }
    return fired(w) > already + stage->before; /* it may have come between the two checks */
}

START_TEST(a_run_that_is_stopped_in_any_stage_of_a_rebuild_leaves_it_to_the_next)
{
    for (size_t i = 0; i < sizeof(stages) / sizeof(stages[0]); i++) {
        struct world w;
        struct program run;
        struct program_result result;
        printf("stopped while it %s\n", stages[i].name);
        fflush(stdout);
        synced(&w, ROWS);
        world_configure(&w, SAME_PROPERTIES, SLOW_LIMITS);
        stand_at(&w, stages[i].begins, NULL);
        sql_exec(w.conn, "delete from articles where source_id between 30 and 35;"
                         "update articles set title = 'meanwhile' where source_id <= 20");
        bool came = stop_at(&w, &stages[i], &run);
        ck_assert_msg(came, "it ended, and never %s", stages[i].name);
        program_signal(&run, SIGTERM);
        finish(&run, 0, &result);
        program_result_release(&result);
        service_is_fast(&w);
        sql_exec(w.conn, "delete from articles where source_id between 40 and 45");
        rowferry_start(&run, w.config, "run", NULL);
        program_await(&run, "event=following", WAIT_MS);
        expect_live(&w, "");
        struct deadline deadline = deadline_after(WAIT_MS);
        for (bool underway = true; underway;) {
            rowferry_run(&result, w.config, "status", NULL);
            underway = strstr(result.out, "  rebuild ") != NULL;
            ck_assert_msg(!underway || deadline_wait(&deadline), "%s", result.out);
            program_result_release(&result);
        }
        program_signal(&run, SIGTERM);
        finish(&run, 0, &result);
        program_result_release(&result);
        expect_live(&w, "-2");
        world_sync(&w, 0, &result);
        program_result_release(&result);
        world_expect_equal(&w);
        generations_expect(&w, 2, NULL, NULL);
        world_stop(&w);
    }
}
END_TEST

SUITE_MAIN("reindex/stopped", a_run_that_is_stopped_in_any_stage_of_a_rebuild_leaves_it_to_the_next)
