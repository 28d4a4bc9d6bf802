/* SPDX-License-Identifier: Apache-2.0 */
/* A database with a table, a service, a configuration. */
#include "world.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compare.h"
#include "http.h"
#include "rowferry/base/buf.h"
#include "sql.h"
#include "wait.h"

static const char table_sql[] =
    "create table articles (source_id bigint primary key, title text, price numeric(12, 4), "
    "tags text[], extra jsonb, published boolean, updated_at timestamptz not null default "
    "'2024-03-10 07:04:56.123456+00');"
    "insert into articles select i, 'title ' || i, i * 1.0625, array['a', 'b' || i], "
    "jsonb_build_object('n', i, 't', repeat('x', (i %% 50)::int)), i %% 2 = 0, "
    "timestamptz '2024-03-10 07:04:56.123456+00' + i * interval '1 second' "
    "from generate_series(1, %ld) i";

static void configure(struct world *w, const char *properties, const char *limits,
                      const char *where)
{
    struct buf text;
    struct buf source;
    buf_init(&text, 64 * 1024);
    buf_init(&source, 4096);
    buf_printf(&source, "\"uri\": \"%s\"", w->uri);
    buf_printf(
        &text,
        "{\n  // written by a test\n  \"accept_admin\": %s,\n  \"source\": {%s},\n"
        "  \"service\": {\"url\": \"%s\", \"auth\": {\"api_key\": {\"file\": \"%s/key\"}}},\n"
        "  \"state\": {\"path\": \"%s/state.db\"},\n"
        "  \"limits\": {%s},\n"
        "  \"pipelines\": [{\"name\": \"articles\",\n"
        "    \"from\": {\"table\": \"public.articles\", \"key\": [\"source_id\"]%s},\n"
        "    \"to\": {\"index\": \"shop-articles\", \"mappings\": {\"properties\": "
        "{%s}}%s%s}%s%s}]\n"
        "}\n",
        w->strict ? "false" : "true", w->source != NULL ? w->source : buf_text(&source),
        w->service.url, w->dir, w->dir, limits, where, properties, w->to != NULL ? ", " : "",
        w->to != NULL ? w->to : "", w->members != NULL ? ", " : "",
        w->members != NULL ? w->members : "");
    free(w->config);
    w->config = scratch_write(w->dir, "rowferry.json", buf_text(&text));
    buf_release(&text);
    buf_release(&source);
}

void world_configure(struct world *w, const char *properties, const char *limits)
{
    configure(w, properties, limits, "");
}

void world_pipeline(struct world *w, const char *members)
{
    w->members = members;
    configure(w, WORLD_PROPERTIES, "\"retry_budget\": \"20s\"", "");
}

void world_from(struct world *w, const char *members)
{
    struct buf more;
    buf_init(&more, 4096);
    buf_printf(&more, ", %s", members);
    configure(w, WORLD_PROPERTIES, "\"retry_budget\": \"20s\"", buf_text(&more));
    buf_release(&more);
}

void world_where(struct world *w, const char *where)
{
    char member[256];
    snprintf(member, sizeof(member), "\"where\": \"%s\"", where);
    world_from(w, member);
}

static void start_service(struct world *w, const char *const *more)
{
    char *key = scratch_write(w->dir, "key", WORLD_API_KEY "\n");
    const char *options[16] = {"--api-key-file", key, "--faults"};
    for (size_t i = 0; more != NULL && more[i] != NULL && i < 10; i++) {
        options[3 + i] = more[i];
    }
    devsearch_start(&w->service, options);
    free(key);
}

static void start(struct world *w, long rows, const char *database,
                  const char *const *service_options)
{
    *w = (struct world){0};
    w->dir = scratch_new();
    w->uri = database_new_with(database);
    w->conn = sql_open(w->uri);
    sql_exec(w->conn, table_sql, rows);
    start_service(w, service_options);
    world_configure(w, WORLD_PROPERTIES, "\"retry_budget\": \"20s\"");
}

void world_start(struct world *w, long rows, const char *const *service_options)
{
    start(w, rows, "", service_options);
}

void world_start_in(struct world *w, long rows, const char *encoding)
{
    char words[128];
    snprintf(words, sizeof(words), "encoding '%s' lc_collate 'C' lc_ctype 'C'", encoding);
    start(w, rows, words, NULL);
}

void world_stop(struct world *w)
{
    devsearch_stop(&w->service);
    PQfinish(w->conn);
    database_drop(w->uri);
    scratch_remove(w->dir);
    free(w->config);
}

void world_install(struct world *w)
{
    rowferry_expect(0, w->config, "source", "install", NULL);
}

