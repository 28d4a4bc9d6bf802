/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An account with exactly the role that check prints can do everything, and check names each
 * missing privilege.
 */
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "lines.h"
#include "shop.h"
#include "sql.h"
#include "wait.h"

#define PASSWORD "Quay-lantern!93-Bosun"
#define ROLE_BYTES 4096

struct account_shop {
    struct shop shop;
    bool open_search;
    char name[96];
    char role[96];
    char user_path[128];
    char role_path[256];
    char role_body[ROLE_BYTES];
};

static void tell(struct account_shop *a, const char *method, const char *path, const char *body)
{
    struct reply reply;
    const struct subject *s = &a->shop.subject;
    reply_get(&reply, method, s->url, path, body, s->authorization);
    ck_assert_msg(reply.status == 200 || reply.status == 201, "%s %s: %d %s", method, path,
                  reply.status, reply.body);
    reply_release(&reply);
}

static void give(struct account_shop *a, const char *role)
{
    char body[512];
    snprintf(body, sizeof(body), "{\"password\":\"" PASSWORD "\",\"%s\":[%s%s%s]}",
             a->open_search ? "opendistro_security_roles" : "roles", role != NULL ? "\"" : "",
             role != NULL ? role : "", role != NULL ? "\"" : "");
    tell(a, "PUT", a->user_path, body);
}

/* Creates the account without a role; the configuration uses it. */
static void enter(struct account_shop *a)
{
    struct shop *shop = &a->shop;
    shop_open(shop, 100, NULL, "\"number_of_replicas\": 0");
    a->open_search = shop->subject.product.product == PRODUCT_OPENSEARCH;
    snprintf(a->name, sizeof(a->name), "ferry-of-%.60s", shop->subject.alias);
    snprintf(a->role, sizeof(a->role), "rowferry-%.60s", shop->subject.alias);
    snprintf(a->user_path, sizeof(a->user_path), "%s/%s",
             a->open_search ? "/_plugins/_security/api/internalusers" : "/_security/user", a->name);
    give(a, NULL);
    shop->subject.options.user = a->name;
    shop->subject.options.credentials[SERVICE_PASSWORD].value = PASSWORD;
    shop_configure(shop, NULL, "\"number_of_replicas\": 0");
}

static void leave(struct account_shop *a)
{
    tell(a, "DELETE", a->user_path, NULL);
    tell(a, "DELETE", a->role_path, NULL);
    shop_close(&a->shop);
}

/* Creates the role as printed in the remedy. */
static void follow(struct account_shop *a)
{
    struct lines l;
    lines_look(&l, a->shop.config, "--accept-admin", NULL);
    const char *at = strstr(lines_expect(&l, "privileges", "FAIL", "lacks"), "PUT /");
    ck_assert_ptr_nonnull(at);
    at += strlen("PUT ");
    const char *body = strchr(at, ' ');
    ck_assert_ptr_nonnull(body);
    snprintf(a->role_path, sizeof(a->role_path), "%.*s", (int)(body - at), at);
    snprintf(a->role_body, sizeof(a->role_body), "%s", body + 1);
    lines_release(&l);
    tell(a, "PUT", a->role_path, a->role_body);
    give(a, a->role);
}

static void expect_enough(struct account_shop *a)
{
    struct lines l;
    lines_look(&l, a->shop.config, "--accept-admin", NULL);
    lines_expect(&l, "privileges", "PASS", "enough");
    lines_expect(&l, "account", "PASS", "is not an administrator");
    ck_assert_msg(l.exit_code == 0, "%s", json_object_to_json_string(l.tree));
    lines_release(&l);
}

static void run_for_a_while(struct account_shop *a)
{
    struct program p;
    struct program_result r;
    struct deadline deadline = deadline_after(WAIT_MS);
    rowferry_start(&p, a->shop.config, "run", NULL);
    sql_exec(a->shop.conn, "update articles set title = 'while it runs' where source_id = 5; "
                           "delete from articles where source_id = 6");
    for (bool settled = false; !settled;) {
        rowferry_run(&r, a->shop.config, "status", "--json", NULL);
        settled = strstr(r.out, "\"pending\":0,") != NULL;
        program_result_release(&r);
        ck_assert(settled || deadline_wait(&deadline));
    }
    program_signal(&p, SIGTERM);
    program_finish(&p, WAIT_MS, &r);
    ck_assert_msg(r.exit_code == 0, "%s", r.err);
    program_result_release(&r);
    shop_expect_equal(&a->shop);
}

