/* SPDX-License-Identifier: Apache-2.0 */
/* The trial of a pipeline with its own rows: a correct one passes, planted faults are found by
 * their step. */
#include <json-c/json.h>
#include <stdio.h>
#include <string.h>

#include "shop.h"
#include "sql.h"

#define TRIAL_MS 115000
#define ROWS 120

static struct json_object *validate(struct shop *shop, int exit_code)
{
    struct program program;
    struct program_result r;
    rowferry_start(&program, shop->config, "validate", "--json", NULL);
    program_finish(&program, TRIAL_MS, &r);
    ck_assert_msg(r.exit_code == exit_code, "ended with %d instead of %d:\n%s%s", r.exit_code,
                  exit_code, r.out, r.err);
    struct json_object *tree = json_tokener_parse(r.out);
    ck_assert_ptr_nonnull(tree);
    program_result_release(&r);
    const char *index = json_object_get_string(json_object_object_get(tree, "index"));
    say(&shop->subject, 404, NULL, "GET", index, "", NULL);
    return tree;
}

static struct json_object *step_of(struct json_object *tree, const char *name)
{
    struct json_object *steps = json_object_object_get(tree, "steps");
    for (size_t i = 0; i < json_object_array_length(steps); i++) {
        struct json_object *step = json_object_array_get_idx(steps, i);
        if (strcmp(json_object_get_string(json_object_object_get(step, "step")), name) == 0) {
            return step;
        }
    }
    ck_abort_msg("no step %s", name);
}

/* Expects the step's status, and the words in its notes (null: any). */
static void expect_step(struct json_object *tree, const char *name, const char *status,
                        const char *words)
{
    struct json_object *step = step_of(tree, name);
    const char *text = json_object_to_json_string_ext(step, JSON_C_TO_STRING_NOSLASHESCAPE);
    ck_assert_msg(strcmp(json_object_get_string(json_object_object_get(step, "status")), status) ==
                      0,
                  "%s is not %s: %s", name, status, text);
    ck_assert_msg(words == NULL || strstr(text, words) != NULL, "no \"%s\" in: %s", words, text);
}

static bool elastic(const struct shop *shop)
{
    return shop->subject.product.product == PRODUCT_ELASTICSEARCH;
}

static const char *vector_of(const struct shop *shop, bool wrong)
{
    return elastic(shop) ? wrong ? ",\"v\":{\"type\":\"dense_vector\",\"dims\":4,\"similarity\":"
                                   "\"l2_norm\"}"
                                 : ",\"v\":{\"type\":\"dense_vector\",\"dims\":3,\"similarity\":"
                                   "\"l2_norm\"}"
           : wrong       ? ",\"v\":{\"type\":\"knn_vector\",\"dimension\":4,\"method\":{\"name\":"
                           "\"hnsw\",\"engine\":\"lucene\",\"space_type\":\"l2\"}}"
                         : ",\"v\":{\"type\":\"knn_vector\",\"dimension\":3,\"method\":{\"name\":"
                           "\"hnsw\",\"engine\":\"lucene\",\"space_type\":\"l2\"}}";
}

static void look(struct shop *shop, bool *vectors)
{
    subject_enter(&shop->subject);
    *vectors = shop_has_vectors(shop);
    subject_leave(&shop->subject);
}

START_TEST(a_pipeline_that_is_right_passes_every_step)
{
    struct shop shop;
    static const char *const steps[] = {"counts", "queries",   "analysis", "filter",
                                        "sort",   "relevance", "growth"};
    shop_open(&shop, ROWS, NULL, NULL);
    shop.members = "\"validate\": {\"queries\": [{\"q\": \"tags:b17\", \"expect\": [\"17\"]}, "
                   "{\"body\": {\"query\": {\"match\": {\"title\": \"42\\u00e9\"}}}, \"expect\": "
                   "[\"42\"], \"k\": 1}]}";
    shop_configure(&shop, NULL, NULL);
    struct json_object *tree = validate(&shop, 0);
    for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
        expect_step(tree, steps[i], "PASS", NULL);
    }
    struct json_object *figures = json_object_object_get(tree, "figures");
    ck_assert_int_eq(json_object_get_int64(json_object_object_get(figures, "indexed")), ROWS);
    ck_assert_int_gt(json_object_get_int64(json_object_object_get(figures, "stored_bytes")), 0);
    json_object_put(tree);
    shop_close(&shop);
}
END_TEST

