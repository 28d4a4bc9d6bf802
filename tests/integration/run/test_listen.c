/* SPDX-License-Identifier: Apache-2.0 */
/* run: metrics, health and status, as requested by monitors and people. */
#include "listens.h"

#include <json-c/json.h>

/* Waits for a sample, given as a line of the text. */
static void await_metric(const struct listens *l, const char *sample)
{
    listens_await(l, "/metrics", 200, sample);
}

static int64_t metric(const struct listens *l, const char *series)
{
    char *text = listens_get(l, "/metrics", 200);
    const char *at = strstr(text, series);
    ck_assert_msg(at != NULL, "no %s in\n%s", series, text);
    int64_t value = strtoll(at + strlen(series), NULL, 10);
    free(text);
    return value;
}

START_TEST(what_changes_is_counted_and_told)
{
    struct world w;
    struct listens l;
    world_start(&w, 500, NULL);
    world_install(&w);
    listens_start(&l, &w);
    await_metric(&l, "rowferry_upserts_total{pipeline=\"articles\"} 500\n");
    set_title(&w, 5, "changed");
    sql_exec(w.conn, "delete from articles where source_id = 7");
    await_title(&w, 5, "changed");
    await_metric(&l, "rowferry_upserts_total{pipeline=\"articles\"} 501\n");
    await_metric(&l, "rowferry_deletes_total{pipeline=\"articles\"} 1\n");
    await_metric(&l, "rowferry_dead_letters{pipeline=\"articles\"} 0\n");
    ck_assert_int_gt(metric(&l, "\nprocess_resident_memory_bytes "), 1000000);
    listens_expect(&l, "/healthz", 200, "ok\n");
    listens_await(&l, "/readyz", 200, "ready\narticles: following\n");
    listens_expect(&l, "/", 200, "<title>rowferry</title>");
    listens_expect(&l, "/status", 200, "\"event\":\"following\"");
    listens_expect(&l, "/status?samples=0", 200, "\"history\":{\"taken\":");
    end_run(&l.program);
    world_stop(&w);
}
END_TEST

/* All members of `rowferry status --json` are present with the same meaning. */
START_TEST(status_says_what_the_command_says)
{
    struct world w;
    struct listens l;
    struct program_result result;
    world_start(&w, 300, NULL);
    world_install(&w);
    listens_start(&l, &w);
    listens_await(&l, "/status", 200, "\"phase\":\"live\"");
    rowferry_run(&result, w.config, "status", "--json", NULL);
    struct json_object *command = json_tokener_parse(result.out);
    struct json_object *status = reply_json(200, "GET", l.url, "/status", NULL, NULL);
    struct json_object *pipeline =
        json_object_array_get_idx(json_object_object_get(status, "pipelines"), 0);
    ck_assert_ptr_nonnull(command);
    json_object_object_foreach(command, name, value)
    {
        ck_assert_msg(json_object_object_get_ex(pipeline, name, NULL), "no \"%s\"", name);
        if (strcmp(name, "generation") == 0 || strcmp(name, "alias") == 0 ||
            strcmp(name, "holder") == 0 || strcmp(name, "pipeline") == 0) {
            ck_assert_str_eq(json_object_get_string(value),
                             json_object_get_string(json_object_object_get(pipeline, name)));
        }
    }
    ck_assert(json_object_object_get_ex(pipeline, "live", NULL));
    json_object_put(status);
    json_object_put(command);
    program_result_release(&result);
    end_run(&l.program);
    world_stop(&w);
}
END_TEST

START_TEST(a_service_that_is_away_is_not_ready_and_then_is)
{
    struct world w;
    struct listens l;
    world_start(&w, 100, NULL);
    world_install(&w);
    listens_start(&l, &w);
    world_fault(&w, "{\"status\":503}");
    set_title(&w, 5, "later");
    listens_await(&l, "/readyz", 503, "the service answers, but accepts nothing");
    listens_expect(&l, "/healthz", 200, "ok\n");
    listens_expect(&l, "/metrics", 200, "rowferry_service_up{pipeline=\"articles\"} 0\n");
    json_object_put(reply_json(200, "DELETE", w.service.url, "/_devsearch/faults", NULL,
                               "ApiKey " WORLD_API_KEY));
    listens_await(&l, "/readyz", 200, "ready\n");
    await_title(&w, 5, "later");
    end_run(&l.program);
    world_stop(&w);
}
END_TEST