void world_sync(struct world *w, int exit_code, struct program_result *result)
{
    rowferry_run(result, w->config, "sync", "--json", NULL);
    ck_assert_msg(result->exit_code == exit_code, "sync ended with %d instead of %d:\n%s%s",
                  result->exit_code, exit_code, result->out, result->err);
    ck_assert_msg(strstr(result->out, WORLD_API_KEY) == NULL &&
                      strstr(result->err, WORLD_API_KEY) == NULL,
                  "the API key stands in the output");
}

void world_sync_says(struct world *w, int exit_code, const char *words)
{
    struct program_result result;
    world_sync(w, exit_code, &result);
    expect_text(result.err, words);
    program_result_release(&result);
}

void world_expect_equal(struct world *w)
{
    char *query = compare_table("articles", "source_id");
    expect_equal(sql_int(w->conn, "select count(*) from articles"), w->conn, query, w->service.url,
                 "shop-articles", "ApiKey " WORLD_API_KEY);
    free(query);
}

void world_await_equal(struct world *w, int64_t deadline_ms)
{
    struct deadline deadline = deadline_after(deadline_ms);
    char *query = compare_table("articles", "source_id");
    struct comparison c = {.differences = 1};
    while (c.differences > 0) {
        compare(&c, w->conn, query, w->service.url, "shop-articles", "ApiKey " WORLD_API_KEY);
        free(c.first);
        if (!deadline_wait(&deadline)) {
            break;
        }
    }
    free(query);
    world_expect_equal(w);
}

void world_fault(const struct world *w, const char *fault)
{
    struct reply reply;
    reply_get(&reply, "POST", w->service.url, "/_devsearch/faults", fault, "ApiKey " WORLD_API_KEY);
    ck_assert_int_eq(reply.status, 200);
    reply_release(&reply);
}

void world_unfault(const struct world *w)
{
    json_object_put(reply_json(200, "DELETE", w->service.url, "/_devsearch/faults", NULL,
                               "ApiKey " WORLD_API_KEY));
}

/* The delay is shorter than the program's request_timeout. */
static void hold(const struct world *w, const char *path, const char *members)
{
    char fault[256];
    snprintf(fault, sizeof(fault), "{\"delay_ms\":50000,\"path\":\"%s\"%s}", path, members);
    world_fault(w, fault);
}

void world_hold(const struct world *w, const char *path)
{
    hold(w, path, ",\"count\":1");
}

void world_hold_all(const struct world *w, const char *path)
{
    hold(w, path, "");
}

void world_await_held(const struct world *w)
{
    struct deadline deadline = deadline_after(WAIT_MS);
    for (bool held = false; !held;) {
        struct json_object *stats = reply_json(200, "GET", w->service.url, "/_devsearch/stats",
                                               NULL, "ApiKey " WORLD_API_KEY);
        held = json_object_get_int64(json_object_object_get(stats, "faults_waiting")) > 0;
        json_object_put(stats);
        ck_assert_msg(held || deadline_wait(&deadline), "no request was held up");
    }
}

void world_await_settled(const struct world *w)
{
    struct deadline deadline = deadline_after(WAIT_MS);
    for (bool settled = false; !settled;) {
        struct program_result result;
        rowferry_run(&result, w->config, "status", "--json", NULL);
        settled = strstr(result.out, "\"pending\":0,") != NULL;
        ck_assert_msg(settled || deadline_wait(&deadline), "never settled: %s%s", result.out,
                      result.err);
        program_result_release(&result);
    }
}

char *world_config_of_another(const struct world *w)
{
    char text[8192];
    FILE *file = fopen(w->config, "r");
    ck_assert_ptr_nonnull(file);
    text[fread(text, 1, sizeof(text) - 1, file)] = '\0';
    fclose(file);
    char *at = strstr(text, "state.db");
    ck_assert_ptr_nonnull(at);
    memcpy(at, "other", 5);
    return scratch_write(w->dir, "other.json", text);
}

static bool is_held(const struct world *w)
{
    return sql_int(w->conn, "select count(*) from pg_locks where locktype = 'advisory' and granted "
                            "and database = (select oid from pg_database where datname = "
                            "current_database())") > 0;
}

void world_await_hold(const struct world *w)
{
    struct deadline deadline = deadline_after(WAIT_MS);
    while (!is_held(w)) {
        ck_assert(deadline_wait(&deadline));
    }
}

void world_await_free(const struct world *w)
{
    struct deadline deadline = deadline_after(WAIT_MS);
    while (is_held(w)) {
        ck_assert(deadline_wait(&deadline));
    }
}
