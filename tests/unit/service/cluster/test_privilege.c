/* SPDX-License-Identifier: Apache-2.0 */
/* Privileges: parsed from answers, and the request that grants the required ones. */
#include "rowferry/service/cluster/privilege.h"

#include "fixture.h"
#include "suite.h"

static const struct product_info elastic = {.product = PRODUCT_ELASTICSEARCH, .major = 8};
static const struct product_info open_search = {.product = PRODUCT_OPENSEARCH, .major = 2};

#define NAME(read) "{\"read\":" read ",\"index\":true,\"delete\":true,\"manage\":false}"

START_TEST(privileges_that_elasticsearch_denies_are_listed)
{
    char text[ANSWER_BYTES];
    const char *const answers[] = {
        answer_of(text, 200,
                  "{\"index\":{\"shop\":" NAME("true") ",\"shop-*\":" NAME("false") "}}"),
        NULL};
    bool told;
    struct buf missing;
    struct fixture f = {0};
    buf_init(&missing, 4096);
    start(&f, answers, SIZE_MAX);
    ck_assert_int_eq(privilege_missing(f.service, &elastic, "shop", &missing, &told, &f.err), 0);
    ck_assert(told);
    ck_assert_str_eq(buf_text(&missing), "manage on \"shop\"; read, manage on \"shop-*\"");
    ck_assert_ptr_nonnull(strstr(f.server->request, "POST /_security/user/_has_privileges"));
    ck_assert_ptr_nonnull(strstr(f.server->request, "\"names\":[\"shop\",\"shop-*\"]"));
    buf_release(&missing);
    stop(&f);
}
END_TEST

START_TEST(actions_that_opensearch_refuses_are_listed_once)
{
    char text[ANSWER_BYTES];
    const char *const answers[] = {
        answer_of(text, 403,
                  "{\"error\":{\"reason\":\"no permissions for [indices:admin/create] and User "
                  "[name=x]\"}}"),
        NULL};
    bool told;
    struct buf missing;
    struct fixture f = {0};
    buf_init(&missing, 4096);
    start(&f, answers, SIZE_MAX);
    ck_assert_int_eq(privilege_missing(f.service, &open_search, "shop", &missing, &told, &f.err),
                     0);
    ck_assert_str_eq(buf_text(&missing), "indices:admin/create");
    /* every request uses a name that no index can have */
    ck_assert_ptr_nonnull(strstr(f.server->request, "shop-CHECK-"));
    buf_release(&missing);
    stop(&f);
}
END_TEST

/* A block of an index also returns 403. */
START_TEST(a_refusal_without_an_action_is_not_a_missing_privilege)
{
    char text[ANSWER_BYTES];
    const char *const answers[] = {
        answer_of(text, 403, "{\"error\":{\"type\":\"cluster_block_exception\"}}"), NULL};
    bool told;
    struct buf missing;
    struct fixture f = {0};
    buf_init(&missing, 4096);
    start(&f, answers, SIZE_MAX);
    ck_assert_int_eq(privilege_missing(f.service, &open_search, "shop", &missing, &told, &f.err),
                     0);
    ck_assert_uint_eq(missing.len, 0);
    buf_release(&missing);
    stop(&f);
}
END_TEST

START_TEST(a_missing_endpoint_means_no_accounts)
{
    static const struct {
        int status;
        const char *body;
        enum account_state state;
    } cases[] = {
        {400, "{\"error\":\"no handler found for uri [/_x] and method [GET]\"}", ACCOUNT_OPEN},
        {405, "{\"error\":\"Incorrect HTTP method for uri [/_x]\",\"status\":405}", ACCOUNT_OPEN},
        {403, "{\"error\":\"go away\"}", ACCOUNT_UNSEEN},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char text[ANSWER_BYTES];
        const char *const answers[] = {answer_of(text, cases[i].status, cases[i].body), NULL};
        struct account a;
        struct fixture f = {0};
        start(&f, answers, SIZE_MAX);
        ck_assert_int_eq(
            privilege_account_look(f.service, i == 1 ? &elastic : &open_search, &a, &f.err), 0);
        ck_assert_msg(a.state == cases[i].state, "%s", cases[i].body);
        privilege_account_release(&a);
        stop(&f);
    }
}
END_TEST

START_TEST(the_printed_role_has_the_checked_privileges)
{
    struct buf out;
    buf_init(&out, 4096);
    privilege_push_grant(&out, PRODUCT_ELASTICSEARCH, false, "shop");
    ck_assert_str_eq(buf_text(&out),
                     "PUT /_security/role/rowferry-shop {\"indices\":[{\"names\":[\"shop\","
                     "\"shop-*\"],\"privileges\":[\"read\",\"index\",\"delete\",\"manage\"]}]}");
    buf_reset(&out);
    privilege_push_grant(&out, PRODUCT_ELASTICSEARCH, true, "shop");
    ck_assert_str_eq(buf_text(&out),
                     "POST /_security/api_key {\"name\":\"rowferry-shop\",\"role_descriptors\":{"
                     "\"rowferry-shop\":{\"indices\":[{\"names\":[\"shop\",\"shop-*\"],"
                     "\"privileges\":[\"read\",\"index\",\"delete\",\"manage\"]}]}}}");
    buf_reset(&out);
    privilege_push_grant(&out, PRODUCT_OPENSEARCH, true, "shop");
    ck_assert_str_eq(buf_text(&out),
                     "PUT /_plugins/_security/api/roles/rowferry-shop {\"cluster_permissions\":["
                     "\"indices:data/write/bulk\",\"indices:data/read/mget\"],"
                     "\"index_permissions\":[{\"index_patterns\":[\"shop\",\"shop-*\"],"
                     "\"allowed_actions\":[\"read\",\"write\",\"manage\"]}]}");
    buf_release(&out);
}
END_TEST

SUITE_MAIN("service/privilege", privileges_that_elasticsearch_denies_are_listed,
           actions_that_opensearch_refuses_are_listed_once,
           a_refusal_without_an_action_is_not_a_missing_privilege,
           a_missing_endpoint_means_no_accounts, the_printed_role_has_the_checked_privileges)
