/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Hashes and signatures from published examples: FIPS 180-4, RFC 4231, and Amazon's manual of
 * signed requests. Other cases were computed with another program.
 */
#include "rowferry/base/sigv4.h"

#include <stdlib.h>
#include <string.h>

#include "rowferry/base/sha256.h"
#include "suite.h"

#define KEY_ID "AKIAIOSFODNN7EXAMPLE"
#define SECRET_KEY "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"

static struct span text(const char *t)
{
    return span_make(t, strlen(t));
}

static void expect_hash(const char *of, const char *expected)
{
    char hex[SHA256_HEX_BYTES];
    struct digest d = sha256(text(of));
    sha256_hex(hex, &d);
    ck_assert_str_eq(hex, expected);
}

START_TEST(hashes_match_the_standard)
{
    expect_hash("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    expect_hash("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    expect_hash("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
                "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
    char *million = malloc(1000001);
    ck_assert_ptr_nonnull(million);
    memset(million, 'a', 1000000);
    million[1000000] = '\0';
    expect_hash(million, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
    free(million);
}
END_TEST

static void expect_hmac(struct span key, const char *of, const char *expected)
{
    char hex[SHA256_HEX_BYTES];
    struct digest d = sha256_hmac(key, text(of));
    sha256_hex(hex, &d);
    ck_assert_str_eq(hex, expected);
}

START_TEST(keyed_hashes_match_the_standard)
{
    char long_key[131];
    memset(long_key, 0xaa, sizeof(long_key));
    expect_hmac(text("Jefe"), "what do ya want for nothing?",
                "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
    expect_hmac(span_make(long_key, sizeof(long_key)),
                "Test Using Larger Than Block-Size Key - Hash Key First",
                "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54");
}
END_TEST

struct example {
    const char *method, *host, *path, *query, *body;
    int64_t time_s;
    const char *region, *service, *token;
    const char *signature;
};

static void expect_signature(const struct example *e)
{
    char *lines[SIGV4_LINES];
    const struct sigv4 key = {e->region, e->service, KEY_ID, SECRET_KEY, e->token};
    const struct sigv4_request request = {e->method,      text(e->host), text(e->path),
                                          text(e->query), text(e->body), e->time_s};
    sigv4_sign(&key, &request, lines);
    const char *found = strstr(lines[2], "Signature=");
    ck_assert_ptr_nonnull(found);
    ck_assert_str_eq(found + strlen("Signature="), e->signature);
    ck_assert((lines[3] != NULL) == (e->token != NULL));
    for (size_t i = 0; i < SIGV4_LINES; i++) {
        free(lines[i]);
    }
}

#define MAY_24_2013 1369353600

START_TEST(signatures_match_the_manual)
{
    expect_signature(&(struct example){
        "GET", "examplebucket.s3.amazonaws.com", "/", "lifecycle", "", MAY_24_2013, "us-east-1",
        "s3", NULL, "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543"});
    expect_signature(
        &(struct example){"GET", "examplebucket.s3.amazonaws.com", "/", "prefix=J&max-keys=2", "",
                          MAY_24_2013, "us-east-1", "s3", NULL,
                          "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7"});
}
END_TEST

START_TEST(a_path_is_encoded_once_more_and_a_query_sorted)
{
    expect_signature(&(struct example){
        "GET", "search.eu-west-1.es.amazonaws.com:9200", "/shop,shop-WRITE*/a%2Fb",
        "filter_path=items.*.status,items.*.error&expand_wildcards=all", "{\"a\":1}\n", 1795345200,
        "eu-west-1", "es",
        "tok/en==", "19e07d89b8ae7ccee57664dee354ef86ecfa5c0ae750eaf351450624f57d614f"});
}
END_TEST

START_TEST(the_lines_name_key_day_region_and_service)
{
    char *lines[SIGV4_LINES];
    const struct sigv4 key = {"eu-west-1", "es", KEY_ID, SECRET_KEY, NULL};
    const struct sigv4_request request = {"GET",    text("h"), text("/"),
                                          text(""), text(""),  MAY_24_2013};
    sigv4_sign(&key, &request, lines);
    ck_assert_str_eq(lines[0], "x-amz-date: 20130524T000000Z");
    ck_assert_str_eq(lines[1], "x-amz-content-sha256: e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b"
                               "934ca495991b7852b855");
    ck_assert_ptr_nonnull(strstr(lines[2], "Authorization: AWS4-HMAC-SHA256 Credential=" KEY_ID
                                           "/20130524/eu-west-1/es/aws4_request, SignedHeaders="));
    ck_assert_ptr_null(strstr(lines[2], SECRET_KEY));
    for (size_t i = 0; i < SIGV4_LINES; i++) {
        free(lines[i]);
    }
}
END_TEST

#define NOVEMBER_7_2016 1478540373

START_TEST(a_login_token_is_a_signed_address)
{
    const struct sigv4 key = {"us-east-1", "rds-db", "akid", "skid", NULL};
    char *token = sigv4_login_token(&key, "prod-instance.us-east-1.rds.amazonaws.com:3306",
                                    "someusername", NOVEMBER_7_2016);
    ck_assert_str_eq(
        token,
        "prod-instance.us-east-1.rds.amazonaws.com:3306/?Action=connect&DBUser=someusername"
        "&X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=akid%2F20161107%2Fus-east-1%2Frds-db%2F"
        "aws4_request&X-Amz-Date=20161107T173933Z&X-Amz-Expires=900&X-Amz-SignedHeaders=host&"
        "X-Amz-Signature=d1138cdbc0ca63eec012ec0fc6c2267e03642168f5884a7795320d4c18374c61");
    free(token);
}
END_TEST

SUITE_MAIN("base/sigv4", hashes_match_the_standard, keyed_hashes_match_the_standard,
           signatures_match_the_manual, a_path_is_encoded_once_more_and_a_query_sorted,
           the_lines_name_key_day_region_and_service, a_login_token_is_a_signed_address)
