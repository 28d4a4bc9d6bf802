/* SPDX-License-Identifier: Apache-2.0 */
/* Blocked or missing indices, and aliases with several indices. */
#include <stdio.h>
#include <string.h>

#include "subject.h"

static void enter_with_index(struct subject *s)
{
    subject_enter(s);
    OK(index_create(s->service, s->first, MAPPING, NULL, &s->err));
    expect_one(s, s->first, OPERATION_UPSERT, "a", 10, OUTCOME_DONE, 0, NULL);
}

static void block(struct subject *s, const char *name, const char *value)
{
    char body[128];
    snprintf(body, sizeof(body), "{\"index.blocks.%s\":%s}", name, value);
    say(s, 200, NULL, "PUT", s->first, "/_settings", body);
}

START_TEST(a_write_block_is_waited_for)
{
    static const char *const blocks[][2] = {
        {"write", "FORBIDDEN/8/index write (api)"},
        {"read_only", "FORBIDDEN/5/index read-only (api)"},
    };
    struct subject subject;
    struct subject *s = &subject;
    enter_with_index(s);
    for (size_t i = 0; i < 2; i++) {
        char reason[256];
        snprintf(reason, sizeof(reason), "cluster_block_exception: index [%s] blocked by: [%s];",
                 s->first, blocks[i][1]);
        block(s, blocks[i][0], "true");
        expect_one(s, s->first, OPERATION_UPSERT, "a", 11, OUTCOME_RETRY, 403, reason);
        expect_one(s, s->first, OPERATION_DELETE, "a", 11, OUTCOME_RETRY, 403, reason);
        block(s, blocks[i][0], "null");
    }
    expect_one(s, s->first, OPERATION_UPSERT, "a", 11, OUTCOME_DONE, 0, NULL);
    subject_leave(s);
}
END_TEST

START_TEST(a_full_disk_is_waited_for_by_deletes_too)
{
    struct subject subject;
    struct subject *s = &subject;
    char reason[256];
    enter_with_index(s);
    snprintf(reason, sizeof(reason),
             "cluster_block_exception: index [%s] blocked by: [TOO_MANY_REQUESTS/12/disk usage "
             "exceeded flood-stage watermark, index has read-only-allow-delete block",
             s->first);
    block(s, "read_only_allow_delete", "true");
    expect_one(s, s->first, OPERATION_UPSERT, "a", 11, OUTCOME_RETRY, 429, reason);
    expect_one(s, s->first, OPERATION_DELETE, "a", 11, OUTCOME_RETRY, 429, reason);
    block(s, "read_only_allow_delete", "null");
    expect_one(s, s->first, OPERATION_DELETE, "a", 11, OUTCOME_DONE, 0, NULL);
    subject_leave(s);
}
END_TEST

START_TEST(a_closed_index_stops)
{
    struct subject subject;
    struct subject *s = &subject;
    enter_with_index(s);
    say(s, 200, NULL, "POST", s->first, "/_close", NULL);
    expect_one(s, s->first, OPERATION_UPSERT, "a", 11, OUTCOME_FATAL, 400,
               "index_closed_exception: closed");
    expect_one(s, s->first, OPERATION_DELETE, "a", 11, OUTCOME_FATAL, 400,
               "index_closed_exception: closed");
    subject_leave(s);
}
END_TEST

/* Expects an index that the service created by itself. It has no mark, so it is never taken for
 * ours. */
static void expect_stray(struct subject *s)
{
    bool found;
    struct index_info info;
    OK(index_look(s->service, s->other, &found, &info, &s->err));
    ck_assert(found);
    ck_assert_str_eq(info.pipeline, "");
    ck_assert_str_ne(info.uuid, "");
    ck_assert_int_eq(index_delete(s->service, s->other, "articles", &s->err), ERR_INTERNAL);
    say(s, 200, NULL, "DELETE", s->other, "", NULL);
}

START_TEST(writes_to_a_missing_name_make_an_index_that_is_not_ours)
{
    struct subject subject;
    struct subject *s = &subject;
    subject_enter(s);
    expect_one(s, s->other, OPERATION_UPSERT, "a", 10, OUTCOME_DONE, 0, NULL);
    expect_stray(s);
    expect_one(s, s->other, OPERATION_DELETE, "a", 10, OUTCOME_DONE, 0, NULL);
    expect_stray(s);
    subject_leave(s);
}
END_TEST

