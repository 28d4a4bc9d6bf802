/* SPDX-License-Identifier: Apache-2.0 */
/* reindex while another process holds the pipeline. */
#include "rebuilds.h"
#include "rowferry/base/buf.h"
#include "rowferry/base/file.h"

static void expect_title_type(const struct world *w, const char *type)
{
    char words[64];
    struct reply reply;
    snprintf(words, sizeof(words), "\"title\":{\"type\":\"%s\"}", type);
    reply_get(&reply, "GET", w->service.url, "/shop-articles/_mapping", NULL, AUTH);
    expect_text(reply.body, words);
    reply_release(&reply);
}

/* Starts a run that follows, with a slow service. */
static void running(struct world *w, struct program *p)
{
    synced(w, 1000);
    world_configure(w, SAME_PROPERTIES, SLOW_LIMITS);
    rowferry_start(p, w->config, "run", NULL);
    program_await(p, "event=following", WAIT_MS);
}

static void end_run(struct world *w, struct program *p)
{
    struct program_result result;
    program_signal(p, SIGTERM);
    finish(p, 0, &result);
    program_result_release(&result);
    world_stop(w);
}

START_TEST(a_run_rebuilds_when_it_is_asked_and_goes_on)
{
    struct world w;
    struct program p;
    struct program_result result;
    running(&w, &p);
    reindex(&w, 0, &result, NULL, NULL);
    expect_text(result.out, "articles: rebuilt as shop-articles-");
    expect_text(result.out, ": 1,000 documents, 0 dead letters; checked 1,000 of 1,000; ");
    program_result_release(&result);
    expect_live(&w, "-2");
    sql_exec(w.conn, "update articles set title = 'after' where source_id = 20");
    await_title(&w, 20, "after");
    world_expect_equal(&w);
    reindex(&w, 0, &result, "--rollback", NULL);
    expect_text(result.out, "articles: rolled back to shop-articles-");
    program_result_release(&result);
    expect_live(&w, "-1");
    world_expect_equal(&w);
    end_run(&w, &p);
}
END_TEST

/* Returns another file with these properties; the caller frees it. */
static char *configuration_of(struct world *w, const char *properties)
{
    struct buf text;
    buf_init(&text, (size_t)1 << 20);
    world_configure(w, properties, SLOW_LIMITS);
    ck_assert_ptr_null(file_read(w->config, 1000, &text, NULL));
    char *path = scratch_write(w->dir, "other.json", buf_text(&text));
    buf_release(&text);
    return path;
}

START_TEST(a_run_takes_the_mapping_that_it_is_asked_to_build_from_its_file)
{
    struct world w;
    struct program p;
    struct program_result result;
    running(&w, &p);
    world_configure(&w, OTHER_PROPERTIES, SLOW_LIMITS);
    reindex(&w, 0, &result, NULL, NULL);
    expect_text(result.out, "articles: rebuilt as shop-articles-");
    program_result_release(&result);
    expect_live(&w, "-2");
    expect_title_type(&w, "keyword");
    sql_exec(w.conn, "update articles set title = 'after' where source_id = 20");
    await_title(&w, 20, "after");
    program_signal(&p, SIGHUP); /* keeps what it took */
    program_await(&p, "event=configuration_read", WAIT_MS);
    sql_exec(w.conn, "update articles set title = 'later' where source_id = 20");
    await_title(&w, 20, "later");
    world_expect_equal(&w);
    reindex(&w, 0, &result, "--rollback", NULL); /* by the definition of its time */
    program_result_release(&result);
    expect_live(&w, "-1");
    expect_title_type(&w, "text");
    sql_exec(w.conn, "update articles set title = 'last' where source_id = 20");
    await_title(&w, 20, "last");
    world_expect_equal(&w);
    world_configure(&w, SAME_PROPERTIES, SLOW_LIMITS);
    world_expect_equal(&w);
    end_run(&w, &p);
}
END_TEST

