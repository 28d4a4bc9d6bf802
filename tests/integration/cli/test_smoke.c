/* SPDX-License-Identifier: Apache-2.0 */
/* smoke: its steps, its refusals, and that it leaves nothing behind. */
#include <json-c/json.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "http.h"
#include "suite.h"
#include "wait.h"
#include "world.h"

/* Expects that no index matches the pattern. */
static void expect_none(const struct world *w, const char *pattern)
{
    char path[128];
    snprintf(path, sizeof(path), "/%s?expand_wildcards=all", pattern);
    struct json_object *found =
        reply_json(200, "GET", w->service.url, path, NULL, "ApiKey " WORLD_API_KEY);
    ck_assert_msg(json_object_object_length(found) == 0, "left: %s",
                  json_object_to_json_string(found));
    json_object_put(found);
}

/* Expects the exit code, and the text on one of the two streams. */
static void smoke(const struct world *w, const char *option, const char *value, int exit_code,
                  const char *text)
{
    struct program_result r;
    rowferry_run(&r, w->config, "smoke", option, value, NULL);
    ck_assert_msg(r.exit_code == exit_code, "%d: %s%s", r.exit_code, r.out, r.err);
    ck_assert_msg(strstr(r.out, text) != NULL || strstr(r.err, text) != NULL, "no \"%s\" in:\n%s%s",
                  text, r.out, r.err);
    program_result_release(&r);
}

START_TEST(one_document_is_indexed_found_and_removed)
{
    struct world w;
    struct program_result r;
    world_start(&w, 0, NULL);
    rowferry_run(&r, w.config, "smoke", NULL);
    ck_assert_msg(r.exit_code == 0, "%s%s", r.out, r.err);
    expect_text(r.out, "articles: OpenSearch");
    expect_text(r.out, "index shop-articles-smoke-");
    expect_text(r.out, "PASS  create ");
    expect_text(r.out, "created, searchable by refresh=wait_for; _id ");
    expect_text(r.out, "PASS  search ");
    expect_text(r.out, "PASS  delete ");
    program_result_release(&r);
    expect_none(&w, "shop-articles-smoke-*");
    smoke(&w, "--implicit", NULL, 0, "PASS  delete ");
    expect_none(&w, "shop-articles-smoke-*");
    smoke(&w, "--index", "shop-articles-try", 0, "index shop-articles-try\n");
    expect_none(&w, "shop-articles-tr*");
    world_stop(&w);
}
END_TEST

START_TEST(as_json_it_is_an_object_with_the_time_of_each_step)
{
    struct world w;
    struct program_result r;
    world_start(&w, 0, NULL);
    rowferry_run(&r, w.config, "smoke", "--json", NULL);
    ck_assert_int_eq(r.exit_code, 0);
    struct json_object *tree = json_tokener_parse(r.out);
    struct json_object *steps = json_object_object_get(tree, "steps");
    ck_assert_uint_eq(json_object_array_length(steps), 4);
    for (size_t i = 0; i < 4; i++) {
        struct json_object *step = json_object_array_get_idx(steps, i);
        ck_assert(json_object_get_boolean(json_object_object_get(step, "ok")));
        ck_assert(json_object_is_type(json_object_object_get(step, "milliseconds"), json_type_int));
    }
    json_object_put(tree);
    program_result_release(&r);
    world_stop(&w);
}
END_TEST

START_TEST(a_name_that_exists_is_refused_and_left_alone)
{
    struct world w;
    world_start(&w, 0, NULL);
    json_object_put(reply_json(200, "PUT", w.service.url, "/precious", "{\"aliases\":{\"gem\":{}}}",
                               "ApiKey " WORLD_API_KEY));
    smoke(&w, "--index", "precious", 1, "the name \"precious\" is taken");
    smoke(&w, "--index", "gem", 1, "the name \"gem\" is taken");
    json_object_put(
        reply_json(200, "GET", w.service.url, "/precious", NULL, "ApiKey " WORLD_API_KEY));
    smoke(&w, "--index", "Precious", 2, "\"Precious\"");
    world_stop(&w);
}
END_TEST

