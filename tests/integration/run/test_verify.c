/* SPDX-License-Identifier: Apache-2.0 */
/* run compares index and table by schedule: documents lost by a service are restored
 * automatically. */
#include <unistd.h>

#include "rowferry/base/buf.h"
#include "runs.h"

#define AUTH "ApiKey " WORLD_API_KEY

static bool has_document(const struct world *w, int64_t id)
{
    char path[128];
    struct reply reply;
    snprintf(path, sizeof(path), "/shop-articles/_doc/%lld", (long long)id);
    reply_get(&reply, "GET", w->service.url, path, NULL, AUTH);
    bool has = reply.status == 200;
    reply_release(&reply);
    return has;
}

/* Deletes a document without the program's knowledge. */
static void document_goes(const struct world *w, int64_t id)
{
    char path[128];
    snprintf(path, sizeof(path), "/shop-articles/_doc/%lld", (long long)id);
    json_object_put(reply_json(200, "DELETE", w->service.url, path, NULL, AUTH));
}

static void document_comes(const struct world *w, int64_t id, const char *title, int status)
{
    char path[128];
    char body[128];
    snprintf(path, sizeof(path), "/shop-articles/_doc/%lld", (long long)id);
    snprintf(body, sizeof(body), "{\"source_id\":\"%lld\",\"title\":\"%s\"}", (long long)id, title);
    json_object_put(reply_json(status, "PUT", w->service.url, path, body, AUTH));
}

static void documents_come_at_once(const struct world *w, int64_t id, int64_t count)
{
    struct reply reply;
    struct buf body;
    buf_init(&body, 65536);
    for (int64_t i = id; i < id + count; i++) {
        buf_printf(&body, "{\"index\":{\"_id\":\"%lld\"}}\n{\"source_id\":\"%lld\"}\n",
                   (long long)i, (long long)i);
    }
    reply_get(&reply, "POST", w->service.url, "/shop-articles/_bulk", buf_text(&body), AUTH);
    ck_assert_msg(reply.status == 200 && strstr(reply.body, "\"errors\":false") != NULL, "%s",
                  reply.body);
    reply_release(&reply);
    buf_release(&body);
}

/* Returns the last comparison in the status, or null. */
static struct json_object *last_verify(const struct world *w, struct json_object **status)
{
    struct program_result result;
    rowferry_run(&result, w->config, "status", "--json", NULL);
    ck_assert_msg(result.exit_code == 0, "%s%s", result.out, result.err);
    *status = json_tokener_parse(result.out);
    program_result_release(&result);
    return json_object_object_get(*status, "verified");
}

static int64_t verified_int(const struct world *w, const char *member)
{
    struct json_object *status;
    struct json_object *verified = last_verify(w, &status);
    int64_t value =
        verified != NULL ? json_object_get_int64(json_object_object_get(verified, member)) : -1;
    json_object_put(status);
    return value;
}

/* Waits until a whole comparison has found no difference, so earlier repairs are settled. */
static void await_clean(const struct world *w)
{
    struct deadline deadline = deadline_after(WAIT_MS);
    struct json_object *status;
    struct json_object *verified = last_verify(w, &status);
    char *before = strdup(json_object_get_string(json_object_object_get(verified, "ended")));
    json_object_put(status);
    for (bool clean = false; !clean;) {
        verified = last_verify(w, &status);
        const char *ended = json_object_get_string(json_object_object_get(verified, "ended"));
        clean = strcmp(ended, before) != 0;
        static const char *const kinds[] = {"missing", "extra", "altered"};
        for (size_t i = 0; i < 3; i++) {
            clean = clean && json_object_get_int64(json_object_object_get(verified, kinds[i])) == 0;
        }
        json_object_put(status);
        ck_assert_msg(clean || deadline_wait(&deadline), "no comparison found nothing");
    }
    free(before);
}

static void await_verified(const struct world *w, const char *member, int64_t value)
{
    struct deadline deadline = deadline_after(WAIT_MS);
    while (verified_int(w, member) != value) {
        ck_assert_msg(deadline_wait(&deadline), "the last comparison never had %s %lld", member,
                      (long long)value);
    }
}

/* Starts a run and waits for the end of its first comparison. */
static void start_verified(struct world *w, struct program *p, long rows, const char *members)
{
    world_start(w, rows, NULL);
    world_pipeline(w, members);
    world_install(w);
    start_run(w, p);
    await_verified(w, "rows", rows);
}

START_TEST(what_the_service_loses_behind_its_back_comes_back)
{
    struct world w;
    struct program p;
    struct program_result result;
    start_verified(&w, &p, 3000, "\"verify\": {\"every\": \"1s\", \"repair\": true}");
    ck_assert_int_eq(verified_int(&w, "missing"), 0);
    document_goes(&w, 17);
    document_goes(&w, 2900);
    document_comes(&w, 50, "altered", 200);
    document_comes(&w, 900000, "nobody's", 201);
    json_object_put(reply_json(200, "POST", w.service.url, "/shop-articles/_refresh", NULL, AUTH));
    struct deadline deadline = deadline_after(WAIT_MS);
    while (!has_document(&w, 17) || !has_document(&w, 2900) ||
           !has_title(w.service.url, "shop-articles", 50, "title 50") || has_document(&w, 900000)) {
        ck_assert(deadline_wait(&deadline));
    }
    await_clean(&w);
    set_title(&w, 5, "and goes on");
    await_title(&w, 5, "and goes on");
    world_expect_equal(&w);
    stop_run(&p, SIGTERM, 0, &result);
    expect_text(result.err, "event=verify_repaired pipeline=articles sent=");
    program_result_release(&result);
    world_sync(&w, 0, &result);
    ck_assert_int_eq(program_json_int(&result, "operations"), 0);
    program_result_release(&result);
    world_stop(&w);
}
END_TEST

