/* SPDX-License-Identifier: Apache-2.0 */
/* A pipeline into a data stream: new documents are added once, existing ones stay. */
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "compare.h"
#include "http.h"
#include "sql.h"
#include "suite.h"
#include "wait.h"
#include "world.h"

#define AUTHORIZATION "ApiKey " WORLD_API_KEY
#define NAME "shop-articles"
#define PROPERTIES                                                                                 \
    "\"title\":{\"type\":\"text\"},\"@timestamp\":{\"type\":\"date\"},\"source_id\":{\"type\":"    \
    "\"keyword\"}"

static void configure(struct world *w, const char *properties)
{
    w->to = "\"kind\":\"data_stream\"";
    w->members = "\"fields\":{\"@timestamp\":\"updated_at\"}";
    world_configure(w, properties, SMALL_WINDOW);
}

static void start(struct world *w, long rows)
{
    world_start(w, rows, NULL);
    configure(w, PROPERTIES);
    sql_exec(w->conn, "create view as_added as select source_id, title, updated_at as "
                      "\"@timestamp\" from articles");
    world_install(w);
}

static void add(struct world *w, long from, long to)
{
    sql_exec(w->conn,
             "insert into articles (source_id, title) select i, 'added ' || i from "
             "generate_series(%ld, %ld) i",
             from, to);
}

static void expect_added(struct world *w, int64_t rows)
{
    char *query = compare_table("as_added", "source_id");
    expect_equal(rows, w->conn, query, w->service.url, NAME, AUTHORIZATION);
    free(query);
}

static void say(struct world *w, int status, const char *method, const char *path, const char *body)
{
    json_object_put(reply_json(status, method, w->service.url, path, body, AUTHORIZATION));
}

/* Runs sync --json; expects these numbers of documents added and already present. */
static void sync_counts(struct world *w, int exit_code, int64_t upserts, int64_t present)
{
    struct program_result result;
    world_sync(w, exit_code, &result);
    ck_assert_msg(program_json_int(&result, "upserts") == upserts, "%s", result.out);
    ck_assert_msg(program_json_int(&result, "present") == present, "%s", result.out);
    program_result_release(&result);
}

START_TEST(rows_are_added_and_a_rollover_is_no_surprise)
{
    struct world w;
    start(&w, 3000);
    sync_counts(&w, 0, 3000, 0);
    expect_added(&w, 3000);
    say(&w, 200, "GET", "/_index_template/rowferry-" NAME, NULL);
    add(&w, 3001, 3100);
    sync_counts(&w, 0, 100, 0);
    say(&w, 200, "POST", "/" NAME "/_rollover", NULL);
    add(&w, 3101, 3110);
    sync_counts(&w, 0, 10, 0);
    expect_added(&w, 3110);
    rowferry_expect(0, w.config, "verify", NULL);
    /* retention deletes the first one, but it is still the same stream */
    say(&w, 200, "DELETE", "/.ds-" NAME "-000001", NULL);
    sync_counts(&w, 0, 0, 0);
    sql_exec(w.conn, "delete from articles where source_id <= 3100");
    sync_counts(&w, 0, 0, 0); /* there is nothing to delete either */
    expect_added(&w, 10);
    world_stop(&w);
}
END_TEST

/* point: "ROWFERRY_FAILPOINT=<name>=kill" */
static void sync_dies(const struct world *w, const char *point)
{
    const char *const argv[] = {getenv("ROWFERRY_PROGRAM"), "-c", w->config, "sync", NULL};
    const char *const env[] = {point, NULL};
    struct program p;
    struct program_result result;
    program_start(&p, argv, env);
    program_finish(&p, WAIT_MS, &result);
    ck_assert_msg(result.exit_code == 128 + SIGKILL, "%s: %d %s", point, result.exit_code,
                  result.err);
    program_result_release(&result);
    world_await_free(w);
}