START_TEST(an_implicit_index_that_exists_is_refused_and_left_alone)
{
    struct world w;
    struct program_result r;
    world_start(&w, 0, NULL);
    json_object_put(reply_json(200, "PUT", w.service.url, "/precious", "{\"aliases\":{\"gem\":{}}}",
                               "ApiKey " WORLD_API_KEY));
    rowferry_run(&r, w.config, "smoke", "--implicit", "--index", "gem", NULL);
    ck_assert_msg(r.exit_code == 1, "%s%s", r.out, r.err);
    expect_text(r.out, "the name \"gem\" is taken");
    program_result_release(&r);
    json_object_put(
        reply_json(200, "GET", w.service.url, "/precious", NULL, "ApiKey " WORLD_API_KEY));
    world_stop(&w);
}
END_TEST

START_TEST(the_index_is_removed_whatever_step_fails)
{
    static const char *const faults[] = {
        "{\"status\":500,\"count\":1,\"path\":\"_doc\"}",
        "{\"status\":500,\"count\":1,\"path\":\"_search\"}",
        "{\"close\":\"middle\",\"count\":1,\"path\":\"_doc\"}",
        "{\"close\":\"middle\",\"count\":1,\"path\":\"shop-articles-smoke\"}",
    };
    struct world w;
    struct program_result r;
    world_start(&w, 0, NULL);
    for (size_t i = 0; i < sizeof(faults) / sizeof(faults[0]); i++) {
        world_fault(&w, faults[i]);
        rowferry_run(&r, w.config, "smoke", NULL);
        ck_assert_msg(r.exit_code == (i < 2 ? 1 : 6), "%zu: %d %s%s", i, r.exit_code, r.out, r.err);
        expect_text(r.out, "FAIL  ");
        program_result_release(&r);
        expect_none(&w, "shop-articles-smoke-*");
    }
    world_fault(&w, "{\"close\":\"middle\",\"count\":1,\"path\":\"_doc\"}");
    smoke(&w, "--implicit", NULL, 6, "PASS  delete ");
    expect_none(&w, "shop-articles-smoke-*");
    world_stop(&w);
}
END_TEST

START_TEST(a_service_that_is_away_ends_with_6)
{
    struct world w;
    world_start(&w, 0, NULL);
    char url[sizeof(w.service.url)];
    snprintf(url, sizeof(url), "%s", w.service.url);
    snprintf(w.service.url, sizeof(w.service.url), "http://127.0.0.1:%d", free_port());
    world_configure(&w, "\"title\":{\"type\":\"text\"}", "");
    smoke(&w, "--implicit", NULL, 6, "articles");
    snprintf(w.service.url, sizeof(w.service.url), "%s", url);
    world_stop(&w);
}
END_TEST

START_TEST(an_interrupt_is_told_and_leaves_nothing)
{
    struct world w;
    struct program p;
    struct program_result r;
    world_start(&w, 0, NULL);
    world_hold(&w, "_doc");
    rowferry_start(&p, w.config, "smoke", NULL);
    world_await_held(&w);
    program_signal(&p, SIGINT);
    world_unfault(&w);
    program_finish(&p, WAIT_MS, &r);
    ck_assert_msg(r.exit_code == 6, "%d: %s%s", r.exit_code, r.out, r.err);
    expect_text(r.err, "interrupted");
    expect_text(r.out, "PASS  delete ");
    program_result_release(&r);
    expect_none(&w, "shop-articles-smoke-*");
    world_stop(&w);
}
END_TEST

/* Kills a command that waits for the answer to this request. */
static void kill_in(struct world *w, const char *request, const char *command)
{
    struct program p;
    struct program_result r;
    world_hold(w, request);
    rowferry_start(&p, w->config, command, NULL);
    world_await_held(w);
    program_signal(&p, SIGKILL);
    program_finish(&p, WAIT_MS, &r);
    program_result_release(&r);
    world_unfault(w);
}