START_TEST(require_alias_keeps_an_upsert_from_making_an_index_but_not_a_delete)
{
    static const char upsert[] =
        "{\"index\":{\"_id\":\"a\",\"version\":1,\"version_type\":\"external\"}}\n{}\n";
    static const char removal[] =
        "{\"delete\":{\"_id\":\"a\",\"version\":1,\"version_type\":\"external\"}}\n";
    struct subject subject;
    struct subject *s = &subject;
    subject_enter(s);
    say(s, 200, "[require_alias] request flag is [true]", "POST", s->other,
        "/_bulk?require_alias=true", upsert);
    say(s, 404, NULL, "HEAD", s->other, "", NULL);
    say(s, 200, "\"result\":\"not_found\"", "POST", s->other, "/_bulk?require_alias=true", removal);
    expect_stray(s);
    subject_leave(s);
}
END_TEST

START_TEST(a_delete_without_a_version_finds_no_index_and_makes_none)
{
    struct subject subject;
    struct subject *s = &subject;
    struct batch b;
    subject_enter(s);
    open_batch(&b);
    batch_begin(&b, OPERATION_DELETE, span_make("a", 1), 10, 1);
    buf_push_literal(&b.bytes, "{\"delete\":{\"_id\":\"a\"}}\n");
    ck_assert(batch_commit(&b));
    send_whole(s, s->other, &b);
    expect_outcome(&b, 0, OUTCOME_FATAL, 404, "index_not_found_exception: no such index [");
    say(s, 404, NULL, "HEAD", s->other, "", NULL);
    batch_release(&b);
    subject_leave(s);
}
END_TEST

START_TEST(an_alias_of_two_indices_takes_no_writes)
{
    struct subject subject;
    struct subject *s = &subject;
    enum alias_kind kind;
    struct index_info info;
    enter_with_index(s);
    OK(index_create(s->service, s->second, MAPPING, NULL, &s->err));
    OK(index_swap(s->service, s->alias, NULL, s->first, &s->err));
    OK(index_swap(s->service, s->alias, NULL, s->second, &s->err));
    OK(index_resolve(s->service, s->alias, &kind, &info, &s->err));
    ck_assert_int_eq(kind, ALIAS_SEVERAL);
    expect_one(s, s->alias, OPERATION_UPSERT, "a", 11, OUTCOME_FATAL, 400,
               "illegal_argument_exception: no write index is defined for alias [");
    subject_leave(s);
}
END_TEST

START_TEST(a_swap_from_where_the_alias_is_not_changes_nothing)
{
    struct subject subject;
    struct subject *s = &subject;
    char body[512];
    enter_with_index(s);
    OK(index_create(s->service, s->second, MAPPING, NULL, &s->err));
    ck_assert_int_eq(index_swap(s->service, s->alias, s->first, s->second, &s->err), ERR_REJECTED);
    ck_assert_int_eq(s->err.http_status, 404);
    ck_assert_msg(strstr(s->err.message, "aliases_not_found_exception") != NULL, "%s",
                  s->err.message);
    say(s, 404, NULL, "HEAD", "_alias/", s->alias, NULL);
    /* the reason for must_exist: without it, half of the swap is applied */
    snprintf(body, sizeof(body),
             "{\"actions\":[{\"remove\":{\"index\":\"%s\",\"alias\":\"%s\"}},"
             "{\"add\":{\"index\":\"%s\",\"alias\":\"%s\"}}]}",
             s->first, s->alias, s->second, s->alias);
    say(s, 200, "\"acknowledged\":true", "POST", "_aliases", "", body);
    say(s, 200, s->second, "GET", "_alias/", s->alias, NULL);
    subject_leave(s);
}
END_TEST

START_TEST(an_ingest_pipeline_that_is_missing_stops)
{
    struct subject subject;
    struct subject *s = &subject;
    struct batch b;
    enter_with_index(s);
    open_batch(&b);
    add(&b, OPERATION_UPSERT, "a", 11, "{\"n\":1}");
    OK(bulk_send(s->service, s->first, "rf-nope", &b, &s->err));
    ck_assert_ptr_eq(take_back(s, s->service), &b);
    expect_outcome(&b, 0, OUTCOME_FATAL, 400,
                   "illegal_argument_exception: pipeline with id [rf-nope] does not exist");
    batch_release(&b);
    subject_leave(s);
}
END_TEST

TESTS(block_tests, NULL, a_write_block_is_waited_for, a_full_disk_is_waited_for_by_deletes_too,
      a_closed_index_stops, writes_to_a_missing_name_make_an_index_that_is_not_ours,
      require_alias_keeps_an_upsert_from_making_an_index_but_not_a_delete,
      a_delete_without_a_version_finds_no_index_and_makes_none,
      an_alias_of_two_indices_takes_no_writes, a_swap_from_where_the_alias_is_not_changes_nothing,
      an_ingest_pipeline_that_is_missing_stops)