START_TEST(what_is_sent_again_is_there_once)
{
    static const char *const points[] = {"ROWFERRY_FAILPOINT=bulk_sent=kill",
                                         "ROWFERRY_FAILPOINT=batch_answered=kill",
                                         "ROWFERRY_FAILPOINT=checkpoint_before_commit=kill"};
    struct world w;
    struct program_result result;
    start(&w, 2000);
    for (size_t i = 0; i < sizeof(points) / sizeof(points[0]); i++) {
        sync_dies(&w, points[i]);
    }
    world_fault(&w, "{\"close\":\"after\",\"count\":2}");
    world_sync(&w, 0, &result);
    ck_assert_int_gt(program_json_int(&result, "present"), 0);
    expect_text(result.err, "event=already_there pipeline=articles index=" NAME);
    program_result_release(&result);
    expect_added(&w, 2000);
    rowferry_expect(0, w.config, "verify", NULL);
    world_stop(&w);
}
END_TEST

/* Waits, because the server's statistics are delayed. */
static void await_statistics(const struct world *w)
{
    struct deadline d = deadline_after(WAIT_MS);
    char *seen = NULL;
    do {
        free(seen);
        seen = sql_text(w->conn, "select n_tup_upd + n_tup_del >= 2 from pg_stat_user_tables "
                                 "where relname = 'articles'");
    } while (strcmp(seen, "t") != 0 && deadline_wait(&d));
    ck_assert_str_eq(seen, "t");
    free(seen);
}

START_TEST(an_updated_row_keeps_its_document_and_a_deleted_one_is_a_dead_letter)
{
    struct world w;
    struct program_result result;
    start(&w, 50);
    sync_counts(&w, 0, 50, 0);
    sql_exec(w.conn, "update articles set title = 'other' where source_id = 7;"
                     "delete from articles where source_id = 9");
    sync_counts(&w, 3, 0, 1);
    rowferry_run(&result, w.config, "deadletter", "list", NULL);
    expect_text(result.out, "the row is gone, and a data stream takes no deletes");
    program_result_release(&result);
    rowferry_run(&result, w.config, "verify", "--repair", NULL);
    ck_assert_int_eq(result.exit_code, 4);
    expect_text(result.out, "1 altered, 1 dead letter");
    expect_text(result.err, "1 difference stays: a data stream takes no updates and no deletes");
    program_result_release(&result);
    rowferry_run(&result, w.config, "resync", "7", NULL);
    expect_text(result.out, "1 document already there");
    program_result_release(&result);
    await_statistics(&w);
    rowferry_run(&result, w.config, "check", "--all", "--accept-admin", NULL);
    ck_assert_int_eq(result.exit_code, 4);
    expect_text(result.out,
                "rows of \"public\".\"articles\" change or go: 1 updates and 1 deletes");
    program_result_release(&result);
    world_stop(&w);
}
END_TEST

START_TEST(a_stream_that_is_gone_is_filled_again)
{
    struct world w;
    struct program_result result;
    start(&w, 300);
    sync_counts(&w, 0, 300, 0);
    add(&w, 301, 301);
    world_fault(&w, "{\"items\":[404],\"count\":1}");
    world_sync_says(&w, 1, "the next sync fills the data stream again: rowferry sync articles");
    sync_counts(&w, 0, 1, 0);
    say(&w, 200, "DELETE", "/_data_stream/" NAME, NULL);
    world_sync(&w, 0, &result);
    expect_text(result.err, "event=generation_abandoned pipeline=articles index=" NAME
                            " error=\"it no longer exists\"");
    program_result_release(&result);
    expect_added(&w, 301);
    /* another client writes first, so the template creates the stream again */
    say(&w, 200, "DELETE", "/_data_stream/" NAME, NULL);
    say(&w, 200, "PUT", "/_data_stream/" NAME, NULL);
    world_sync_says(&w, 0, "it was deleted and created again");
    expect_added(&w, 301);
    world_stop(&w);
}
END_TEST

START_TEST(a_living_run_goes_on_after_the_stream_was_deleted)
{
    struct world w;
    struct program run;
    struct program_result result;
    start(&w, 300);
    sync_counts(&w, 0, 300, 0);
    rowferry_start(&run, w.config, "run", NULL);
    program_await(&run, "event=following", WAIT_MS);
    say(&w, 200, "DELETE", "/_data_stream/" NAME, NULL);
    program_await(&run, "event=generation_live", WAIT_MS);
    add(&w, 301, 310);
    world_await_settled(&w);
    program_signal(&run, SIGTERM);
    program_finish(&run, WAIT_MS, &result);
    ck_assert_int_eq(result.exit_code, 0);
    program_result_release(&result);
    expect_added(&w, 310);
    world_stop(&w);
}
END_TEST

