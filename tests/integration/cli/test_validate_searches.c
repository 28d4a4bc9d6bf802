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

SUITE_MAIN("integration/cli/validate_searches", graded_documents_are_judged_by_their_order)
