/* SPDX-License-Identifier: Apache-2.0 */
/* Names, what they refer to, and that foreign indices are never deleted. */
#include "rowferry/service/index/index.h"

#include "fixture.h"
#include "suite.h"

START_TEST(good_names_pass_and_bad_ones_are_named)
{
    static const char *const good[] = {
        "shop-articles", "a", "x_1.2", "shop-articles-20261121-1", "\xc3\xa9t\xc3\xa9", ".hidden"};
    static const char *const bad[] = {"",    "Shop", "-a",   "_a",  "+a",  ".",   "..",
                                      "a b", "a/b",  "a\\b", "a*b", "a?b", "a\"", "a<b",
                                      "a>b", "a|b",  "a,b",  "a#b", "a:b", "a\n", "_all"};
    struct err err;
    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
        ck_assert_msg(index_name_check(good[i], &err) == 0, "%s", good[i]);
    }
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        ck_assert_msg(index_name_check(bad[i], &err) == ERR_CONFIG, "%s", bad[i]);
        ck_assert_ptr_nonnull(strstr(err.message, "cannot be the name of an index"));
    }
}
END_TEST

START_TEST(a_name_of_256_bytes_is_too_long)
{
    char name[257];
    struct err err;
    memset(name, 'a', sizeof(name));
    name[256] = '\0';
    ck_assert_int_eq(index_name_check(name, &err), ERR_CONFIG);
    name[255] = '\0';
    ck_assert_int_eq(index_name_check(name, &err), 0);
    name[INDEX_ALIAS_MAX_BYTES + 1] = '\0'; /* generations append to it */
    ck_assert_int_eq(index_alias_check(name, &err), ERR_CONFIG);
    ck_assert_ptr_nonnull(strstr(err.hint, "at most 200 bytes"));
    name[INDEX_ALIAS_MAX_BYTES] = '\0';
    ck_assert_int_eq(index_alias_check(name, &err), 0);
    strcat(name, "-20261122-999");
    char alias[INDEX_WRITE_ALIAS_BYTES];
    write_alias_of(alias, name, "00000000000000ab");
    ck_assert_uint_le(strlen(alias), 255);
    ck_assert_int_eq(index_alias_check("Shop", &err), ERR_CONFIG);
}
END_TEST

#define OURS                                                                                       \
    "{\"aliases\":{\"shop\":{}},\"mappings\":{\"_meta\":{\"rowferry\":{\"pipeline\":\"articles\"," \
    "\"mapping\":\"00ff\"}}},\"settings\":{\"index\":{\"uuid\":\"u1\"}}}"

static void check_resolve(int status, const char *body, int rc, enum alias_kind wanted,
                          const char *concrete)
{
    char text[ANSWER_BYTES];
    answer_of(text, status, body);
    const char *const answers[] = {text, NULL};
    struct fixture f = {0};
    enum alias_kind kind;
    struct index_info info;
    start(&f, answers, SIZE_MAX);
    ck_assert_int_eq(index_resolve(f.service, "shop", &kind, &info, &f.err), rc);
    if (rc == 0) {
        ck_assert_int_eq(kind, wanted);
        ck_assert_str_eq(info.name, concrete);
    }
    stop(&f);
}

START_TEST(a_name_is_resolved)
{
    check_resolve(404, "{\"error\":{\"type\":\"index_not_found_exception\"},\"status\":404}", 0,
                  ALIAS_ABSENT, "");
    check_resolve(200, "{\"shop-1\":" OURS "}", 0, ALIAS_ONE, "shop-1");
    check_resolve(200, "{\"shop-1\":" OURS ",\"shop-2\":" OURS "}", 0, ALIAS_SEVERAL, "");
    check_resolve(200, "{\"shop\":{\"settings\":{}}}", 0, ALIAS_CONCRETE, "shop");
    check_resolve(200, "{\".ds-shop-000001\":{\"settings\":{},\"data_stream\":\"shop\"}}", 0,
                  ALIAS_STREAM, "shop");
}
END_TEST

START_TEST(a_404_without_the_index_error_is_not_absence)
{
    check_resolve(404, "{\"error\":\"no such page\"}", ERR_REJECTED, ALIAS_ABSENT, "");
    check_resolve(404, "<html>", ERR_REJECTED, ALIAS_ABSENT, "");
    check_resolve(200, "<html>", ERR_TRANSIENT, ALIAS_ABSENT, "");
    check_resolve(403, "{\"error\":{\"type\":\"security_exception\"}}", ERR_REJECTED, ALIAS_ABSENT,
                  "");
}
END_TEST

START_TEST(the_description_of_a_generation_is_read)
{
    char text[ANSWER_BYTES];
    answer_of(text, 200, "{\"shop-1\":" OURS "}");
    const char *const answers[] = {text, NULL};
    struct fixture f = {0};
    struct index_info info;
    bool found;
    start(&f, answers, SIZE_MAX);
    ck_assert_int_eq(index_look(f.service, "shop-1", &found, &info, &f.err), 0);
    ck_assert(found);
    ck_assert_str_eq(info.uuid, "u1");
    ck_assert_str_eq(info.pipeline, "articles");
    ck_assert_str_eq(info.fingerprint, "00ff");
    ck_assert_int_eq(index_look(f.service, "shop", &found, &info, &f.err), 0);
    ck_assert_msg(!found, "an alias is no concrete index");
    stop(&f);
}
END_TEST

