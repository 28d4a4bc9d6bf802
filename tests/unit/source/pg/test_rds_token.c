/* SPDX-License-Identifier: Apache-2.0 */
/* For which host, port, role and region a token is signed, and which it refuses. */
#include "pg/rds_token.h"

#include <stdlib.h>
#include <string.h>

#include "suite.h"

#define ENDPOINT "shop.c2x.eu-west-1.rds.amazonaws.com"

static void give_keys(void)
{
    ck_assert_int_eq(setenv("AWS_ACCESS_KEY_ID", "akid", 1), 0);
    ck_assert_int_eq(setenv("AWS_SECRET_ACCESS_KEY", "canary-secret", 1), 0);
    ck_assert_int_eq(unsetenv("AWS_SESSION_TOKEN"), 0);
}

static void expect_token(const char *uri, const char *role, const char *region, const char *begins,
                         const char *has)
{
    struct err err = {0};
    char *token = NULL;
    ck_assert_msg(rds_token_renew(&token, uri, role, region, &err) == 0, "%s", err.message);
    ck_assert_msg(strncmp(token, begins, strlen(begins)) == 0, "%s", token);
    ck_assert_msg(strstr(token, has) != NULL, "%s", token);
    ck_assert_ptr_null(strstr(token, "canary"));
    free(token);
}

START_TEST(a_token_is_for_host_port_role_and_region)
{
    give_keys();
    expect_token("postgresql://ferry@" ENDPOINT "/shop", NULL, "",
                 ENDPOINT ":5432/?Action=connect&DBUser=ferry&", "%2Feu-west-1%2Frds-db%2F");
    expect_token("host=10.0.0.7 port=6000 user='a b'", NULL, "us-east-2",
                 "10.0.0.7:6000/?Action=connect&DBUser=a%20b&", "%2Fus-east-2%2Frds-db%2F");
    expect_token("postgresql://ferry@" ENDPOINT ".cn", "owner", "",
                 ENDPOINT ".cn:5432/?Action=connect&DBUser=owner&", "%2Feu-west-1%2F");
    ck_assert_int_eq(setenv("AWS_SESSION_TOKEN", "a/b=", 1), 0);
    expect_token("postgresql://ferry@" ENDPOINT, NULL, "", ENDPOINT,
                 "&X-Amz-Security-Token=a%2Fb%3D&");
}
END_TEST

static void expect_refused(const char *uri, const char *region, const char *text)
{
    struct err err = {0};
    char *token = NULL;
    ck_assert_int_eq(rds_token_renew(&token, uri, NULL, region, &err), ERR_CONFIG);
    ck_assert_ptr_null(token);
    ck_assert_msg(strstr(err.message, text) != NULL, "%s", err.message);
}

START_TEST(what_a_token_cannot_be_signed_for_is_refused)
{
    give_keys();
    expect_refused("postgresql://ferry@a.example,b.example/shop", "r", "must name one host");
    expect_refused("postgresql:///shop?user=ferry", "r", "must name one host");
    expect_refused("host=/run/postgresql user=ferry", "r", "must name one host");
    expect_refused("postgresql://" ENDPOINT "/shop", "", "and a role");
    expect_refused("host=", "", "must name one host");
    expect_refused("postgresql://ferry@db.example/shop", "", "knows no region: \"db.example\"");
    expect_refused("postgresql://ferry@.rds.amazonaws.com/shop", "", "knows no region");
    unsetenv("AWS_SECRET_ACCESS_KEY");
    expect_refused("postgresql://ferry@" ENDPOINT, "", "$AWS_SECRET_ACCESS_KEY is not set");
    unsetenv("AWS_ACCESS_KEY_ID");
    expect_refused("postgresql://ferry@" ENDPOINT, "", "$AWS_ACCESS_KEY_ID is not set");
}
END_TEST

SUITE_MAIN("source/pg/rds_token", a_token_is_for_host_port_role_and_region,
           what_a_token_cannot_be_signed_for_is_refused)
