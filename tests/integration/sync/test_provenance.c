/* SPDX-License-Identifier: Apache-2.0 */
/* Documents that name their source. */
#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>

#include "http.h"
#include "sql.h"
#include "suite.h"
#include "world.h"

#define ROWS 20
#define AUTHORIZATION "ApiKey " WORLD_API_KEY

static void provenance_world(struct world *w, const char *to)
{
    world_start(w, ROWS, NULL);
    w->to = to;
    world_configure(w, WORLD_PROPERTIES, "");
    world_install(w);
}

static void says(struct world *w, int exit_code, const char *command, const char *operand,
                 const char *file, const char *words)
{
    struct program_result result;
    rowferry_run(&result, w->config, command, operand, file, NULL);
    ck_assert_msg(result.exit_code == exit_code &&
                      (strstr(result.out, words) != NULL || strstr(result.err, words) != NULL),
                  "no %s in %d %s%s", words, result.exit_code, result.out, result.err);
    program_result_release(&result);
}

/* Returns what a search for a row prints. */
static struct json_object *search(struct world *w, int id)
{
    char path[80];
    json_object_put(
        reply_json(200, "POST", w->service.url, "/shop-articles/_refresh", NULL, AUTHORIZATION));
    snprintf(path, sizeof(path), "/shop-articles/_search?q=source_id:%d", id);
    return reply_json(200, "GET", w->service.url, path, NULL, AUTHORIZATION);
}

static struct json_object *first_hit(struct json_object *answer)
{
    struct json_object *hit = NULL;
    ck_assert_int_eq(json_pointer_get(answer, "/hits/hits/0", &hit), 0);
    return hit;
}

static const char *text_at(struct json_object *hit, const char *pointer)
{
    struct json_object *member = NULL;
    ck_assert_msg(json_pointer_get(hit, pointer, &member) == 0, "no %s in %s", pointer,
                  json_object_get_string(hit));
    return json_object_get_string(member);
}

/* Checks a document's provenance; returns the version, which is that of the document. */
static int64_t expect_provenance(struct world *w, int id)
{
    char path[80];
    struct json_object *answer = search(w, id);
    struct json_object *hit = first_hit(answer);
    char *database = sql_text(w->conn, "select current_database()");
    ck_assert_str_eq(text_at(hit, "/_source/provenance/pipeline"), "articles");
    ck_assert_str_eq(text_at(hit, "/_source/provenance/table"), "public.articles");
    ck_assert_str_eq(text_at(hit, "/_source/provenance/database"), database);
    ck_assert_int_eq(sql_int(w->conn,
                             "select (timestamptz '%s' between now() - interval '1 hour' and "
                             "clock_timestamp())::int",
                             text_at(hit, "/_source/provenance/read_at")),
                     1);
    int64_t version = strtoll(text_at(hit, "/_source/provenance/version"), NULL, 10);
    snprintf(path, sizeof(path), "/shop-articles/_doc/%d", id);
    struct json_object *document =
        reply_json(200, "GET", w->service.url, path, NULL, AUTHORIZATION);
    ck_assert_int_eq(strtoll(text_at(document, "/_version"), NULL, 10), version);
    json_object_put(document);
    json_object_put(answer);
    free(database);
    return version;
}

START_TEST(each_document_names_its_source_and_is_compared_without_that)
{
    struct world w;
    provenance_world(&w, "\"provenance\": true");
    rowferry_expect(0, w.config, "validate", NULL);
    rowferry_expect(0, w.config, "sync", NULL);
    int64_t first = expect_provenance(&w, 7);
    rowferry_expect(0, w.config, "verify", NULL);
    sql_exec(w.conn, "update articles set title = 'other' where source_id = 7");
    rowferry_expect(0, w.config, "sync", NULL);
    ck_assert_int_gt(expect_provenance(&w, 7), first);
    says(&w, 0, "verify", "--json", NULL, "\"equal\":true");
    rowferry_expect(0, w.config, "reindex", NULL);
    expect_provenance(&w, 7);
    says(&w, 0, "document", "7", NULL, "\"provenance\":{\"pipeline\":\"articles\",\"database\":");
    world_stop(&w);
}
END_TEST

START_TEST(the_option_asks_for_another_index_in_both_directions)
{
    struct world w;
    static const char *const values[] = {"\"provenance\": true", NULL};
    provenance_world(&w, NULL);
    rowferry_expect(0, w.config, "sync", NULL);
    for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
        w.to = values[i];
        world_configure(&w, WORLD_PROPERTIES, "");
        says(&w, 1, "sync", NULL, NULL, "rowferry reindex articles");
        rowferry_expect(0, w.config, "reindex", NULL);
        rowferry_expect(0, w.config, "sync", NULL);
        rowferry_expect(0, w.config, "verify", NULL);
    }
    world_expect_equal(&w);
    world_stop(&w);
}
END_TEST

SUITE_MAIN("integration/provenance", each_document_names_its_source_and_is_compared_without_that,
           the_option_asks_for_another_index_in_both_directions)