START_TEST(without_repair_differences_are_only_told)
{
    struct world w;
    struct program p;
    struct program_result result;
    start_verified(&w, &p, 200, "\"verify\": {\"every\": \"1s\"}");
    document_goes(&w, 17);
    await_verified(&w, "missing", 1);
    ck_assert_int_eq(verified_int(&w, "sent"), 0);
    ck_assert(!has_document(&w, 17));
    rowferry_run(&result, w.config, "status", NULL);
    expect_text(result.out, "Z: differed, 1 missing; 200 rows in ");
    expect_text(result.out, "the last comparison differed\n");
    expect_text(result.out, "next          rowferry verify --repair articles\n");
    program_result_release(&result);
    rowferry_run(&result, w.config, "status", "--json", NULL);
    expect_text(result.out, "\"next\":\"rowferry verify --repair articles\"");
    program_result_release(&result);
    stop_run(&p, SIGTERM, 0, &result);
    expect_text(result.err, "warn event=verify_ended pipeline=articles rows=200 ");
    program_result_release(&result);
    world_stop(&w);
}
END_TEST

START_TEST(a_restart_does_not_compare_before_it_is_due)
{
    struct world w;
    struct program p;
    struct program_result result;
    start_verified(&w, &p, 100, "\"verify\": {\"every\": \"1h\", \"repair\": true}");
    end_run(&p);
    start_run(&w, &p);
    set_title(&w, 5, "again");
    await_title(&w, 5, "again");
    stop_run(&p, SIGTERM, 0, &result);
    ck_assert_msg(strstr(result.err, "verify_started") == NULL, "%s", result.err);
    program_result_release(&result);
    world_stop(&w);
}
END_TEST

/* Changes held back by the guard are neither equal nor repairable. */
START_TEST(what_waits_for_the_guard_is_not_concluded)
{
    struct world w;
    struct program p;
    struct program_result result;
    start_verified(&w, &p, 1000, "\"verify\": {\"every\": \"1s\", \"repair\": true}");
    sql_exec(w.conn, "delete from articles where source_id <= 900");
    await_verified(&w, "waiting", 900);
    rowferry_run(&result, w.config, "status", NULL);
    expect_text(result.out, "Z: not known yet, 900 not yet synced; 100 rows in ");
    program_result_release(&result);
    program_signal(&p, SIGTERM);
    program_finish(&p, WAIT_MS, &result);
    program_result_release(&result);
    world_stop(&w);
}
END_TEST

/* The delete guard also applies to comparisons. */
START_TEST(many_extra_documents_stay_and_are_named)
{
    struct world w;
    struct program p;
    start_verified(&w, &p, 100,
                   "\"verify\": {\"every\": \"1s\", \"repair\": true}, \"delete_guard\": "
                   "{\"count\": 2, \"share\": 0.01}");
    documents_come_at_once(&w, 900000,
                           5); /* otherwise a comparison may find few enough, and repair them */
    document_goes(&w, 17);
    await_verified(&w, "extra", 5);
    struct deadline deadline = deadline_after(WAIT_MS);
    while (!has_document(&w, 17)) {
        ck_assert(deadline_wait(&deadline));
    }
    struct json_object *status;
    struct json_object *verified = last_verify(&w, &status);
    expect_text(json_object_get_string(json_object_object_get(verified, "message")),
                "the guard stopped the deletion of 5 extra documents");
    json_object_put(status);
    ck_assert(has_document(&w, 900000));
    end_run(&p);
    world_stop(&w);
}
END_TEST

START_TEST(a_service_that_is_away_fails_a_comparison_and_no_replication)
{
    struct world w;
    struct program p;
    world_start(&w, 100, NULL);
    w.members = "\"verify\": {\"every\": \"1s\", \"repair\": true}";
    world_configure(&w, RUNS_PROPERTIES, "\"retry_budget\": \"1s\"");
    world_install(&w);
    start_run(&w, &p);
    await_verified(&w, "rows", 100);
    world_fault(&w, "{\"status\":503,\"path\":\"shop-articles\"}");
    await_verified(&w, "failed", 1);
    json_object_put(reply_json(200, "DELETE", w.service.url, "/_devsearch/faults", NULL, AUTH));
    await_verified(&w, "failed", 0);
    set_title(&w, 5, "back");
    await_title(&w, 5, "back");
    end_run(&p);
    world_stop(&w);
}
END_TEST

SUITE_MAIN("run/verify", what_the_service_loses_behind_its_back_comes_back,
           without_repair_differences_are_only_told, a_restart_does_not_compare_before_it_is_due,
           many_extra_documents_stay_and_are_named,
           a_service_that_is_away_fails_a_comparison_and_no_replication,
           what_waits_for_the_guard_is_not_concluded)