START_TEST(a_pipeline_that_stopped_is_shown_beside_one_that_goes_on)
{
    struct world w;
    struct listens l;
    world_start(&w, 100, NULL);
    world_pipeline(&w, "\"on_schema_change\": \"stop\"}, {\"name\": \"authors\", \"from\": "
                       "{\"table\": \"public.authors\"}, \"to\": {\"index\": \"shop-authors\", "
                       "\"mappings\": {\"properties\": {\"name\": {\"type\": \"text\"}}}}");
    sql_exec(w.conn, "create table authors (id bigint primary key, name text);"
                     "insert into authors values (1, 'one')");
    world_install(&w);
    listens_start(&l, &w);
    listens_await(&l, "/readyz", 200, "authors: following");
    sql_exec(w.conn, "drop table authors");
    listens_await(&l, "/readyz", 503, "not ready: authors: stopped with exit code 1: ");
    listens_expect(&l, "/readyz", 503, "\narticles: following\n");
    listens_expect(&l, "/metrics", 200, "rowferry_up{pipeline=\"authors\"} 0\n");
    listens_expect(&l, "/metrics", 200, "rowferry_up{pipeline=\"articles\"} 1\n");
    listens_expect(&l, "/healthz", 200, "ok\n");
    listens_await(&l, "/status", 200, "\"stopped\":true");
    struct program_result result;
    stop_run(&l.program, SIGTERM, 1, &result);
    program_result_release(&result);
    world_stop(&w);
}
END_TEST

START_TEST(one_that_stops_in_its_first_round_has_a_state_and_a_next_step)
{
    struct world w;
    struct listens l;
    struct program_result result;
    world_start(&w, 10, NULL);
    world_install(&w);
    sql_exec(w.conn, "alter table articles rename to gone");
    ck_assert_int_eq(setenv("ROWFERRY_LISTEN", "127.0.0.1:0", 1), 0);
    rowferry_start(&l.program, w.config, "run", NULL);
    ck_assert_int_eq(unsetenv("ROWFERRY_LISTEN"), 0);
    program_await(&l.program, "event=stopped", WAIT_MS);
    listens_find(&l);
    listens_await(&l, "/status", 200, "\"state\":\"stalled\"");
    listens_await(&l, "/status", 200, "\"next\":\"correct what it names");
    sql_exec(w.conn, "alter table gone rename to articles");
    listens_await(&l, "/readyz", 200, "articles: following");
    listens_await(&l, "/status", 200, "\"equal_as_of\":\"2");
    sql_exec(w.conn, "alter table articles disable trigger user");
    listens_await(&l, "/status", 200, "\"state\":\"stalled\",\"equal_as_of\":null");
    stop_run(&l.program, SIGTERM, 1, &result);
    program_result_release(&result);
    world_stop(&w);
}
END_TEST

START_TEST(it_answers_through_a_hangup_and_not_after_the_end)
{
    struct world w;
    struct listens l;
    struct reply reply;
    world_start(&w, 100, NULL);
    world_install(&w);
    listens_start(&l, &w);
    program_signal(&l.program, SIGHUP);
    program_await(&l.program, "event=configuration_read", WAIT_MS);
    listens_await(&l, "/readyz", 200, "articles: following");
    set_title(&w, 5, "again");
    await_metric(&l, "rowferry_upserts_total{pipeline=\"articles\"} 101\n");
    end_run(&l.program);
    reply_get(&reply, "GET", l.url, "/healthz", NULL, NULL);
    ck_assert_int_eq(reply.status, 0);
    reply_release(&reply);
    world_stop(&w);
}
END_TEST

