/* SPDX-License-Identifier: Apache-2.0 */
/* validate: searches of the configuration and of the application, with what they must find. */
#include <stdio.h>
#include <stdlib.h>

#include "sql.h"
#include "trials.h"

START_TEST(graded_documents_are_judged_by_their_order)
{
    struct world w;
    struct program_result r;
    world_start(&w, ROWS, NULL);
    world_pipeline(&w,
                   "\"validate\": {\"min_ndcg\": 0.9, \"queries\": [{\"name\": \"best\", \"q\": "
                   "\"tags:b17\", \"judgements\": {\"17\": 3, \"99\": 0}}, {\"name\": "
                   "\"second\", \"body\": {\"query\": {\"terms\": {\"source_id\": [\"1\", "
                   "\"2\"]}}, \"sort\": [\"source_id\"]}, \"judgements\": {\"2\": 1}, "
                   "\"min_ndcg\": 0.7}]}");
    struct json_object *tree = validate(&w, 4);
    expect_status(tree, "queries", "PASS");
    expect_noted(tree, "FAIL", "relevance", "search \"second\" has nDCG@10 0.631, less than 0.700",
                 "weigh");
    expect_noted(tree, "FAIL", "relevance", "the mean nDCG@10 is 0.815, less than 0.900", "weigh");
    json_object_put(tree);
    rowferry_run(&r, w.config, "validate", NULL);
    expect_text(r.out, "nDCG@10 0.815 of 2 judged searches");
    expect_text(r.out, "\n      1.000  best\n      0.631  second\n");
    program_result_release(&r);
    world_stop(&w);
}
END_TEST

START_TEST(an_expected_key_without_a_row_is_named)
{
    struct world w;
    world_start(&w, ROWS, NULL);
    world_pipeline(&w, "\"validate\": {\"queries\": [{\"name\": \"judged\", \"q\": \"tags:b17\", "
                       "\"judgements\": {\"17\": 3, \"abc\": 2, \"999999\": 1}}]}");
    struct json_object *tree = validate(&w, 4);
    expect_noted(tree, "FAIL", "counts", "no row has the key \"abc\"", "use ids of rows");
    expect_noted(tree, "FAIL", "counts", "no row has the key \"999999\"", "use ids of rows");
    json_object_put(tree);
    world_stop(&w);
}
END_TEST

#define COMPARED                                                                                   \
    "\"validate\": {\"queries\": [{\"name\": \"judged\", \"q\": \"title:42\", \"judgements\": "    \
    "{\"42\": 3}}, {\"name\": \"same\", \"q\": \"tags:b17\", \"judgements\": {\"17\": 1}}, "       \
    "{\"name\": \"other hits\", \"q\": \"title:43\", \"expect\": [\"43\"]}]}"

static const char *verdict(struct json_object *tree, size_t i)
{
    struct json_object *figures = json_object_object_get(tree, "figures");
    return member(json_object_array_get_idx(json_object_object_get(figures, "compared"), i),
                  "verdict");
}

START_TEST(two_mappings_are_compared_by_the_same_searches_on_the_same_rows)
{
    struct world w;
    struct program_result r;
    world_start(&w, ROWS, NULL);
    world_configure(&w, "\"title\":{\"type\":\"keyword\"},\"tags\":{\"type\":\"keyword\"}", "");
    char *other = world_config_of_another(&w);
    world_pipeline(&w, COMPARED);
    struct json_object *tree = validate_against(&w, other, 0);
    expect_status(tree, "against", "PASS");
    ck_assert_str_eq(verdict(tree, 0), "win");
    ck_assert_str_eq(verdict(tree, 1), "tie");
    ck_assert_str_eq(verdict(tree, 2), "differs");
    json_object_put(tree);
    rowferry_run(&r, w.config, "validate", "--against", other, NULL);
    expect_text(r.out,
                "1 win, 0 losses, 1 tie, 1 with other hits; mean nDCG@10 1.000, by the other "
                "definition 0.500\n");
    expect_text(r.out, "\n      win      1.000, other 0.000  judged: 1 of the first 10 hits");
    program_result_release(&r);
    world_stop(&w);
    free(other);
}
END_TEST

START_TEST(a_mapping_that_is_worse_is_a_warning)
{
    struct world w;
    world_start(&w, ROWS, NULL);
    char *other = world_config_of_another(&w);
    w.members = COMPARED;
    world_configure(&w, "\"title\":{\"type\":\"keyword\"},\"tags\":{\"type\":\"keyword\"}", "");
    struct json_object *tree = validate_against(&w, other, 4);
    ck_assert_str_eq(verdict(tree, 0), "loss");
    expect_noted(tree, "WARN", "against", "the mean nDCG@10 is 0.500, and 1.000 by ", "mappings");
    json_object_put(tree);
    w.members = NULL;
    world_stop(&w);
    free(other);
}
END_TEST