static void check_delete(const char *pipeline, int rc, const char *last_request)
{
    char look[ANSWER_BYTES];
    char done[ANSWER_BYTES];
    answer_of(look, 200, "{\"shop-1\":" OURS "}");
    answer_of(done, 200, "{\"acknowledged\":true}");
    const char *const answers[] = {look, done, NULL};
    struct fixture f = {0};
    start(&f, answers, SIZE_MAX);
    ck_assert_int_eq(index_delete(f.service, "shop-1", pipeline, &f.err), rc);
    ck_assert_int_eq(strncmp(f.server->request, last_request, strlen(last_request)), 0);
    stop(&f);
}

START_TEST(only_the_pipelines_own_index_is_deleted)
{
    check_delete("articles", 0, "DELETE /shop-1 ");
    check_delete("authors", ERR_INTERNAL, "GET /shop-1 ");
    check_delete("", ERR_INTERNAL, "GET /shop-1 ");
}
END_TEST

START_TEST(a_wildcard_is_never_sent)
{
    static const char *const answers[] = {"", NULL};
    struct fixture f = {0};
    start(&f, answers, SIZE_MAX);
    ck_assert_int_eq(index_delete(f.service, "shop*", "articles", &f.err), ERR_CONFIG);
    ck_assert_uint_eq(f.server->requests, 0);
    stop(&f);
}
END_TEST

static void check_swap(int status, const char *body, const char *from, int rc, const char *sent)
{
    char text[ANSWER_BYTES];
    answer_of(text, status, body);
    const char *const answers[] = {text, NULL};
    struct fixture f = {0};
    start(&f, answers, SIZE_MAX);
    ck_assert_int_eq(index_swap(f.service, "shop", from, "shop-2", &f.err), rc);
    ck_assert_ptr_nonnull(strstr(f.server->request, sent));
    stop(&f);
}

/* After an error the alias is read. */
static void check_swap_that_fails(int status, const char *body, const char *alias, int rc)
{
    static char texts[2][ANSWER_BYTES];
    const char *const answers[] = {answer_of(texts[0], status, body),
                                   answer_of(texts[1], 200, alias), NULL};
    struct fixture f = {0};
    start(&f, answers, SIZE_MAX);
    ck_assert_int_eq(index_swap(f.service, "shop", "shop-1", "shop-2", &f.err), rc);
    ck_assert_uint_eq(f.server->requests, 2);
    ck_assert_ptr_nonnull(strstr(f.server->request, "GET /shop "));
    stop(&f);
}

START_TEST(a_swap_is_one_request_that_requires_the_old_alias)
{
    check_swap(200, "{\"acknowledged\":true}", "shop-1", 0,
               "{\"actions\":[{\"remove\":{\"index\":\"shop-1\",\"alias\":\"shop\",\"must_exist\":"
               "true}},{\"add\":{\"index\":\"shop-2\",\"alias\":\"shop\"}}]}");
    check_swap(200, "{\"acknowledged\":true,\"errors\":false}", NULL, 0,
               "{\"actions\":[{\"add\":{\"index\":\"shop-2\",\"alias\":\"shop\"}}]}");
}
END_TEST

#define POINTS(index) "{\"" index "\":{\"aliases\":{\"shop\":{}},\"settings\":{}}}"

START_TEST(a_failed_swap_is_done_if_the_alias_points_there)
{
    static const struct said {
        int status;
        const char *body;
        int rc;
    } said[] = {{200, "{\"acknowledged\":true,\"errors\":true}", ERR_REJECTED},
                {200, "{\"acknowledged\":false}", ERR_TRANSIENT},
                {503, "{}", ERR_TRANSIENT},
                {404, "{\"error\":{\"type\":\"aliases_not_found_exception\"}}", ERR_REJECTED}};
    for (size_t i = 0; i < sizeof(said) / sizeof(said[0]); i++) {
        check_swap_that_fails(said[i].status, said[i].body, POINTS("shop-1"), said[i].rc);
        check_swap_that_fails(said[i].status, said[i].body, POINTS("shop-2"), 0);
    }
}
END_TEST

START_TEST(a_count_of_half_the_shards_is_refused)
{
    static const struct {
        const char *body;
        int rc;
        int64_t count;
    } lines[] = {
        {"{\"count\":63666,\"_shards\":{\"total\":1,\"failed\":0}}", 0, 63666},
        {"{\"count\":5,\"_shards\":{\"total\":2,\"failed\":1}}", ERR_TRANSIENT, 0},
        {"{\"_shards\":{\"failed\":0}}", ERR_TRANSIENT, 0},
    };
    for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
        char text[ANSWER_BYTES];
        answer_of(text, 200, lines[i].body);
        const char *const answers[] = {text, NULL};
        struct fixture f = {0};
        int64_t count = 0;
        start(&f, answers, SIZE_MAX);
        ck_assert_int_eq(index_count(f.service, "shop-1", &count, &f.err), lines[i].rc);
        ck_assert_int_eq(count, lines[i].count);
        stop(&f);
    }
}
END_TEST

SUITE_MAIN("service/index", good_names_pass_and_bad_ones_are_named, a_name_of_256_bytes_is_too_long,
           a_name_is_resolved, a_404_without_the_index_error_is_not_absence,
           the_description_of_a_generation_is_read, only_the_pipelines_own_index_is_deleted,
           a_wildcard_is_never_sent, a_swap_is_one_request_that_requires_the_old_alias,
           a_failed_swap_is_done_if_the_alias_points_there, a_count_of_half_the_shards_is_refused)
