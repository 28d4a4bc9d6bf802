/* SPDX-License-Identifier: Apache-2.0 */
/* Product detection, and privileges of a credential. */
#include <stdio.h>
#include <string.h>

#include "subject.h"

#define WRONG "wrong-9d1f7a"

START_TEST(the_product_and_its_version_are_known)
{
    struct subject subject;
    struct subject *s = &subject;
    const char *wanted = getenv("ROWFERRY_TEST_PRODUCT");
    char found[64];
    subject_enter(s);
    ck_assert(s->product.permitted);
    ck_assert(s->product.stand_in == subject_is_stand_in());
    ck_assert_int_ne(s->product.product, PRODUCT_UNKNOWN);
    ck_assert_int_gt(s->product.major, 0);
    snprintf(found, sizeof(found), "%s %s", product_name(s->product.product), s->product.version);
    ck_assert_msg(wanted == NULL || strcmp(found, wanted) == 0, "%s", found);
    subject_leave(s);
}
END_TEST

START_TEST(a_wrong_password_is_refused_without_being_shown)
{
    struct subject subject;
    struct subject *s = &subject;
    struct product_info product;
    struct batch b;
    subject_enter(s);
    struct service *stranger = subject_as(s, s->options.user, WRONG);
    ck_assert_int_eq(product_detect(stranger, &product, &s->err), ERR_REJECTED);
    ck_assert_int_eq(s->err.http_status, 401);
    ck_assert_msg(strstr(s->err.message, ": 401 ") != NULL, "%s", s->err.message);
    ck_assert_msg(strstr(s->err.hint, "does not know this credential"), "%s", s->err.hint);
    open_batch(&b);
    add(&b, OPERATION_UPSERT, "a", 10, "{}");
    send_by(s, stranger, s->other, &b);
    expect_outcome(&b, 0, OUTCOME_FATAL, 401, NULL);
    ck_assert(strstr(s->err.message, WRONG) == NULL && strstr(s->err.detail, WRONG) == NULL &&
              strstr(b.failure.message, WRONG) == NULL && strstr(b.failure.detail, WRONG) == NULL);
    say(s, 404, NULL, "HEAD", s->other, "", NULL);
    batch_release(&b);
    http_service_close(stranger);
    subject_leave(s);
}
END_TEST

TESTS(identity_tests, NULL, the_product_and_its_version_are_known)
TESTS(password_tests, "ROWFERRY_TEST_USER", a_wrong_password_is_refused_without_being_shown)

/* Returns the product's error text for a missing privilege. */
static const char *lacks(const struct subject *s)
{
    return s->product.product == PRODUCT_ELASTICSEARCH ? "is unauthorized for user ["
                                                       : "no permissions for [";
}

START_TEST(one_who_may_not_ask_who_answers_is_served_all_the_same)
{
    struct subject subject;
    struct subject *s = &subject;
    struct product_info product;
    subject_enter(s);
    struct service *writer = subject_as(s, "writer", "writer");
    OK(product_detect(writer, &product, &s->err));
    ck_assert(!product.permitted);
    ck_assert_int_eq(product.product, s->product.product);
    ck_assert_int_eq(product.major, 0);
    ck_assert_str_eq(product.version, "");
    http_service_close(writer);
    subject_leave(s);
}
END_TEST

START_TEST(one_who_may_only_write_writes_and_is_told_what_is_missing)
{
    struct subject subject;
    struct subject *s = &subject;
    struct batch b;
    enum alias_kind kind;
    struct index_info info;
    struct product_info product;
    subject_enter(s);
    OK(index_create(s->service, s->first, MAPPING, NULL, &s->err));
    struct service *writer = subject_as(s, "writer", "writer");
    OK(product_detect(writer, &product, &s->err));
    open_batch(&b);
    add(&b, OPERATION_UPSERT, "a", 10, "{\"n\":1}");
    add(&b, OPERATION_DELETE, "b", 10, NULL);
    send_by(s, writer, s->first, &b);
    expect_outcome(&b, 0, OUTCOME_DONE, 0, NULL);
    expect_outcome(&b, 1, OUTCOME_DONE, 0, NULL);
    say(s, 200, "\"n\":1", "GET", s->first, "/_doc/a", NULL);
    ck_assert_int_eq(index_resolve(writer, s->first, &kind, &info, &s->err), ERR_REJECTED);
    ck_assert_int_eq(s->err.http_status, 403);
    ck_assert_msg(strstr(s->err.message, lacks(s)) != NULL, "%s", s->err.message);
    ck_assert_msg(strstr(s->err.hint, "lacks this privilege") != NULL, "%s", s->err.hint);
    batch_release(&b);
    http_service_close(writer);
    subject_leave(s);
}
END_TEST

START_TEST(one_who_may_only_write_makes_no_index)
{
    struct subject subject;
    struct subject *s = &subject;
    struct batch b;
    subject_enter(s);
    struct service *writer = subject_as(s, "writer", "writer");
    open_batch(&b);
    add(&b, OPERATION_UPSERT, "a", 10, "{\"n\":1}");
    add(&b, OPERATION_DELETE, "b", 10, NULL);
    send_by(s, writer, s->other, &b);
    expect_outcome(&b, 0, OUTCOME_FATAL, 403, "security_exception: ");
    expect_outcome(&b, 1, OUTCOME_FATAL, 403, "security_exception: ");
    say(s, 404, NULL, "HEAD", s->other, "", NULL);
    batch_release(&b);
    http_service_close(writer);
    subject_leave(s);
}
END_TEST

static void expect_stopped(struct subject *s, const char *user)
{
    struct batch b;
    struct service *service = subject_as(s, user, user);
    open_batch(&b);
    add(&b, OPERATION_UPSERT, "a", 10, "{\"n\":1}");
    add(&b, OPERATION_UPSERT, "b", 10, "{\"n\":1}");
    send_by(s, service, s->first, &b);
    expect_outcome(&b, 0, OUTCOME_FATAL, 403, NULL);
    expect_outcome(&b, 1, OUTCOME_FATAL, 403, NULL);
    struct span reason = batch_reason(&b, &b.operations[0]);
    const char *words = reason.len > 0 ? reason.data : b.failure.message;
    ck_assert_msg(strstr(words, lacks(s)) != NULL, "%s", words);
    batch_release(&b);
    http_service_close(service);
}

START_TEST(one_who_may_not_write_stops_and_nothing_is_rejected)
{
    struct subject subject;
    struct subject *s = &subject;
    subject_enter(s);
    OK(index_create(s->service, s->first, MAPPING, NULL, &s->err));
    expect_stopped(s, "reader");
    expect_stopped(s, "nobody");
    say(s, 404, NULL, "GET", s->first, "/_doc/a", NULL);
    subject_leave(s);
}
END_TEST

TESTS(privilege_tests, "ROWFERRY_TEST_USERS",
      one_who_may_not_ask_who_answers_is_served_all_the_same,
      one_who_may_only_write_writes_and_is_told_what_is_missing,
      one_who_may_only_write_makes_no_index, one_who_may_not_write_stops_and_nothing_is_rejected)