START_TEST(the_printed_role_is_enough_for_all_commands)
{
    struct account_shop a = {0};
    enter(&a);
    follow(&a);
    expect_enough(&a);
    const char *config = a.shop.config;
    rowferry_expect(0, config, "sync", NULL);
    shop_expect_equal(&a.shop);
    run_for_a_while(&a);
    rowferry_expect(0, config, "verify", NULL);
    rowferry_expect(0, config, "reindex", NULL);
    rowferry_expect(0, config, "verify", NULL);
    rowferry_expect(0, config, "reindex", "--rollback", NULL);
    rowferry_expect(0, config, "resync", "7", NULL);
    rowferry_expect(0, config, "smoke", NULL);
    rowferry_expect(0, config, "validate", NULL);
    expect_enough(&a);
    shop_expect_equal(&a.shop);
    leave(&a);
}
END_TEST

/* Copies the body without the word, which is in one of its lists. */
static void without(char out[ROLE_BYTES], const char *body, const char *word)
{
    char quoted[64];
    snprintf(quoted, sizeof(quoted), "\"%s\"", word);
    const char *at = strstr(body, quoted);
    ck_assert_msg(at != NULL, "no %s in %s", quoted, body);
    const char *after = at + strlen(quoted);
    bool first = at[-1] != ',';
    snprintf(out, ROLE_BYTES, "%.*s%s", (int)(at - body) - (first ? 0 : 1), body,
             first && *after == ',' ? after + 1 : after);
}

START_TEST(each_privilege_that_is_missing_is_named)
{
    static const struct {
        bool open_search;
        const char *word, *named;
    } cases[] = {
        {false, "read", "lacks read on"},
        {false, "index", "lacks index on"},
        {false, "delete", "lacks delete on"},
        {false, "manage", "lacks manage on"},
        {true, "indices:data/write/bulk", "indices:data/write/bulk"},
        {true, "indices:data/read/mget", "indices:data/read/mget"},
        {true, "read", "indices:data/read/search"},
        {true, "write", "indices:data/write/index, indices:data/write/delete"},
        {true, "manage", "indices:admin/create, indices:admin/get"},
    };
    struct account_shop a = {0};
    enter(&a);
    follow(&a);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct lines l;
        char body[ROLE_BYTES];
        if (cases[i].open_search != a.open_search) {
            continue;
        }
        without(body, a.role_body, cases[i].word);
        tell(&a, "PUT", a.role_path, body);
        lines_look(&l, a.shop.config, "--accept-admin", NULL);
        lines_expect(&l, "privileges", "FAIL", cases[i].named);
        lines_release(&l);
        tell(&a, "PUT", a.role_path, a.role_body);
        expect_enough(&a);
    }
    leave(&a);
}
END_TEST

START_TEST(an_administrator_and_one_with_more_rights_are_told)
{
    struct lines l;
    struct shop shop;
    shop_open(&shop, 5, NULL, "\"number_of_replicas\": 0");
    shop.strict = true;
    shop_configure(&shop, NULL, NULL);
    lines_look(&l, shop.config, NULL, NULL);
    lines_expect(&l, "account", "FAIL", "\"admin\" is an administrator");
    lines_expect(&l, "privileges", "PASS", "enough");
    lines_release(&l);
    shop.subject.options.user = "nobody";
    shop.subject.options.credentials[SERVICE_PASSWORD].value = "nobody";
    shop_configure(&shop, NULL, NULL);
    lines_look(&l, shop.config, NULL, NULL);
    lines_expect(&l, "account", "PASS", "\"nobody\" is not an administrator");
    lines_expect(&l, "privileges", "FAIL", "lacks");
    ck_assert_int_eq(l.exit_code, 4);
    lines_release(&l);
    shop_close(&shop);
}
END_TEST

TESTS(account_tests, "ROWFERRY_TEST_USERS", the_printed_role_is_enough_for_all_commands,
      each_privilege_that_is_missing_is_named, an_administrator_and_one_with_more_rights_are_told)
