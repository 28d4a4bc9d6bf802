/* SPDX-License-Identifier: Apache-2.0 */
/* Requests that are refused as a whole, and answers that are less than they seem. */
#include <stdio.h>
#include <string.h>

#include "subject.h"

/* Sends a good operation "a" and these bytes. The whole request must be refused with these words,
 * and "a" must not be stored. */
static void expect_whole_refused(struct subject *s, const char *bytes, const char *words)
{
    struct batch b;
    open_batch(&b);
    add(&b, OPERATION_UPSERT, "a", 10, "{\"n\":1}");
    batch_begin(&b, OPERATION_UPSERT, span_make("b", 1), 10, 1);
    buf_push_text(&b.bytes, bytes);
    ck_assert(batch_commit(&b));
    send_whole(s, s->first, &b);
    ck_assert_uint_eq(b.http_status, 400);
    expect_outcome(&b, 0, OUTCOME_RETRY, 400, NULL);
    expect_outcome(&b, 1, OUTCOME_RETRY, 400, NULL);
    ck_assert_int_eq(b.failure.class, ERR_REJECTED);
    ck_assert_msg(strstr(b.failure.message, words) != NULL, "no %s in %s", words,
                  b.failure.message);
    say(s, 404, NULL, "GET", s->first, "/_doc/a", NULL);
    batch_release(&b);
}

START_TEST(a_malformed_part_refuses_the_whole_request_and_nothing_is_applied)
{
    struct subject subject;
    struct subject *s = &subject;
    subject_enter(s);
    OK(index_create(s->service, s->first, MAPPING, NULL, &s->err));
    expect_whole_refused(s, "{\"index\":{\"_id\":\"b\"}}\n{\"n\":1}",
                         "The bulk request must be terminated by a newline");
    expect_whole_refused(s, "{\"index\":{\"_id\":\"b\",\"bogus\":1}}\n{\"n\":1}\n",
                         "contains an unknown parameter [bogus]");
    expect_whole_refused(s, "{\"put\":{\"_id\":\"b\"}}\n{\"n\":1}\n", "but found [put]");
    expect_whole_refused(s, "[1]\n{\"n\":1}\n", "expected START_OBJECT");
    expect_whole_refused(
        s, "{\"index\":{\"_id\":\"b\",\"version\":-1,\"version_type\":\"external\"}}\n{}\n",
        "illegal version value [-1] for version type [EXTERNAL]");
    subject_leave(s);
}
END_TEST

START_TEST(an_id_of_over_512_bytes_fails_its_request_but_a_delete_of_it_does_not)
{
    struct subject subject;
    struct subject *s = &subject;
    char id[514];
    memset(id, 'k', sizeof(id) - 1);
    id[513] = '\0';
    subject_enter(s);
    OK(index_create(s->service, s->first, MAPPING, NULL, &s->err));
    expect_one(s, s->first, OPERATION_UPSERT, id, 10, OUTCOME_REJECTED, 400,
               "action_request_validation_exception: Validation Failed: 1: id [kkk");
    expect_one(s, s->first, OPERATION_DELETE, id, 10, OUTCOME_DONE, 0, NULL);
    expect_one(s, s->first, OPERATION_UPSERT, id + 1, 10, OUTCOME_DONE, 0, NULL);
    subject_leave(s);
}
END_TEST

START_TEST(an_operation_that_the_service_passes_over_is_not_taken_for_done)
{
    struct subject subject;
    struct subject *s = &subject;
    struct batch b;
    subject_enter(s);
    OK(index_create(s->service, s->first, MAPPING, NULL, &s->err));
    open_batch(&b);
    add(&b, OPERATION_UPSERT, "a", 10, "{\"n\":1}");
    batch_begin(&b, OPERATION_UPSERT, span_make("b", 1), 10, 1);
    buf_push_text(&b.bytes, "{\"index\":{\"_id\":\"b\"}}\n"); /* without a document */
    ck_assert(batch_commit(&b));
    send_whole(s, s->first, &b);
    ck_assert_uint_eq(b.http_status, 200);
    expect_outcome(&b, 0, OUTCOME_UNKNOWN, 0, NULL);
    expect_outcome(&b, 1, OUTCOME_UNKNOWN, 0, NULL);
    ck_assert_msg(strstr(b.failure.message, "has 1 items, expected 2") != NULL, "%s",
                  b.failure.message);
    batch_release(&b);
    subject_leave(s);
}
END_TEST

START_TEST(a_parameter_that_the_product_does_not_know_is_refused)
{
    struct subject subject;
    struct subject *s = &subject;
    static const char good[] = "{\"index\":{\"_id\":\"a\"}}\n{\"n\":1}\n";
    subject_enter(s);
    OK(index_create(s->service, s->first, MAPPING, NULL, &s->err));
    say(s, 400, "contains unrecognized parameter: [bogus]", "POST", s->first, "/_bulk?bogus=1",
        good);
    bool elastic = s->product.product == PRODUCT_ELASTICSEARCH;
    say(s, elastic ? 200 : 400, NULL, "POST", s->first, "/_bulk?include_source_on_error=false",
        good);
    ck_assert_str_eq(product_bulk_query(&s->product),
                     elastic ? "&include_source_on_error=false" : "");
    expect_one(s, s->first, OPERATION_UPSERT, "b", 10, OUTCOME_DONE, 0, NULL);
    subject_leave(s);
}
END_TEST

