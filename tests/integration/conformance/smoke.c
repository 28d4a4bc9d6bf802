/* SPDX-License-Identifier: Apache-2.0 */
/* Steps of the smoke test, with and without the privileges. */
#include "rowferry/service/trial/smoke.h"

#include <stdio.h>
#include <string.h>

#include "subject.h"

static struct smoke trial_of(const struct subject *s, bool implicit)
{
    struct smoke t = {.implicit = implicit, .product = s->product.product};
    snprintf(t.index, sizeof(t.index), "%s", s->other);
    snprintf(t.token, sizeof(t.token), "smoke0123456789abcdef");
    return t;
}

static void pass(struct subject *s, bool implicit)
{
    struct smoke t = trial_of(s, implicit);
    OK(smoke_create(s->service, &t, &s->err));
    OK(smoke_index(s->service, &t, 1700000000000000, &s->err));
    ck_assert(!t.updated);
    OK(smoke_search(s->service, &t, &s->err));
    OK(smoke_remove(s->service, &t, &s->err));
    ck_assert_int_eq(t.state, SMOKE_ABSENT);
    say(s, 404, NULL, "GET", s->other, "", NULL);
}

START_TEST(a_document_goes_through_all_steps)
{
    struct subject subject;
    struct subject *s = &subject;
    subject_enter(s);
    pass(s, false);
    pass(s, true);
    subject_leave(s);
}
END_TEST

START_TEST(a_name_that_is_taken_is_refused)
{
    struct subject subject;
    struct subject *s = &subject;
    subject_enter(s);
    OK(index_create(s->service, s->first, MAPPING, NULL, &s->err));
    OK(index_swap(s->service, s->alias, NULL, s->first, &s->err));
    for (int i = 0; i < 4; i++) {
        struct smoke t = trial_of(s, i % 2 == 1);
        snprintf(t.index, sizeof(t.index), "%s", i < 2 ? s->first : s->alias);
        ck_assert_int_eq(smoke_create(s->service, &t, &s->err), ERR_REJECTED);
        ck_assert_msg(strstr(s->err.message, "is taken") != NULL, "%s", s->err.message);
        ck_assert_int_eq(t.state, SMOKE_ABSENT);
        OK(smoke_remove(s->service, &t, &s->err));
    }
    say(s, 200, NULL, "GET", s->first, "", NULL);
    subject_leave(s);
}
END_TEST

/* An implicitly created index is not removed if it has another document. */
START_TEST(an_index_that_holds_more_than_its_document_is_left)
{
    struct subject subject;
    struct subject *s = &subject;
    subject_enter(s);
    struct smoke t = trial_of(s, true);
    OK(smoke_create(s->service, &t, &s->err));
    OK(smoke_index(s->service, &t, 1700000000000000, &s->err));
    say(s, 201, NULL, "POST", s->other, "/_doc?refresh=true", "{\"message\":\"mine\"}");
    ck_assert_int_eq(smoke_remove(s->service, &t, &s->err), ERR_REJECTED);
    ck_assert_msg(strstr(s->err.message, "was not removed") != NULL, "%s", s->err.message);
    say(s, 200, NULL, "GET", s->other, "", NULL);
    subject_leave(s);
}
END_TEST

/* reader may only read, nobody has no privileges. Each error names the missing privilege. */
START_TEST(a_403_names_the_privilege)
{
    struct subject subject;
    struct subject *s = &subject;
    subject_enter(s);
    struct service *reader = subject_as(s, "reader", "reader");
    struct smoke t = trial_of(s, false);
    ck_assert_int_eq(smoke_create(reader, &t, &s->err), ERR_REJECTED);
    ck_assert_msg(strstr(s->err.hint, "create") != NULL && strstr(s->err.hint, s->other) != NULL,
                  "%s / %s", s->err.message, s->err.hint);
    ck_assert_int_eq(t.state, SMOKE_ABSENT);
    say(s, 404, NULL, "GET", s->other, "", NULL);
    http_service_close(reader);
    subject_leave(s);
}
END_TEST

TESTS(smoke_tests, NULL, a_document_goes_through_all_steps, a_name_that_is_taken_is_refused,
      an_index_that_holds_more_than_its_document_is_left)
TESTS(smoke_privilege_tests, "ROWFERRY_TEST_USERS", a_403_names_the_privilege)
