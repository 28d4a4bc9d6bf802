/* SPDX-License-Identifier: Apache-2.0 */
/* Bulk requests: the outcome of each operation and the form of answers. */
#include <stdio.h>
#include <string.h>

#include "subject.h"

START_TEST(documents_are_counted_after_a_refresh)
{
    struct subject subject;
    struct subject *s = &subject;
    struct batch b;
    int64_t count;
    subject_enter(s);
    OK(index_create(s->service, s->first, MAPPING, NULL, &s->err));
    open_batch(&b);
    for (int i = 0; i < 1000; i++) {
        char id[16];
        snprintf(id, sizeof(id), "%d", i);
        add(&b, OPERATION_UPSERT, id, 10, "{\"title\":\"x\"}");
    }
    send_whole(s, s->first, &b);
    for (size_t i = 0; i < b.count; i++) {
        expect_outcome(&b, i, OUTCOME_DONE, 201, NULL);
    }
    OK(index_refresh(s->service, s->first, &s->err));
    OK(index_count(s->service, s->first, &count, &s->err));
    ck_assert_int_eq(count, 1000);
    batch_release(&b);
    subject_leave(s);
}
END_TEST

START_TEST(every_operation_of_a_mixed_batch_has_its_own_outcome)
{
    struct subject subject;
    struct subject *s = &subject;
    struct batch b;
    subject_enter(s);
    OK(index_create(s->service, s->first, MAPPING, NULL, &s->err));
    open_batch(&b);
    add(&b, OPERATION_UPSERT, "a", 10, "{\"source_id\":\"a\",\"n\":1}");
    add(&b, OPERATION_UPSERT, "b", 10, "{\"n\":\"abc\"}");
    add(&b, OPERATION_UPSERT, "c", 10, "{\"nope\":1}");
    add(&b, OPERATION_DELETE, "d", 10, NULL);
    add(&b, OPERATION_UPSERT, "e", 10, "{\"n\":2}");
    send_whole(s, s->first, &b);
    expect_outcome(&b, 0, OUTCOME_DONE, 201, NULL);
    expect_outcome(&b, 1, OUTCOME_REJECTED, 400, NULL);
    expect_outcome(&b, 2, OUTCOME_REJECTED, 400, NULL);
    expect_outcome(&b, 3, OUTCOME_DONE, 404, NULL);
    expect_outcome(&b, 4, OUTCOME_DONE, 201, NULL);
    struct span reason = batch_reason(&b, &b.operations[1]);
    ck_assert_msg(memmem(reason.data, reason.len, "failed to parse", 15) != NULL, "%.*s",
                  (int)reason.len, reason.data);
    reason = batch_reason(&b, &b.operations[2]);
    ck_assert_msg(memmem(reason.data, reason.len, "strict_dynamic_mapping_exception", 32) != NULL,
                  "%.*s", (int)reason.len, reason.data);
    say(s, 200, "\"n\":1", "GET", s->first, "/_doc/a", NULL);
    say(s, 200, "\"n\":2", "GET", s->first, "/_doc/e", NULL);
    say(s, 404, "\"found\":false", "GET", s->first, "/_doc/b", NULL);
    batch_release(&b);
    subject_leave(s);
}
END_TEST

