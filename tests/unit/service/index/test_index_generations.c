/* SPDX-License-Identifier: Apache-2.0 */
/* Names of generations, and answers that a real service rarely gives. */
#include "fixture.h"
#include "rowferry/service/index/index.h"
#include "suite.h"

START_TEST(only_a_complete_name_is_that_of_a_generation)
{
    static const char *const others[] = {
        "shop",
        "shop-1",
        "shop-20261121",
        "shop-20261121-",
        "shop-20261121-x",
        "shop-20261121-1x",
        "shop-2026112-1",
        "shop-202611211-1",
        "shop-articles-20261121-1",
        "shops-20261121-1",
        "sho-20261121-1",
        "shop-20261121--1",
        "shop-20261121-1-1",
        "shop-20261121-9999999999999999999",
    };
    int64_t number = 0;
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
        ck_assert_msg(!index_name_of_alias(others[i], "shop", &number), "%s", others[i]);
    }
    ck_assert(index_name_of_alias("shop-20261121-12", "shop", &number));
    ck_assert_int_eq(number, 12);
    ck_assert(index_name_of_alias("shop-articles-20261121-3", "shop-articles", &number));
    ck_assert_int_eq(number, 3);
}
END_TEST

static void check_ready(int status, const char *body, int rc, bool wanted)
{
    char text[ANSWER_BYTES];
    const char *const answers[] = {answer_of(text, status, body), NULL};
    struct fixture f = {0};
    bool green = !wanted;
    start(&f, answers, SIZE_MAX);
    ck_assert_int_eq(index_ready(f.service, "shop-1", 60000, &green, &f.err), rc);
    ck_assert_msg(green == wanted, "%d %s", status, body);
    ck_assert_ptr_nonnull(strstr(
        f.server->request, "GET /_cluster/health/shop-1?wait_for_status=green&timeout=2000ms "));
    stop(&f);
}

START_TEST(each_wait_is_short_and_reports_the_state)
{
    check_ready(200, "{\"status\":\"green\",\"timed_out\":false}", 0, true);
    check_ready(408, "{\"status\":\"yellow\",\"timed_out\":true}", 0, false);
    check_ready(408, "{\"status\":\"red\",\"timed_out\":true}", ERR_TRANSIENT, false);
    check_ready(408, "{\"error\":\"the gateway waits no longer\"}", ERR_TRANSIENT, false);
    check_ready(403, "{\"error\":{\"type\":\"security_exception\"}}", INDEX_UNSEEN, true);
    check_ready(500, "{}", ERR_REJECTED, false);
}
END_TEST

#define OURS(number)                                                                               \
    "\"shop-2026" number "\":{\"mappings\":{\"_meta\":{\"rowferry\":{\"pipeline\":\"p\"}}}}"

START_TEST(generations_are_listed_by_day_and_number)
{
    char text[ANSWER_BYTES];
    const char *const answers[] = {
        answer_of(text, 200,
                  "{" OURS("1122-1") "," OURS("1121-10") "," OURS(
                      "1121-9") ","
                                "\"shop-20261123-1\":{\"settings\":{\"index\":{\"uuid\":\"u\"}}}}"),
        NULL};
    static const char *const wanted[] = {"shop-20261121-9", "shop-20261121-10", "shop-20261122-1"};
    struct fixture f = {0};
    struct index_info list[3];
    size_t count = 0;
    start(&f, answers, SIZE_MAX);
    ck_assert_int_eq(index_list(f.service, "shop", "p", list, 3, &count, &f.err), 0);
    ck_assert_uint_eq(count, 3);
    for (size_t i = 0; i < 3; i++) {
        ck_assert_str_eq(list[i].name, wanted[i]);
    }
    ck_assert_ptr_nonnull(strstr(f.server->request, "GET /shop-2*?expand_wildcards=all&"));
    ck_assert_int_eq(index_list(f.service, "shop", "", list, 3, &count, &f.err), 0);
    ck_assert_uint_eq(count, 0);
    ck_assert_int_eq(index_list(f.service, "sh*p", "p", list, 3, &count, &f.err), ERR_CONFIG);
    stop(&f);
}
END_TEST

SUITE_MAIN("service/index_generations", only_a_complete_name_is_that_of_a_generation,
           each_wait_is_short_and_reports_the_state, generations_are_listed_by_day_and_number)