#define UNKNOWN_ANALYZER "\"title\":{\"type\":\"text\",\"analyzer\":\"of_nobody\"}"

START_TEST(a_run_keeps_the_live_index_by_its_own_definition_after_a_rebuild_that_failed)
{
    struct world w;
    struct program p;
    struct program_result result;
    running(&w, &p);
    world_configure(&w, "\"title\":{\"type\":\"of_nobody\"}", SLOW_LIMITS);
    reindex(&w, 1, &result, NULL, NULL); /* refused before it is recorded */
    program_result_release(&result);
    sql_exec(w.conn, "update articles set title = 'refused' where source_id = 20");
    await_title(&w, 20, "refused");
    world_configure(&w, UNKNOWN_ANALYZER, SLOW_LIMITS);
    reindex(&w, 1, &result, NULL, NULL);
    program_result_release(&result);
    sql_exec(w.conn, "update articles set title = 'failed' where source_id = 20");
    await_title(&w, 20, "failed");
    char *log = program_said(&p);
    size_t failed = 0; /* each is not tried again */
    for (const char *at = log; (at = strstr(at, "event=rebuild_failed")) != NULL; at++) {
        failed++;
    }
    ck_assert_msg(failed == 2, "%s", log);
    free(log);
    reindex(&w, 0, &result, "--abort", NULL);
    program_result_release(&result);
    sql_exec(w.conn, "update articles set title = 'aborted' where source_id = 20");
    await_title(&w, 20, "aborted");
    expect_title_type(&w, "text");
    world_configure(&w, OTHER_PROPERTIES, SLOW_LIMITS);
    reindex(&w, 0, &result, NULL, NULL);
    program_result_release(&result);
    expect_title_type(&w, "keyword");
    sql_exec(w.conn, "update articles set title = 'rebuilt' where source_id = 20");
    await_title(&w, 20, "rebuilt");
    world_expect_equal(&w);
    end_run(&w, &p);
}
END_TEST

START_TEST(what_a_run_refuses_is_told_with_the_reason)
{
    struct world w;
    struct program p;
    struct program_result result;
    running(&w, &p);
    reindex(&w, 1, &result, "--rollback", NULL);
    expect_text(result.err, "no former generation is kept");
    program_result_release(&result);
    reindex(&w, 0, &result, "--abort", NULL);
    expect_text(result.out, "articles: no rebuild is under way\n");
    program_result_release(&result);
    char *other = configuration_of(&w, OTHER_PROPERTIES);
    world_configure(&w, SAME_PROPERTIES, SLOW_LIMITS);
    rowferry_run(&result, other, "reindex", NULL);
    ck_assert_int_eq(result.exit_code, 1);
    expect_text(result.err,
                "rowferry: pipeline \"articles\": the process that holds it has another "
                "configuration");
    expect_text(result.err, w.config); /* where to change it */
    program_result_release(&result);
    free(other);
    sql_exec(w.conn, "update articles set title = 'after' where source_id = 20");
    await_title(&w, 20, "after");
    expect_live(&w, "-1");
    end_run(&w, &p);
}
END_TEST

START_TEST(who_asked_may_leave_and_another_may_abort)
{
    struct world w;
    struct program p;
    struct program asking;
    struct program_result result;
    running(&w, &p);
    service_is_slow(&w);
    start_reindex(&w, &asking);
    program_signal(&asking, SIGINT);
    finish(&asking, 6, &result);
    expect_text(result.out, "articles: left; the holder continues\n");
    program_result_release(&result);
    await_status(&w, "  rebuild       copying");
    rowferry_start(&asking, w.config, "reindex", NULL); /* waits for the same rebuild */
    program_await(&asking, "event=request_filed", WAIT_MS);
    reindex(&w, 0, &result, "--abort", NULL);
    expect_text(result.out, "articles: aborted, shop-articles-");
    program_result_release(&result);
    finish(&asking, 1, &result);
    expect_text(result.err, "the rebuild was aborted");
    program_result_release(&result);
    service_is_fast(&w);
    expect_live(&w, "-1");
    sql_exec(w.conn, "update articles set title = 'after' where source_id = 20");
    await_title(&w, 20, "after");
    end_run(&w, &p);
}
END_TEST