START_TEST(an_address_that_is_taken_or_not_ours_ends_it_before_anything_begins)
{
    struct world w;
    struct listens l;
    struct program_result result;
    world_start(&w, 100, NULL);
    world_install(&w);
    listens_start(&l, &w);
    ck_assert_int_eq(setenv("ROWFERRY_LISTEN", strstr(l.url, "127."), 1), 0);
    rowferry_run(&result, w.config, "run", NULL);
    ck_assert_msg(result.exit_code == 5, "%d %s", result.exit_code, result.err);
    expect_text(result.err, "is held by process"); /* not the address: that is the same process */
    program_result_release(&result);
    ck_assert_int_eq(setenv("ROWFERRY_LISTEN", "192.0.2.1:9187", 1), 0);
    rowferry_run(&result, w.config, "run", NULL);
    ck_assert_msg(result.exit_code == 2, "%d %s", result.exit_code, result.err);
    expect_text(result.err, "cannot listen on \"192.0.2.1:9187\"");
    program_result_release(&result);
    end_run(&l.program);
    ck_assert_int_eq(setenv("ROWFERRY_LISTEN", strstr(w.service.url, "127."), 1), 0);
    rowferry_run(&result, w.config, "run", NULL);
    ck_assert_msg(result.exit_code == 6, "%d %s", result.exit_code, result.err);
    expect_text(result.err, "another process listens there");
    ck_assert_ptr_null(strstr(result.err, "sync_started"));
    program_result_release(&result);
    ck_assert_int_eq(unsetenv("ROWFERRY_LISTEN"), 0);
    world_stop(&w);
}
END_TEST

START_TEST(an_address_that_others_reach_is_warned_of)
{
    struct world w;
    struct program p;
    struct program_result result;
    world_start(&w, 100, NULL);
    world_install(&w);
    ck_assert_int_eq(setenv("ROWFERRY_LISTEN", "0.0.0.0:0", 1), 0);
    rowferry_run(&result, w.config, "check", "--all", "--accept-admin", NULL);
    expect_text(result.out, "\"listen\" is \"0.0.0.0:0\": any client of it can read");
    program_result_release(&result);
    start_run(&w, &p);
    ck_assert_int_eq(unsetenv("ROWFERRY_LISTEN"), 0);
    stop_run(&p, SIGTERM, 0, &result);
    expect_text(result.err, "event=listening_open");
    program_result_release(&result);
    world_stop(&w);
}
END_TEST

static const char parse[] =
    "import sys\n"
    "from prometheus_client.parser import text_string_to_metric_families as families\n"
    "found = {s.name + str(sorted(s.labels.items())): s.value\n"
    "         for f in families(open(sys.argv[1]).read()) for s in f.samples}\n"
    "assert found[\"rowferry_upserts_total[('pipeline', 'articles')]\"] == 100.0, found\n"
    "assert found[\"rowferry_latency_seconds_bucket[('le', '+Inf'), ('pipeline', 'articles')]\"]"
    " == found[\"rowferry_latency_seconds_count[('pipeline', 'articles')]\"], found\n"
    "kinds = {f.name: f.type for f in families(open(sys.argv[1]).read())}\n"
    "assert kinds['rowferry_latency_seconds'] == 'histogram', kinds\n"
    "assert kinds['rowferry_upserts'] == 'counter' and 'unknown' not in kinds.values(), kinds\n"
    "print('parsed', len(found))\n";

START_TEST(an_independent_client_parses_the_metrics)
{
    struct world w;
    struct listens l;
    struct program python;
    struct program_result result;
    world_start(&w, 100, NULL);
    world_install(&w);
    listens_start(&l, &w);
    await_metric(&l, "rowferry_upserts_total{pipeline=\"articles\"} 100\n");
    char *text = listens_get(&l, "/metrics", 200);
    char *file = scratch_write(w.dir, "metrics.txt", text);
    const char *const argv[] = {"/usr/bin/python3", "-c", parse, file, NULL};
    program_start(&python, argv, NULL);
    program_finish(&python, WAIT_MS, &result);
    if (strstr(result.err, "No module named 'prometheus_client'") != NULL ||
        result.exit_code == 127) {
        printf("skip: python3-prometheus-client is not installed\n");
    } else {
        ck_assert_msg(result.exit_code == 0, "%s%s", result.out, result.err);
        expect_text(result.out, "parsed ");
    }
    program_result_release(&result);
    free(file);
    free(text);
    end_run(&l.program);
    world_stop(&w);
}
END_TEST

SUITE_MAIN("run/listen", what_changes_is_counted_and_told, status_says_what_the_command_says,
           a_service_that_is_away_is_not_ready_and_then_is,
           a_pipeline_that_stopped_is_shown_beside_one_that_goes_on,
           one_that_stops_in_its_first_round_has_a_state_and_a_next_step,
           it_answers_through_a_hangup_and_not_after_the_end,
           an_address_that_is_taken_or_not_ours_ends_it_before_anything_begins,
           an_address_that_others_reach_is_warned_of, an_independent_client_parses_the_metrics)
