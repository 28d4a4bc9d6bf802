/* SPDX-License-Identifier: Apache-2.0 */
/* Items of documents that an ingest pipeline dropped or wrote elsewhere. */
#include <string.h>

#include "rowferry/service/bulk/answer.h"
#include "suite.h"

static void make_batch(struct batch *b, const char *kind, bool creates)
{
    enum operation_kind of = kind[0] == 'd' ? OPERATION_DELETE : OPERATION_UPSERT;
    batch_init(b, 1 << 20, 1 << 20, 10);
    b->creates = creates;
    batch_begin(b, of, span_make("0", 1), 10, 1);
    buf_push_literal(&b->bytes, "{}\n");
    ck_assert(batch_commit(b));
    b->operations[0].attempts = 2;
}

#define AT(action, index, id, rest)                                                                \
    "{\"items\":[{\"" action "\":{\"_index\":\"" index "\",\"_id\":\"" id "\"," rest "}}]}"

/* One operation, answered by a request to `sent_to`, in every pair of pieces. */
static void expect_at(const char *kind, const char *sent_to, const char *json, enum outcome outcome,
                      const char *reason)
{
    struct batch b;
    struct err err;
    struct answer *a = answer_new();
    make_batch(&b, kind, strstr(sent_to, "-WRITE") == NULL);
    for (size_t cut = 0; cut <= strlen(json); cut++) {
        answer_begin(a, &b, sent_to);
        (void)answer_feed(a, json, cut);
        (void)answer_feed(a, json + cut, strlen(json) - cut);
        ck_assert_int_eq(answer_end(a, &err), 0);
        struct span said = batch_reason(&b, &b.operations[0]);
        ck_assert_msg(b.operations[0].outcome == outcome, "%s: %d", json, b.operations[0].outcome);
        ck_assert_msg(span_is(said, reason), "%s: %.*s", json, (int)said.len, said.data);
    }
    answer_free(a);
    batch_release(&b);
}

#define DROPPED "document_dropped: an ingest pipeline dropped the document"
#define MOVED "document_moved: an ingest pipeline moved the document to index \"other\""
#define NEWER                                                                                      \
    "\"status\":409,\"error\":{\"type\":\"version_conflict_engine_exception\",\"reason\":\"[0]: "  \
    "version conflict, current version [11] is higher or equal to the one provided [10]\"}"

START_TEST(a_document_that_a_pipeline_dropped_or_moved_is_refused_by_the_items_index)
{
    static const char alias[] = "shop-1-WRITE-5f0c";
    expect_at("u", alias, AT("index", "shop-1", "0", "\"status\":201"), OUTCOME_DONE, "");
    expect_at("u", alias, AT("index", "shop-1-WRITE-5f0c", "0", "\"status\":200"), OUTCOME_REJECTED,
              DROPPED);
    expect_at("u", alias, AT("index", "other", "0", "\"status\":201"), OUTCOME_REJECTED, MOVED);
    expect_at("u", alias, AT("index", "shop-10", "0", "\"status\":201"), OUTCOME_REJECTED,
              "document_moved: an ingest pipeline moved the document to index \"shop-10\"");
    expect_at("u", alias, AT("index", "shop-1", "0", NEWER), OUTCOME_CONFLICT,
              "version_conflict_engine_exception: [0]: version conflict, current version [11] is "
              "higher or equal to the one provided [10]");
    expect_at("u", alias, AT("index", "other", "0", NEWER), OUTCOME_REJECTED, MOVED);
    expect_at("u", alias,
              AT("index", "shop-1-WRITE-5f0c", "0",
                 "\"status\":500,\"error\":{\"type\":\"fail\",\"reason\":\"no\"}"),
              OUTCOME_RETRY, "fail: no");
    expect_at("d", alias, AT("delete", "other", "0", "\"status\":200"), OUTCOME_DONE, "");
    expect_at("u", alias, "{\"items\":[{\"index\":{\"_id\":\"0\",\"status\":201}}]}", OUTCOME_DONE,
              "");
}
END_TEST

START_TEST(the_backing_index_of_a_stream_is_recognised_by_its_name)
{
    static const char *const backing[] = {
        AT("create", ".ds-log-000012", "0", "\"status\":201"),
        AT("create", ".ds-log-2026.11.23-000012", "0", "\"status\":201")};
    for (size_t i = 0; i < 2; i++) {
        expect_at("u", "log", backing[i], OUTCOME_DONE, "");
    }
    expect_at("u", "log", AT("create", "log", "0", "\"status\":200"), OUTCOME_REJECTED, DROPPED);
    expect_at("u", "log", AT("create", "other", "0", "\"status\":201"), OUTCOME_REJECTED, MOVED);
    expect_at("u", "log", AT("create", ".ds-log-x-000001", "0", "\"status\":201"), OUTCOME_REJECTED,
              "document_moved: an ingest pipeline moved the document to index "
              "\".ds-log-x-000001\"");
    expect_at("u", "log",
              AT("create", ".fs-log-000001", "0", "\"status\":201,\"failure_store\":\"used\""),
              OUTCOME_REJECTED, "failure_store: a data stream's failure store took the document");
}
END_TEST

SUITE_MAIN("service/written_index",
           a_document_that_a_pipeline_dropped_or_moved_is_refused_by_the_items_index,
           the_backing_index_of_a_stream_is_recognised_by_its_name)
