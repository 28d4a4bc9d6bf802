/* SPDX-License-Identifier: Apache-2.0 */
/* External versions: conflicts and the reported version, tombstones. */
#include <string.h>

#include "subject.h"
#include "wait.h"

#define GONE_MS 60000

/* Sends an operation and expects a conflict with this version. */
static void expect_conflict(struct subject *s, enum operation_kind kind, const char *id,
                            long long version, int64_t seen)
{
    struct batch b;
    open_batch(&b);
    add(&b, kind, id, version, "{\"n\":2}");
    send_whole(s, s->first, &b);
    expect_outcome(&b, 0, OUTCOME_CONFLICT, 409, "version_conflict_engine_exception: ");
    ck_assert_int_eq(b.operations[0].seen, seen);
    batch_release(&b);
}

START_TEST(a_conflict_names_the_version_that_is_there)
{
    static const char lower[] = "{\"index\":{\"_id\":\"a\",\"version\":9,\"version_type\":"
                                "\"external\"}}\n{\"n\":2}\n";
    struct subject subject;
    struct subject *s = &subject;
    subject_enter(s);
    OK(index_create(s->service, s->first, MAPPING, NULL, &s->err));
    expect_one(s, s->first, OPERATION_UPSERT, "a", 10, OUTCOME_DONE, 0, NULL);
    say(s, 200,
        "\"[a]: version conflict, current version [10] is higher or equal to the one provided "
        "[9]\"",
        "POST", s->first, "/_bulk", lower);
    expect_conflict(s, OPERATION_UPSERT, "a", 9, 10);
    expect_conflict(s, OPERATION_UPSERT, "a", 10, 10);
    expect_conflict(s, OPERATION_DELETE, "a", 9, 10);
    say(s, 200, "\"n\":1", "GET", s->first, "/_doc/a", NULL);
    subject_leave(s);
}
END_TEST

START_TEST(a_key_that_looks_like_a_conflict_is_not_taken_for_its_number)
{
    static const char key[] = "]: version conflict, current version [77]";
    struct subject subject;
    struct subject *s = &subject;
    subject_enter(s);
    OK(index_create(s->service, s->first, MAPPING, NULL, &s->err));
    expect_one(s, s->first, OPERATION_UPSERT, key, 10, OUTCOME_DONE, 0, NULL);
    expect_conflict(s, OPERATION_UPSERT, key, 9, 10);
    subject_leave(s);
}
END_TEST

START_TEST(the_largest_version_is_taken_and_named_digit_for_digit)
{
    struct subject subject;
    struct subject *s = &subject;
    subject_enter(s);
    OK(index_create(s->service, s->first, MAPPING, NULL, &s->err));
    expect_one(s, s->first, OPERATION_UPSERT, "a", INT64_MAX, OUTCOME_DONE, 0, NULL);
    expect_conflict(s, OPERATION_UPSERT, "a", INT64_MAX - 1, INT64_MAX);
    subject_leave(s);
}
END_TEST

START_TEST(a_deleted_document_does_not_come_back_with_an_older_version)
{
    struct subject subject;
    struct subject *s = &subject;
    subject_enter(s);
    OK(index_create(s->service, s->first, MAPPING, NULL, &s->err));
    expect_one(s, s->first, OPERATION_UPSERT, "a", 10, OUTCOME_DONE, 0, NULL);
    expect_one(s, s->first, OPERATION_DELETE, "a", 20, OUTCOME_DONE, 0, NULL);
    expect_one(s, s->first, OPERATION_DELETE, "never", 20, OUTCOME_DONE, 0, NULL);
    OK(index_refresh(s->service, s->first, &s->err));
    expect_conflict(s, OPERATION_UPSERT, "a", 19, 20);
    expect_conflict(s, OPERATION_DELETE, "a", 20, 20);
    expect_conflict(s, OPERATION_UPSERT, "never", 19, 20);
    expect_one(s, s->first, OPERATION_UPSERT, "a", 21, OUTCOME_DONE, 0, NULL);
    subject_leave(s);
}
END_TEST

/* Repeats an older version until it is accepted. */
static void until_taken(struct subject *s, const char *id)
{
    struct deadline deadline = deadline_after(GONE_MS);
    enum outcome outcome = OUTCOME_CONFLICT;
    while (outcome == OUTCOME_CONFLICT) {
        struct batch b;
        open_batch(&b);
        add(&b, OPERATION_UPSERT, id, 19, "{\"n\":1}");
        send_whole(s, s->first, &b);
        outcome = b.operations[0].outcome;
        batch_release(&b);
        ck_assert(deadline_wait(&deadline));
    }
    ck_assert_int_eq(outcome, OUTCOME_DONE);
}

START_TEST(a_tombstone_lasts_as_long_as_gc_deletes_says)
{
    struct subject subject;
    struct subject *s = &subject;
    subject_enter(s);
    OK(index_create(s->service, s->first, MAPPING, "{\"gc_deletes\":\"2s\"}", &s->err));
    int64_t begun_ms = deadline_now_ms();
    expect_one(s, s->first, OPERATION_DELETE, "a", 20, OUTCOME_DONE, 0, NULL);
    until_taken(s, "a");
    /* the node's clock has steps of up to 200 ms, and its cleanup is delayed */
    int64_t lasted_ms = deadline_now_ms() - begun_ms;
    ck_assert_msg(lasted_ms > 1000, "%lld ms", (long long)lasted_ms);
    subject_leave(s);
}
END_TEST

START_TEST(a_restart_of_the_node_forgets_tombstones_but_no_document)
{
    struct subject subject;
    struct subject *s = &subject;
    subject_enter(s);
    OK(index_create(s->service, s->first, MAPPING, NULL, &s->err));
    expect_one(s, s->first, OPERATION_UPSERT, "there", 20, OUTCOME_DONE, 0, NULL);
    expect_one(s, s->first, OPERATION_DELETE, "gone", 20, OUTCOME_DONE, 0, NULL);
    expect_conflict(s, OPERATION_UPSERT, "gone", 19, 20);
    restart_node();
    expect_conflict(s, OPERATION_UPSERT, "there", 19, 20);
    expect_one(s, s->first, OPERATION_UPSERT, "gone", 19, OUTCOME_DONE, 0, NULL);
    subject_leave(s);
}
END_TEST

TESTS(version_tests, NULL, a_conflict_names_the_version_that_is_there,
      a_key_that_looks_like_a_conflict_is_not_taken_for_its_number,
      the_largest_version_is_taken_and_named_digit_for_digit,
      a_deleted_document_does_not_come_back_with_an_older_version,
      a_tombstone_lasts_as_long_as_gc_deletes_says)
TESTS(forgetting_tests, "ROWFERRY_TEST_RESTART",
      a_restart_of_the_node_forgets_tombstones_but_no_document)