START_TEST(what_is_somebody_elses_is_refused)
{
    static const char theirs[] = "{\"index_patterns\":[\"shop*\"],\"priority\":900,"
                                 "\"data_stream\":{},\"template\":{\"mappings\":{\"properties\":{"
                                 "\"title\":{\"type\":\"text\"}}}}}";
    static const char whole[] = "{\"index_patterns\":[\"shop*\"],\"priority\":900,"
                                "\"data_stream\":{},\"template\":{\"mappings\":{\"properties\":{"
                                "\"title\":{\"type\":\"text\"},\"@timestamp\":{\"type\":\"date\"},"
                                "\"source_id\":{\"type\":\"keyword\"}}}}}";
    struct world w;
    start(&w, 20);
    say(&w, 200, "PUT", "/_index_template/theirs", theirs);
    world_sync_says(&w, 1,
                    "index template \"theirs\", which makes data streams of \"" NAME
                    "\", does not map property \"source_id\"");
    say(&w, 200, "PUT", "/_index_template/theirs", whole);
    say(&w, 200, "PUT", "/_data_stream/" NAME, NULL);
    say(&w, 201, "PUT", "/" NAME "/_create/x", "{\"@timestamp\":\"2026-01-01\"}");
    say(&w, 200, "POST", "/" NAME "/_refresh", NULL);
    world_sync_says(&w, 1, "holds documents that pipeline \"articles\" did not write");
    say(&w, 200, "DELETE", "/_data_stream/" NAME, NULL);
    say(&w, 200, "PUT", "/_data_stream/" NAME, NULL);
    sync_counts(&w, 0, 20, 0); /* an empty one may be adopted */
    say(&w, 200, "POST", "/" NAME "/_rollover", NULL);
    add(&w, 21, 30);
    sync_counts(&w, 0, 10, 0);
    expect_added(&w, 30);
    world_stop(&w);
}
END_TEST

START_TEST(an_index_of_the_name_and_a_stream_for_an_index_are_refused)
{
    struct world w;
    start(&w, 20);
    say(&w, 200, "PUT", "/" NAME, "{}");
    world_sync_says(&w, 1,
                    "is already the name of an index or alias, so no data stream can have it");
    say(&w, 200, "DELETE", "/" NAME, NULL);
    sync_counts(&w, 0, 20, 0);
    say(&w, 200, "DELETE", "/_data_stream/" NAME, NULL);
    say(&w, 200, "DELETE", "/_index_template/rowferry-" NAME, NULL);
    say(&w, 200, "PUT", "/" NAME, "{}");
    world_sync_says(&w, 1,
                    "is already the name of an index or alias, so no data stream can have it");
    say(&w, 200, "DELETE", "/" NAME, NULL);
    sync_counts(&w, 0, 20, 0);
    w.to = NULL;
    w.members = NULL;
    world_configure(&w, WORLD_PROPERTIES, "");
    world_sync_says(&w, 1, "is already the name of a data stream, so no alias can have it");
    world_stop(&w);
}
END_TEST

START_TEST(a_truncate_stops_and_is_permitted_without_a_delete)
{
    struct world w;
    struct program_result result;
    start(&w, 200);
    sync_counts(&w, 0, 200, 0);
    sql_exec(w.conn, "truncate articles");
    add(&w, 1001, 1010);
    world_sync(&w, 1, &result);
    expect_text(result.err, "the guard stopped the pipeline");
    expect_text(result.err, "a data stream takes no deletes: they stay");
    program_result_release(&result);
    rowferry_run(&result, w.config, "sync", "--allow-deletes", NULL);
    ck_assert_msg(result.exit_code == 0, "%s%s", result.out, result.err);
    expect_text(result.err, "event=documents_stay pipeline=articles index=" NAME);
    program_result_release(&result);
    sync_counts(&w, 0, 0, 0);
    say(&w, 200, "POST", "/" NAME "/_refresh", NULL);
    struct json_object *count =
        reply_json(200, "GET", w.service.url, "/" NAME "/_count", NULL, AUTHORIZATION);
    ck_assert_int_eq(json_object_get_int(json_object_object_get(count, "count")), 210);
    json_object_put(count);
    world_stop(&w);
}
END_TEST

