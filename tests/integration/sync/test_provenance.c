/* SPDX-License-Identifier: Apache-2.0 */
/* Documents that name their source, and the way back from a hit to its row. */
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
    struct program_result result;
    provenance_world(&w, "\"provenance\": true");
    rowferry_run(&result, w.config, "validate", NULL);
    ck_assert_msg(result.exit_code == 0 && strstr(result.out, "differs from") == NULL, "%s",
                  result.out);
    program_result_release(&result);
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

/* Runs document with the text of a hit in a file. */
static void from_hit(struct world *w, int exit_code, const char *text, const char *words)
{
    char *path = scratch_write(w->dir, "hit.json", text);
    says(w, exit_code, "document", "--from-hit", path, words);
    free(path);
}

START_TEST(the_row_of_a_hit_is_found)
{
    struct world w;
    provenance_world(&w, "\"provenance\": true");
    rowferry_expect(0, w.config, "sync", NULL);
    struct json_object *answer = search(&w, 7);
    sql_exec(w.conn, "update articles set title = 'as it is now' where source_id = 7");
    from_hit(&w, 0, json_object_get_string(answer), "as it is now");
    from_hit(&w, 0, json_object_get_string(first_hit(answer)), "as it is now");
    sql_exec(w.conn, "delete from articles where source_id = 7");
    from_hit(&w, 1, json_object_get_string(answer), "no row with key \"7\"");
    from_hit(&w, 1, "{\"hits\":{\"hits\":[]}}", "the search has no hit");
    from_hit(&w, 1, "{\"_index\":\"other\",\"_id\":\"1\"}", "is of no pipeline");
    from_hit(&w, 0, "{\"_id\":\"1\"}", "\"source_id\":\"1\"");
    says(&w, 2, "document", "7", "--from-hit=x", "not both");
    says(&w, 2, "document", NULL, NULL, "needs ID... or --from-hit");
    says(&w, 2, "document", "--from-hit", "/none", "could not read \"/none\"");
    json_object_put(answer);
    world_stop(&w);
}
END_TEST

/* A second pipeline whose alias is the beginning of the first one's. */
static void add_pipeline(struct world *w)
{
    w->members = "\"fields\": {}}, {\"name\": \"shop\", \"from\": {\"table\": \"public.other\"}, "
                 "\"to\": {\"index\": \"shop\", \"mappings\": {\"properties\": {\"title\": "
                 "{\"type\": \"text\"}}}}";
    sql_exec(w->conn, "create table other (id bigint primary key, title text); insert into other "
                      "values (7, 'of the other table')");
    world_configure(w, WORLD_PROPERTIES, "");
}

START_TEST(without_provenance_the_index_names_the_pipeline)
{
    struct world w;
    provenance_world(&w, NULL);
    add_pipeline(&w);
    rowferry_expect(0, w.config, "source", "install", NULL);
    rowferry_expect(0, w.config, "sync", NULL);
    struct json_object *answer = search(&w, 7);
    from_hit(&w, 0, json_object_get_string(answer), "\"published\":");
    json_object_put(answer);
    from_hit(&w, 0, "{\"_index\":\"shop\",\"_id\":\"7\"}", "of the other table");
    from_hit(&w, 0, "{\"_index\":\"shop-20261127-12\",\"_id\":\"7\"}", "of the other table");
    from_hit(&w, 0,
             "{\"_index\":\"shop-articles\",\"_source\":{\"source_id\":\"7\",\"provenance\":"
             "{\"pipeline\":\"shop\"}}}",
             "of the other table");
    from_hit(&w, 1, "{\"_index\":\"shop-articles-2\",\"_id\":\"7\"}",
             "the hit is of index \"shop-articles-2\", which is of no pipeline");
    world_stop(&w);
}
END_TEST

SUITE_MAIN("integration/provenance", each_document_names_its_source_and_is_compared_without_that,
           the_option_asks_for_another_index_in_both_directions, the_row_of_a_hit_is_found,
           without_provenance_the_index_names_the_pipeline)