START_TEST(versions_never_go_back)
{
    struct subject subject;
    struct subject *s = &subject;
    struct batch b;
    subject_enter(s);
    OK(index_create(s->service, s->first, MAPPING, NULL, &s->err));
    open_batch(&b);
    add(&b, OPERATION_UPSERT, "a", 10, "{\"n\":1}");
    add(&b, OPERATION_UPSERT, "a", 10, "{\"n\":1}");
    add(&b, OPERATION_UPSERT, "a", 9, "{\"n\":2}");
    add(&b, OPERATION_DELETE, "a", 9, NULL);
    add(&b, OPERATION_DELETE, "b", 10, NULL);
    add(&b, OPERATION_DELETE, "b", 10, NULL);
    add(&b, OPERATION_UPSERT, "b", 9, "{\"n\":3}");
    b.operations[1].attempts = 1; /* already sent once, like the second delete of "b" */
    b.operations[5].attempts = 1;
    send_whole(s, s->first, &b);
    expect_outcome(&b, 0, OUTCOME_DONE, 201, NULL);
    expect_outcome(&b, 1, OUTCOME_DONE, 409, NULL);
    expect_outcome(&b, 2, OUTCOME_CONFLICT, 409, NULL);
    expect_outcome(&b, 3, OUTCOME_CONFLICT, 409, NULL);
    expect_outcome(&b, 4, OUTCOME_DONE, 404, NULL);
    expect_outcome(&b, 5, OUTCOME_DONE, 409, NULL);
    expect_outcome(&b, 6, OUTCOME_CONFLICT, 409, NULL);
    ck_assert_int_eq(b.operations[2].seen, 10);
    ck_assert_int_eq(b.operations[6].seen, 10);
    say(s, 200, "\"n\":1", "GET", s->first, "/_doc/a", NULL);
    say(s, 404, "\"found\":false", "GET", s->first, "/_doc/b", NULL);
    batch_release(&b);
    subject_leave(s);
}
END_TEST

START_TEST(a_malformed_request_says_so_for_all_and_nothing_is_applied)
{
    struct subject subject;
    struct subject *s = &subject;
    struct batch b;
    subject_enter(s);
    OK(index_create(s->service, s->first, MAPPING, NULL, &s->err));
    open_batch(&b);
    add(&b, OPERATION_UPSERT, "a", 10, "{\"n\":1}");
    add(&b, OPERATION_UPSERT, "b", -1, "{\"n\":1}");
    send_whole(s, s->first, &b);
    ck_assert_uint_eq(b.http_status, 400);
    expect_outcome(&b, 0, OUTCOME_RETRY, 400, NULL);
    expect_outcome(&b, 1, OUTCOME_RETRY, 400, NULL);
    say(s, 404, "\"found\":false", "GET", s->first, "/_doc/a", NULL);
    batch_reset(&b);
    add(&b, OPERATION_UPSERT, "b", -1, "{\"n\":1}");
    send_whole(s, s->first, &b);
    expect_outcome(&b, 0, OUTCOME_REJECTED, 400, NULL);
    ck_assert_uint_gt(batch_reason(&b, &b.operations[0]).len, 0);
    batch_release(&b);
    subject_leave(s);
}
END_TEST

START_TEST(several_bulks_are_in_flight_beside_a_request)
{
    struct subject subject;
    struct subject *s = &subject;
    struct batch b[3];
    int64_t count;
    subject_enter(s);
    OK(index_create(s->service, s->first, MAPPING, NULL, &s->err));
    for (size_t i = 0; i < 3; i++) {
        open_batch(&b[i]);
        for (int k = 0; k < 500; k++) {
            char id[32];
            snprintf(id, sizeof(id), "%zu-%d", i, k);
            add(&b[i], OPERATION_UPSERT, id, 10, "{\"title\":\"several\"}");
        }
        OK(bulk_send(s->service, s->first, NULL, &b[i], &s->err));
    }
    ck_assert(!bulk_can_send(s->service));
    OK(index_count(s->service, s->first, &count, &s->err));
    for (size_t i = 0; i < 3; i++) {
        struct batch *taken = take_back(s, s->service);
        for (size_t k = 0; k < taken->count; k++) {
            expect_outcome(taken, k, OUTCOME_DONE, 201, NULL);
        }
    }
    OK(index_refresh(s->service, s->first, &s->err));
    OK(index_count(s->service, s->first, &count, &s->err));
    ck_assert_int_eq(count, 1500);
    for (size_t i = 0; i < 3; i++) {
        batch_release(&b[i]);
    }
    subject_leave(s);
}
END_TEST

TESTS(bulk_tests, NULL, documents_are_counted_after_a_refresh,
      every_operation_of_a_mixed_batch_has_its_own_outcome, versions_never_go_back,
      a_malformed_request_says_so_for_all_and_nothing_is_applied,
      several_bulks_are_in_flight_beside_a_request)