/* The rebuild was started without --adopt, so it does not adopt later either. */
START_TEST(a_rebuild_that_runs_adopts_nothing_by_a_later_word)
{
    struct world w;
    struct program p;
    struct program asking;
    struct program_result result;
    running(&w, &p);
    service_is_slow(&w);
    start_reindex(&w, &asking);
    reindex(&w, 1, &result, "--adopt", NULL);
    expect_text(result.err, "pipeline \"articles\": a rebuild is under way, without --adopt");
    expect_text(result.err, "rowferry reindex articles joins it");
    program_result_release(&result);
    await_status(&w, "  rebuild       copying");
    service_is_fast(&w);
    finish(&asking, 0, &result);
    program_result_release(&result);
    world_expect_equal(&w);
    end_run(&w, &p);
}
END_TEST

START_TEST(a_sync_at_work_is_waited_for)
{
    struct world w;
    struct program sync;
    struct program p;
    struct program_result result;
    synced_and_slow(&w);
    sql_exec(w.conn, "update articles set title = 'changed'");
    rowferry_start(&sync, w.config, "sync", NULL);
    await_status(&w, "(\"sync\" since");
    rowferry_start(&p, w.config, "reindex", NULL);
    program_await(&p, "event=request_filed", WAIT_MS);
    service_is_fast(&w);
    finish(&sync, 0, &result);
    ck_assert(strstr(result.out, "rebuilt") == NULL);
    program_result_release(&result);
    finish(&p, 0, &result);
    expect_text(result.out, "articles: rebuilt as shop-articles-");
    program_result_release(&result);
    expect_live(&w, "-2");
    world_expect_equal(&w);
    world_stop(&w);
}
END_TEST

static void held(const char *config, const char *command)
{
    struct program_result result;
    rowferry_run(&result, config, command, NULL);
    ck_assert_msg(result.exit_code == 5, "%d: %s%s", result.exit_code, result.out, result.err);
    expect_text(result.err, "held by");
    program_result_release(&result);
}

/* Another state file represents another host: an index held by its run is not replaced. */
START_TEST(what_another_host_holds_is_not_rebuilt)
{
    struct world w;
    struct program p;
    struct program_result result;
    synced(&w, 200);
    char *other = world_config_of_another(&w);
    rowferry_start(&p, w.config, "run", NULL);
    program_await(&p, "event=following", WAIT_MS);
    held(other, "reindex");
    held(other, "sync");
    expect_live(&w, "-1");
    sql_exec(w.conn, "update articles set title = 'after' where source_id = 20");
    await_title(&w, 20, "after");
    program_signal(&p, SIGTERM);
    finish(&p, 0, &result);
    program_result_release(&result);
    rowferry_run(&result, other, "sync", NULL); /* it can take over now */
    ck_assert_msg(result.exit_code == 0, "%s%s", result.out, result.err);
    program_result_release(&result);
    rowferry_start(&p, w.config, "run", NULL);
    program_await(&p, "event=following", WAIT_MS);
    held(other, "reindex");
    expect_live(&w, "-1");
    program_signal(&p, SIGTERM);
    finish(&p, 0, &result);
    program_result_release(&result);
    free(other);
    world_stop(&w);
}
END_TEST

SUITE_MAIN("reindex/requests", a_run_rebuilds_when_it_is_asked_and_goes_on,
           a_run_takes_the_mapping_that_it_is_asked_to_build_from_its_file,
           a_run_keeps_the_live_index_by_its_own_definition_after_a_rebuild_that_failed,
           what_a_run_refuses_is_told_with_the_reason, who_asked_may_leave_and_another_may_abort,
           a_rebuild_that_runs_adopts_nothing_by_a_later_word, a_sync_at_work_is_waited_for,
           what_another_host_holds_is_not_rebuilt)