START_TEST(vectors_find_themselves)
{
    struct shop shop;
    bool possible;
    look(&shop, &possible);
    shop_open(&shop, ROWS, NULL, NULL);
    sql_exec(shop.conn, "update articles set v = array[sin(source_id), cos(source_id * 7), "
                        "source_id * 0.01]::float4[] where source_id <> 30");
    shop_configure(&shop, vector_of(&shop, false), shop_vector_settings(&shop, possible));
    struct json_object *tree = validate(&shop, possible ? 0 : 4);
    if (possible) {
        expect_step(tree, "vectors", "PASS", "20 of 20 find themselves");
    } else {
        expect_step(tree, "vectors", "FAIL", "No handler for type [knn_vector]");
    }
    json_object_put(tree);
    shop_close(&shop);
}
END_TEST

START_TEST(a_wrong_dimension_is_found)
{
    struct shop shop;
    bool possible;
    look(&shop, &possible);
    shop_open(&shop, ROWS, NULL, NULL);
    sql_exec(shop.conn, "update articles set v = array[source_id, 1, 2]::float4[]");
    shop_configure(&shop, vector_of(&shop, true), shop_vector_settings(&shop, possible));
    struct json_object *tree = validate(&shop, 4);
    expect_step(tree, "vectors", "FAIL",
                elastic(&shop) ? "write \\\"dims\\\": 3 in to.mappings"
                               : "write \\\"dimension\\\": 3 in to.mappings");
    json_object_put(tree);
    shop_close(&shop);
}
END_TEST

/* Plants a string kept as a single term, a string used for sorting, and a missing field. */
START_TEST(what_is_planted_is_found_by_its_step)
{
    struct shop shop;
    shop_open(&shop, ROWS, NULL, NULL);
    bool stand_in = shop.subject.product.stand_in;
    shop.members = stand_in ? "\"validate\": {\"sort\": [\"title\"], \"filter\": [\"colour\"]}"
                            : "\"fields\": {\"headline\": \"title\"}, \"validate\": {\"sort\": "
                              "[\"title\"], \"filter\": [\"colour\"]}";
    shop_configure(&shop,
                   stand_in ? NULL : ",\"headline\":{\"type\":\"text\",\"analyzer\":\"keyword\"}",
                   NULL);
    struct json_object *tree = validate(&shop, 4);
    expect_step(tree, "counts", "PASS", NULL);
    expect_step(tree, "filter", "FAIL", "\\\"colour\\\" cannot be filtered by");
    expect_step(tree, "sort", "FAIL", "\\\"title\\\" cannot be sorted by: it is a text field");
    if (!stand_in) {
        expect_step(tree, "analysis", "FAIL", "\\\"headline\\\": a search for \\\"title\\\" does");
    }
    json_object_put(tree);
    shop_close(&shop);
}
END_TEST

START_TEST(an_analyzer_that_the_service_lacks_is_found)
{
    struct shop shop;
    shop_open(&shop, 10, NULL, NULL);
    shop.members = "\"fields\": {\"headline\": \"title\"}";
    shop_configure(&shop, ",\"headline\":{\"type\":\"text\",\"analyzer\":\"englsh\"}", NULL);
    struct json_object *tree = validate(&shop, 4);
    expect_step(tree, "analysis", "FAIL", "englsh");
    expect_step(tree, "counts", "SKIP", NULL);
    json_object_put(tree);
    shop_close(&shop);
}
END_TEST

/* reader may not create an index. The error names the privilege, and nothing is left to remove. */
START_TEST(an_account_that_may_only_read_is_told_what_it_lacks)
{
    struct shop shop;
    struct program_result r;
    shop_open(&shop, 10, NULL, NULL);
    struct service_options own = shop.subject.options;
    shop.subject.options.user = shop.subject.options.credentials[SERVICE_PASSWORD].value = "reader";
    shop_configure(&shop, NULL, NULL);
    rowferry_run(&r, shop.config, "validate", NULL);
    ck_assert_msg(r.exit_code == 1, "%d %s%s", r.exit_code, r.out, r.err);
    ck_assert_msg(strstr(r.err, "403") != NULL &&
                      strstr(r.err, "grant the account the privileges") != NULL,
                  "%s", r.err);
    program_result_release(&r);
    shop.subject.options = own;
    shop_close(&shop);
}
END_TEST

TESTS(validate_privilege_tests, "ROWFERRY_TEST_USERS",
      an_account_that_may_only_read_is_told_what_it_lacks)

TESTS(validate_tests, NULL, a_pipeline_that_is_right_passes_every_step, vectors_find_themselves,
      a_wrong_dimension_is_found, what_is_planted_is_found_by_its_step,
      an_analyzer_that_the_service_lacks_is_found)
