/* SPDX-License-Identifier: Apache-2.0 */
/* Our generations, and the alias that moves from one to the next. */
#include <stdio.h>
#include <string.h>

#include "subject.h"

START_TEST(a_generation_is_built_and_swapped_in)
{
    struct subject subject;
    struct subject *s = &subject;
    enum alias_kind kind;
    struct index_info info;
    bool found;
    subject_enter(s);
    OK(index_resolve(s->service, s->alias, &kind, &info, &s->err));
    ck_assert_int_eq(kind, ALIAS_ABSENT);
    OK(index_create(s->service, s->first, MAPPING, NULL, &s->err));
    OK(index_create(s->service, s->second, MAPPING,
                    "{\"number_of_replicas\":0,\"index\":{\"refresh_interval\":\"5s\"}}", &s->err));
    say(s, 200, "\"gc_deletes\":\"1h\"", "GET", s->second, "/_settings", NULL);
    say(s, 200, "\"refresh_interval\":\"-1\"", "GET", s->second, "/_settings", NULL);
    OK(index_look(s->service, s->first, &found, &info, &s->err));
    ck_assert(found);
    ck_assert_str_eq(info.pipeline, "articles");
    ck_assert_str_eq(info.fingerprint, "0011223344556677");
    ck_assert_str_ne(info.uuid, "");
    OK(index_swap(s->service, s->alias, NULL, s->first, &s->err));
    OK(index_resolve(s->service, s->alias, &kind, &info, &s->err));
    ck_assert_int_eq(kind, ALIAS_ONE);
    ck_assert_str_eq(info.name, s->first);
    OK(index_finish(s->service, s->second,
                    "{\"number_of_replicas\":0,\"index\":{\"refresh_interval\":\"5s\"}}", &s->err));
    say(s, 200, "\"refresh_interval\":\"5s\"", "GET", s->second, "/_settings", NULL);
    OK(index_swap(s->service, s->alias, s->first, s->second, &s->err));
    OK(index_resolve(s->service, s->alias, &kind, &info, &s->err));
    ck_assert_str_eq(info.name, s->second);
    /* repeating it succeeds; moving it from an index without the alias does not */
    OK(index_swap(s->service, s->alias, s->first, s->second, &s->err));
    ck_assert_int_eq(index_swap(s->service, s->alias, s->first, s->first, &s->err), ERR_REJECTED);
    OK(index_resolve(s->service, s->second, &kind, &info, &s->err));
    ck_assert_int_eq(kind, ALIAS_CONCRETE);
    OK(index_look(s->service, s->alias, &found, &info, &s->err));
    ck_assert(!found);
    subject_leave(s);
}
END_TEST

START_TEST(the_refresh_interval_goes_back_to_the_default)
{
    struct subject subject;
    struct subject *s = &subject;
    struct http_answer answer;
    char path[128];
    subject_enter(s);
    OK(index_create(s->service, s->first, MAPPING, NULL, &s->err));
    OK(index_finish(s->service, s->first, NULL, &s->err));
    snprintf(path, sizeof(path), "/%s/_settings", s->first);
    OK(http_request(s->service, "GET", path, span_make(NULL, 0), &answer, &s->err));
    ck_assert_int_eq(answer.status, 200);
    ck_assert_ptr_null(strstr(buf_text(&answer.body), "\"refresh_interval\":\"-1\""));
    http_answer_release(&answer);
    subject_leave(s);
}
END_TEST

START_TEST(what_the_service_refuses_is_told)
{
    struct subject subject;
    struct subject *s = &subject;
    subject_enter(s);
    ck_assert_int_eq(index_create(s->service, s->first,
                                  "{\"properties\":{\"a\":{\"type\":\"bogus\"}}}", NULL, &s->err),
                     ERR_REJECTED);
    ck_assert_int_eq(s->err.http_status, 400);
    ck_assert_msg(strstr(s->err.message, "bogus") != NULL, "%s", s->err.message);
    OK(index_create(s->service, s->first, MAPPING, NULL, &s->err));
    ck_assert_int_eq(index_create(s->service, s->first, MAPPING, NULL, &s->err), ERR_REJECTED);
    ck_assert_msg(strstr(s->err.message, "resource_already_exists_exception") != NULL, "%s",
                  s->err.message);
    ck_assert_int_eq(index_delete(s->service, s->first, "authors", &s->err), ERR_INTERNAL);
    subject_leave(s);
}
END_TEST

TESTS(generation_tests, NULL, a_generation_is_built_and_swapped_in,
      the_refresh_interval_goes_back_to_the_default, what_the_service_refuses_is_told)