START_TEST(another_definition_that_cannot_be_tried_is_reported)
{
    struct world w;
    struct program_result r;
    char command[512];
    world_start(&w, ROWS, NULL);
    world_configure(&w, "\"title\":{\"type\":\"text\",\"analyzer\":\"englsh\"}", "");
    char *other = world_config_of_another(&w);
    world_pipeline(&w, COMPARED);
    struct json_object *tree = validate_against(&w, other, 4);
    expect_noted(tree, "FAIL", "against", "the definition of ", "");
    expect_status(tree, "relevance", "PASS");
    json_object_put(tree);
    snprintf(command, sizeof(command), "sed -i 's/public.articles/public.others/' '%s'", other);
    ck_assert_int_eq(system(command), 0);
    rowferry_run(&r, w.config, "validate", "--against", other, NULL);
    ck_assert_msg(r.exit_code == 2, "%d %s%s", r.exit_code, r.out, r.err);
    expect_text(r.err, "has another from.table or from.key");
    program_result_release(&r);
    rowferry_run(&r, w.config, "validate", "--against", "/nowhere/other.json", NULL);
    ck_assert_int_eq(r.exit_code, 2);
    expect_text(r.err, "/nowhere/other.json");
    program_result_release(&r);
    world_stop(&w);
    free(other);
}
END_TEST

/* Configures a file with the searches of an application. */
static void use_log(struct world *w, const char *text)
{
    free(scratch_write(w->dir, "slow.log", text));
    world_pipeline(w, "\"validate\": {\"queries_file\": \"slow.log\"}");
}

START_TEST(the_fields_of_the_applications_searches_must_suit_them)
{
    struct world w;
    world_start(&w, ROWS, NULL);
    use_log(&w,
            "{\"query\":{\"term\":{\"tags\":\"b17\"}},\"sort\":[\"price\"]}\n"
            "[t][index.search.slowlog.query] [n] [i][0] took[1ms], source[{\"query\":{\"range\":"
            "{\"updated_at\":{\"gte\":\"2020-01-01\"}}}}], id[]\n");
    struct json_object *tree = validate(&w, 0);
    ck_assert_ptr_nonnull(strstr(member(step_of(tree, "queries"), "text"),
                                 "; 2 different ones of the application, of which 2 have hits"));
    ck_assert_ptr_nonnull(strstr(member(step_of(tree, "filter"), "text"),
                                 "; 2 fields of the application's searches"));
    json_object_put(tree);
    use_log(&w, "{\"query\":{\"term\":{\"title\":\"title 1\"}},\"sort\":[\"colour\"]}\n"
                "{\"query\":{\"term\":{\"size\":4}},\"aggs\":{\"a\":{\"terms\":{\"field\":"
                "\"title\"}}}}\n");
    tree = validate(&w, 4);
    expect_noted(tree, "FAIL", "filter",
                 "field \"title\" cannot be filtered by: it is a text field, which is split into "
                 "words (",
                 "\"fields\": {\"raw\": {\"type\": \"keyword\"}}");
    expect_noted(tree, "FAIL", "filter", "slow.log:1)", "title.raw");
    expect_noted(tree, "FAIL", "filter", "field \"size\" cannot be filtered by: the mapping has no",
                 "add it to to.mappings");
    expect_noted(tree, "FAIL", "sort", "field \"colour\" cannot be sorted by: the mapping has no",
                 "add it to to.mappings");
    expect_noted(tree, "FAIL", "sort",
                 "field \"title\" cannot be aggregated by: it is a text field", "title.raw");
    json_object_put(tree);
    world_stop(&w);
}
END_TEST

START_TEST(what_a_mapping_leaves_out_is_found_by_the_applications_searches)
{
    struct world w;
    world_start(&w, ROWS, NULL);
    use_log(&w, "{\"query\":{\"match\":{\"title\":\"1\"}},\"sort\":[\"price\"]}\n"
                "{\"query\":{\"term\":{\"published\":true}}}\n"
                "{\"query\":{\"term\":{\"extra.any\":1}},\"sort\":[\"title.raw\"]}\n");
    w.members = "\"validate\": {\"queries_file\": \"slow.log\"}";
    world_configure(&w,
                    "\"title\":{\"type\":\"text\",\"index\":false,\"fields\":{\"exact\":{\"type\":"
                    "\"keyword\"}}},\"price\":{\"type\":\"double\",\"doc_values\":false},"
                    "\"published\":{\"type\":\"boolean\",\"index\":false},\"extra\":{\"type\":"
                    "\"flat_object\"}",
                    "");
    struct json_object *tree = validate(&w, 4);
    expect_noted(tree, "FAIL", "filter",
                 "field \"title\" cannot be searched by: the mapping has \"index\": false (",
                 "leave out \"index\": false of \"title\" in to.mappings");
    expect_noted(tree, "FAIL", "filter",
                 "field \"published\" can only slowly be filtered by: the mapping has \"index\"",
                 "");
    expect_noted(tree, "FAIL", "sort",
                 "field \"title.raw\" cannot be sorted by: the mapping has no",
                 "\"fields\": {\"raw\": {\"type\": \"keyword\"}}");
    expect_noted(tree, "FAIL", "sort",
                 "field \"price\" cannot be sorted by: the mapping has \"doc_values\": false", "");
    json_object_put(tree);
    w.members = NULL;
    world_stop(&w);
}
END_TEST

