/* SPDX-License-Identifier: Apache-2.0 */
/* Adoptions that the service does not permit, or only answers in part. */
#include "fixture.h"
#include "rowferry/service/index/index.h"
#include "suite.h"

#define OLD "{\"shop\":{\"aliases\":{},\"settings\":{\"index\":{\"uuid\":\"u1\"}}}}"
#define POINTED "{\"shop-1\":{\"aliases\":{\"shop\":{}},\"settings\":{}}}"
#define NONE "{\"error\":{\"type\":\"index_not_found_exception\"}}"
#define DONE "{\"acknowledged\":true}"
#define FORBIDDEN "{\"error\":{\"type\":\"security_exception\",\"reason\":\"no\"}}"

struct said {
    int status;
    const char *body;
};

/* Plays the answers in order. Checks the number of requests and the start of the last one. */
static void check(const struct said *said, const char *kept, int rc, bool kept_wanted,
                  size_t requests, const char *last, const char *words)
{
    static char texts[16][ANSWER_BYTES];
    const char *answers[17] = {NULL};
    struct fixture f = {0};
    bool kept_it = !kept_wanted;
    for (size_t i = 0; said[i].status != 0; i++) {
        answers[i] = answer_of(texts[i], said[i].status, said[i].body);
    }
    start(&f, answers, SIZE_MAX);
    ck_assert_int_eq(adopt_swap_alias(f.service, "shop", kept, "shop-1", &kept_it, &f.err), rc);
    ck_assert(kept_it == kept_wanted);
    ck_assert_uint_eq(f.server->requests, requests);
    ck_assert_msg(strncmp(f.server->request, last, strlen(last)) == 0, "%.200s", f.server->request);
    ck_assert_msg(words == NULL || strstr(f.err.message, words) != NULL, "%s", f.err.message);
    stop(&f);
}

START_TEST(an_index_that_cannot_be_cloned_is_reported_and_unblocked)
{
    static const struct said clone[] = {{200, OLD}, {404, NONE}, {200, DONE}, {403, FORBIDDEN},
                                        {200, OLD}, {200, DONE}, {0, NULL}};
    static const struct said block[] = {
        {200, OLD}, {404, NONE}, {403, FORBIDDEN}, {200, OLD}, {0, NULL}};
    check(clone, "shop-old", ADOPT_CANNOT_KEEP, false, 6, "PUT /shop/_settings ",
          "cannot keep index \"shop\" as \"shop-old\": POST /shop/_clone/shop-old of ");
    check(block, "shop-old", ADOPT_CANNOT_KEEP, false, 3, "PUT /shop/_settings ",
          ": 403 security_exception: no");
}
END_TEST

START_TEST(without_a_clone_it_is_one_request)
{
    static const struct said swap[] = {{200, OLD}, {200, DONE}, {0, NULL}};
    check(swap, NULL, 0, false, 2, "POST /_aliases ", NULL);
}
END_TEST

START_TEST(a_swap_whose_answer_was_lost_is_verified)
{
    static const struct said after_all[] = {{200, OLD}, {504, "{}"}, {200, POINTED}, {0, NULL}};
    static const struct said never[] = {{200, OLD}, {504, "{}"}, {200, OLD}, {200, OLD}, {0, NULL}};
    check(after_all, NULL, 0, false, 3, "GET /shop ", NULL);
    check(never, NULL, ERR_TRANSIENT, false, 3, "GET /shop ", ": 504 Gateway Timeout");
}
END_TEST

START_TEST(a_failed_swap_removes_block_and_clone)
{
    static const struct said refused[] = {
        {200, OLD},       {404, NONE}, {200, DONE},
        {200, DONE},      {200, DONE}, {200, "{\"status\":\"green\"}"},
        {403, FORBIDDEN}, {200, OLD},  {200, OLD},
        {200, DONE},      {200, DONE}, {0, NULL}};
    check(refused, "shop-old", ERR_REJECTED, false, 11, "DELETE /shop-old ",
          ": 403 security_exception");
}
END_TEST

START_TEST(an_alias_is_not_adopted)
{
    static const struct said alias[] = {{200, POINTED}, {0, NULL}};
    check(alias, "shop-old", ERR_REJECTED, false, 1, "GET /shop ",
          "\"shop\" is not the name of an index");
}
END_TEST

SUITE_MAIN("service/adopt", an_index_that_cannot_be_cloned_is_reported_and_unblocked,
           without_a_clone_it_is_one_request, a_swap_whose_answer_was_lost_is_verified,
           a_failed_swap_removes_block_and_clone, an_alias_is_not_adopted)