START_TEST(whether_there_are_errors_is_said_before_the_items)
{
    static const char query[] = "/_bulk?filter_path=errors,items.*.status,items.*.error";
    struct subject subject;
    struct subject *s = &subject;
    subject_enter(s);
    OK(index_create(s->service, s->first, MAPPING, NULL, &s->err));
    for (int i = 0; i < 2; i++) {
        const char *errors = i == 0 ? "\"errors\":false" : "\"errors\":true";
        char *body = told(s, 200, "POST", s->first, query,
                          i == 0 ? "{\"index\":{\"_id\":\"a\"}}\n{\"n\":1}\n"
                                 : "{\"index\":{\"_id\":\"a\"}}\n{\"n\":1}\n"
                                   "{\"index\":{\"_id\":\"b\"}}\n{\"n\":\"x\"}\n");
        const char *at = strstr(body, errors);
        const char *items = strstr(body, "\"items\":[{\"index\":{\"status\":20");
        ck_assert_msg(at != NULL && items != NULL && at < items, "%s", body);
        free(body);
    }
    subject_leave(s);
}
END_TEST

START_TEST(a_reason_does_not_quote_the_rest_of_the_document)
{
    struct subject subject;
    struct subject *s = &subject;
    struct batch b;
    subject_enter(s);
    OK(index_create(s->service, s->first, MAPPING, NULL, &s->err));
    open_batch(&b);
    add(&b, OPERATION_UPSERT, "a", 10, "{\"title\":\"canary-51ce\",\"n\":1,\"n\":2}");
    add(&b, OPERATION_UPSERT, "b", 10, "{\"title\":\"canary-51ce\",\"n\":}");
    add(&b, OPERATION_UPSERT, "c", 10, "{\"title\":\"canary-51ce\",\"nope\":1}");
    send_whole(s, s->first, &b);
    for (size_t i = 0; i < 3; i++) {
        struct span reason = batch_reason(&b, &b.operations[i]);
        expect_outcome(&b, i, OUTCOME_REJECTED, 400, NULL);
        ck_assert_uint_gt(reason.len, 0);
        ck_assert_msg(memmem(reason.data, reason.len, "canary-51ce", 11) == NULL, "%.*s",
                      (int)reason.len, reason.data);
    }
    batch_release(&b);
    subject_leave(s);
}
END_TEST

TESTS(refusal_tests, NULL, a_malformed_part_refuses_the_whole_request_and_nothing_is_applied,
      an_id_of_over_512_bytes_fails_its_request_but_a_delete_of_it_does_not,
      an_operation_that_the_service_passes_over_is_not_taken_for_done,
      a_parameter_that_the_product_does_not_know_is_refused,
      whether_there_are_errors_is_said_before_the_items,
      a_reason_does_not_quote_the_rest_of_the_document)

/* Adds an operation with a document of about this size. */
static void add_large(struct batch *b, const char *id, size_t bytes)
{
    char *document = mem_zero(1, bytes + 32);
    strcpy(document, "{\"title\":\"");
    memset(document + 10, 'x', bytes);
    strcpy(document + 10 + bytes, "\"}");
    add(b, OPERATION_UPSERT, id, 10, document);
    free(document);
}

START_TEST(a_request_that_is_too_large_is_413_and_the_connection_stays_good)
{
    struct subject subject;
    struct subject *s = &subject;
    struct batch b;
    size_t most = strtoul(getenv("ROWFERRY_TEST_MAX_BYTES"), NULL, 10);
    subject_enter(s);
    OK(index_create(s->service, s->first, MAPPING, NULL, &s->err));
    open_batch(&b);
    add_large(&b, "a", most * 3 / 4);
    add_large(&b, "b", most * 3 / 4);
    send_whole(s, s->first, &b);
    ck_assert_uint_eq(b.http_status, 413);
    expect_outcome(&b, 0, OUTCOME_RETRY, 413, NULL);
    expect_outcome(&b, 1, OUTCOME_RETRY, 413, NULL);
    batch_reset(&b);
    add_large(&b, "a", most + 1);
    send_whole(s, s->first, &b);
    expect_outcome(&b, 0, OUTCOME_REJECTED, 413, "request_refused: ");
    for (int i = 0; i < 3; i++) {
        expect_one(s, s->first, OPERATION_UPSERT, "c", 10 + i, OUTCOME_DONE, 0, NULL);
    }
    batch_release(&b);
    subject_leave(s);
}
END_TEST

TESTS(limit_tests, "ROWFERRY_TEST_MAX_BYTES",
      a_request_that_is_too_large_is_413_and_the_connection_stays_good)