START_TEST(a_property_that_is_added_reaches_template_and_stream)
{
    struct world w;
    struct program_result result;
    start(&w, 20);
    sync_counts(&w, 0, 20, 0);
    configure(&w, PROPERTIES ",\"published\":{\"type\":\"boolean\"}");
    sync_counts(&w, 0, 0, 0);
    say(&w, 200, "POST", "/" NAME "/_rollover", NULL);
    sql_exec(w.conn, "insert into articles (source_id, title, published) values (21, 'x', true)");
    sync_counts(&w, 0, 1, 0);
    configure(&w, PROPERTIES ",\"published\":{\"type\":\"keyword\"}");
    world_sync_says(&w, 1, "or fill a new data stream");
    rowferry_run(&result, w.config, "check", "--all", NULL);
    expect_text(result.out, "restore its former definition, or fill a new data stream");
    program_result_release(&result);
    world_stop(&w);
}
END_TEST

START_TEST(a_first_load_that_begins_again_keeps_its_place_in_the_source)
{
    struct world w;
    struct program_result result;
    start(&w, 500);
    sync_dies(&w, "ROWFERRY_FAILPOINT=bulk_sent=kill");
    configure(&w, PROPERTIES ",\"published\":{\"type\":\"boolean\"}");
    world_sync(&w, 0, &result);
    expect_text(result.err, "event=generation_abandoned");
    ck_assert_msg(strstr(result.err, "release_failed") == NULL, "%s", result.err);
    program_result_release(&result);
    add(&w, 501, 510);
    sync_counts(&w, 0, 10, 0);
    world_stop(&w);
}
END_TEST

START_TEST(a_data_stream_is_not_built_anew)
{
    struct world w;
    struct program_result result;
    start(&w, 20);
    sync_counts(&w, 0, 20, 0);
    rowferry_run(&result, w.config, "reindex", NULL);
    ck_assert_int_eq(result.exit_code, 2);
    expect_text(result.err, "is a data stream, which is never rebuilt");
    program_result_release(&result);
    rowferry_expect(2, w.config, "reindex", "--rollback", NULL);
    rowferry_expect(0, w.config, "smoke", NULL);
    rowferry_run(&result, w.config, "document", "5", NULL);
    expect_text(result.out, "{\"create\":{\"_id\":\"5\"}}\n{\"source_id\":\"5\",");
    program_result_release(&result);
    world_stop(&w);
}
END_TEST

START_TEST(without_its_state_file_it_goes_on_where_the_source_says)
{
    struct world w;
    struct program_result result;
    start(&w, 500);
    sync_counts(&w, 0, 500, 0);
    char *other = world_config_of_another(&w);
    add(&w, 501, 510);
    rowferry_run(&result, other, "sync", "--json", NULL);
    ck_assert_msg(result.exit_code == 0, "%s%s", result.out, result.err);
    ck_assert_int_eq(program_json_int(&result, "upserts"), 10);
    ck_assert_int_eq(program_json_int(&result, "present"), 0);
    program_result_release(&result);
    expect_added(&w, 510);
    free(other);
    world_stop(&w);
}
END_TEST

SUITE_MAIN("sync/stream", rows_are_added_and_a_rollover_is_no_surprise,
           what_is_sent_again_is_there_once,
           an_updated_row_keeps_its_document_and_a_deleted_one_is_a_dead_letter,
           a_stream_that_is_gone_is_filled_again, a_living_run_goes_on_after_the_stream_was_deleted,
           what_is_somebody_elses_is_refused,
           an_index_of_the_name_and_a_stream_for_an_index_are_refused,
           a_truncate_stops_and_is_permitted_without_a_delete,
           a_property_that_is_added_reaches_template_and_stream,
           a_first_load_that_begins_again_keeps_its_place_in_the_source,
           a_data_stream_is_not_built_anew, without_its_state_file_it_goes_on_where_the_source_says)