START_TEST(a_file_that_holds_no_searches_is_refused_with_its_line)
{
    struct world w;
    struct program_result r;
    world_start(&w, 5, NULL);
    use_log(&w, "{}\n{\"qurey\":{}}\n");
    rowferry_run(&r, w.config, "validate", NULL);
    ck_assert_msg(r.exit_code == 2, "%d %s%s", r.exit_code, r.out, r.err);
    expect_text(r.err, "slow.log:2: \"qurey\" is not a key of a search body");
    program_result_release(&r);
    world_pipeline(&w, "\"validate\": {\"queries_file\": \"none.log\"}");
    rowferry_run(&r, w.config, "validate", NULL);
    ck_assert_int_eq(r.exit_code, 2);
    expect_text(r.err, "of \"validate.queries_file\": No such file or directory");
    program_result_release(&r);
    expect_none(&w);
    world_stop(&w);
}
END_TEST

START_TEST(hybrid_searches_have_a_step_of_their_own)
{
    struct world w;
    world_start(&w, ROWS, NULL);
    world_pipeline(&w,
                   "\"validate\": {\"queries\": [{\"name\": \"both\", \"body\": {\"query\": "
                   "{\"hybrid\": {\"queries\": [{\"term\": {\"tags\": \"b17\"}}, {\"term\": "
                   "{\"tags\": \"b18\"}}]}}}, \"search_pipeline\": \"_none\", \"expect\": [\"17\", "
                   "\"18\"], \"k\": 1}]}");
    struct json_object *tree = validate(&w, 0);
    expect_status(tree, "semantic", "PASS");
    expect_status(tree, "relevance", "PASS");
    ck_assert_ptr_nonnull(
        strstr(member(step_of(tree, "queries"), "text"), "0 searches of the configuration"));
    json_object_put(tree);
    world_pipeline(
        &w, "\"validate\": {\"queries\": [{\"name\": \"both\", \"q\": \"tags:b17\", "
            "\"search_pipeline\": \"no where\", \"expect\": [\"17\"]}, {\"body\": {\"query\": "
            "{\"hybrid\": {\"queries\": [{\"match_all\": {}}]}}}, \"k\": 2, \"expect\": "
            "[\"no such row\"]}]}");
    tree = validate(&w, 4);
    expect_noted(tree, "FAIL", "semantic", "Pipeline no where is not defined",
                 "correct the search");
    expect_noted(tree, "FAIL", "semantic", "\"no such row\" is not among its first 2 hits", "");
    json_object_put(tree);
    world_stop(&w);
}
END_TEST

START_TEST(a_semantic_field_that_no_search_uses_is_a_warning)
{
    static const char properties[] = "\"title\":{\"type\":\"semantic\"}";
    struct world w;
    world_start(&w, ROWS, NULL);
    world_configure(&w, properties, "");
    struct json_object *tree = validate(&w, 0);
    expect_noted(tree, "WARN", "semantic", "no search of validate.queries uses it",
                 "{\"neural\": {\"title\": {\"query_text\":");
    json_object_put(tree);
    w.members = "\"validate\": {\"queries\": [{\"body\": {\"query\": {\"match\": {\"title\": "
                "\"title 42\"}}}, \"expect\": [\"42\"]}]}";
    world_configure(&w, properties, "");
    tree = validate(&w, 0);
    expect_status(tree, "semantic", "PASS");
    json_object_put(tree);
    w.members = NULL;
    world_stop(&w);
}
END_TEST

SUITE_MAIN("integration/cli/validate_searches", graded_documents_are_judged_by_their_order,
           an_expected_key_without_a_row_is_named,
           two_mappings_are_compared_by_the_same_searches_on_the_same_rows,
           a_mapping_that_is_worse_is_a_warning,
           another_definition_that_cannot_be_tried_is_reported,
           the_fields_of_the_applications_searches_must_suit_them,
           what_a_mapping_leaves_out_is_found_by_the_applications_searches,
           a_file_that_holds_no_searches_is_refused_with_its_line,
           hybrid_searches_have_a_step_of_their_own,
           a_semantic_field_that_no_search_uses_is_a_warning)