#define MARKS(members) "\"mappings\":{\"_meta\":{\"rowferry\":{" members "}}}"
#define MARKED(members) "{" MARKS(members) "}"

START_TEST(what_killed_trials_left_is_found_and_deleted_and_nothing_else)
{
    static const struct {
        const char *path, *body;
    } others[] = {{"/shop-articles-smoke-0badcafe", "{}"},
                  {"/shop-articles-validate-archive", "{}"},
                  {"/shop-articles-smoke-ffffffff", MARKED("\"smoke\":\"smoke0badcafe0badcafe\"")},
                  {"/shop-articles-validate-ffffffff",
                   MARKED("\"trial\":true,\"pipeline\":\"articles\",\"creator\":\"0badcafe\"")},
                  {"/shop-articles-check-0badcafe",
                   "{\"aliases\":{\"prod\":{}}," MARKS(
                       "\"trial\":true,\"pipeline\":\"articles\",\"creator\":\"0badcafe\"") "}"}};
    const size_t count = sizeof(others) / sizeof(others[0]);
    struct world w;
    world_start(&w, 30, NULL);
    smoke(&w, "--clean", NULL, 0, "articles: nothing is left\n");
    kill_in(&w, "_doc", "smoke");
    kill_in(&w, "_bulk", "validate");
    for (size_t i = 0; i < count; i++) {
        json_object_put(reply_json(200, "PUT", w.service.url, others[i].path, others[i].body,
                                   "ApiKey " WORLD_API_KEY));
    }
    struct program_result r;
    rowferry_run(&r, w.config, "check", "--all", "--accept-admin", NULL);
    expect_text(r.out, "2 temporary indices of killed trials: \"shop-articles-");
    expect_text(r.out, "rowferry smoke --clean articles, when no trial is at work");
    program_result_release(&r);
    smoke(&w, "--clean", "--implicit", 2, "\"--clean\" makes no index");
    rowferry_run(&r, w.config, "smoke", "--clean", NULL);
    ck_assert_msg(r.exit_code == 0, "%s%s", r.out, r.err);
    expect_text(r.out, "articles: deleted shop-articles-smoke-");
    expect_text(r.out, "articles: deleted shop-articles-validate-");
    program_result_release(&r);
    smoke(&w, "--clean", "--json", 0, "{\"pipeline\":\"articles\",\"deleted\":[]}\n");
    for (size_t i = 0; i < count; i++) {
        json_object_put(
            reply_json(200, "GET", w.service.url, others[i].path, NULL, "ApiKey " WORLD_API_KEY));
    }
    world_stop(&w);
}
END_TEST

/* If an output stream is closed, no connection may get its descriptor and receive the output. */
START_TEST(an_output_that_is_closed_is_an_error)
{
    struct world w;
    struct program p;
    struct program_result r;
    char config[512];
    world_start(&w, 0, NULL);
    snprintf(config, sizeof(config), "ROWFERRY_CONFIG=%s", w.config);
    program_start(&p,
                  (const char *const[]){"/bin/sh", "-c", "\"$ROWFERRY_PROGRAM\" smoke >&-", NULL},
                  (const char *const[]){config, NULL});
    program_finish(&p, WAIT_MS, &r);
    ck_assert_msg(r.exit_code == 6, "%d: %s", r.exit_code, r.err);
    expect_text(r.err, "could not write to standard output");
    program_result_release(&r);
    expect_none(&w, "shop-articles-smoke-*");
    world_stop(&w);
}
END_TEST

SUITE_MAIN("integration/cli/smoke", one_document_is_indexed_found_and_removed,
           as_json_it_is_an_object_with_the_time_of_each_step,
           a_name_that_exists_is_refused_and_left_alone,
           an_implicit_index_that_exists_is_refused_and_left_alone,
           the_index_is_removed_whatever_step_fails, a_service_that_is_away_ends_with_6,
           an_interrupt_is_told_and_leaves_nothing,
           what_killed_trials_left_is_found_and_deleted_and_nothing_else,
           an_output_that_is_closed_is_an_error)
