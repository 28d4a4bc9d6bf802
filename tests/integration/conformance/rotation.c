/* SPDX-License-Identifier: Apache-2.0 */
/* `run` survives a rotated password and, on Elasticsearch, a rotated API key. */
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "rowferry/base/text.h"
#include "shop.h"
#include "sql.h"
#include "wait.h"

#define FIRST "Quay-lantern!93-Bosun"
#define NEXT "Tide-anchor!57-Mizzen"

struct rotation {
    struct shop shop;
    struct program run;
    bool open_search;
    char name[96];
};

static char *tell(struct rotation *r, const char *method, const char *path, const char *body)
{
    struct reply reply;
    const struct subject *s = &r->shop.subject;
    reply_get(&reply, method, s->url, path, body, s->authorization);
    ck_assert_msg(reply.status == 200 || reply.status == 201, "%s %s: %d %s", method, path,
                  reply.status, reply.body);
    return reply.body;
}

static void user_path(const struct rotation *r, char *out, size_t size)
{
    snprintf(out, size, "%s/%s",
             r->open_search ? "/_plugins/_security/api/internalusers" : "/_security/user", r->name);
}

static void set_password(struct rotation *r, const char *password)
{
    char path[160];
    char body[256];
    user_path(r, path, sizeof(path));
    snprintf(body, sizeof(body), "{\"password\":\"%s\",\"%s\":[\"%s\"]}", password,
             r->open_search ? "opendistro_security_roles" : "roles",
             r->open_search ? "all_access" : "superuser");
    free(tell(r, "PUT", path, body));
}

static void enter(struct rotation *r)
{
    *r = (struct rotation){0};
    shop_open(&r->shop, 50, NULL, NULL);
    r->open_search = r->shop.subject.product.product == PRODUCT_OPENSEARCH;
    snprintf(r->name, sizeof(r->name), "rotates-%.60s", r->shop.subject.alias);
    set_password(r, FIRST);
    r->shop.subject.options.user = r->name;
    r->shop.subject.options.credentials[SERVICE_PASSWORD].value = FIRST;
    shop_configure(&r->shop, NULL, NULL);
}

static void leave(struct rotation *r)
{
    char path[160];
    user_path(r, path, sizeof(path));
    free(tell(r, "DELETE", path, NULL));
    shop_close(&r->shop);
}

static void start(struct rotation *r)
{
    rowferry_start(&r->run, r->shop.config, "run", NULL);
    program_await(&r->run, "event=following", WAIT_MS);
}

/* Expects that the same process applies changes after the rotation, without printing a secret. */
static void expect_on(struct rotation *r, const char *secret)
{
    struct program_result result;
    struct deadline deadline = deadline_after(WAIT_MS);
    sql_exec(r->shop.conn, "update articles set title = 'rotated' where source_id <= 40");
    for (bool settled = false; !settled;) {
        rowferry_run(&result, r->shop.config, "status", "--json", NULL);
        settled = strstr(result.out, "\"pending\":0,") != NULL;
        program_result_release(&result);
        ck_assert(program_running(&r->run));
        ck_assert(settled || deadline_wait(&deadline));
    }
    program_signal(&r->run, SIGTERM);
    program_finish(&r->run, WAIT_MS, &result);
    ck_assert_msg(result.exit_code == 0, "%d: %s", result.exit_code, result.err);
    ck_assert_ptr_null(strstr(result.err, secret));
    program_result_release(&result);
    shop_expect_equal(&r->shop);
}

START_TEST(a_rotated_password_does_not_end_a_run)
{
    struct rotation r;
    enter(&r);
    start(&r);
    free(scratch_write(r.shop.dir, "password", NEXT "\n"));
    set_password(&r, NEXT);
    expect_on(&r, NEXT);
    leave(&r);
}
END_TEST

/* Writes a new key into the file "key" and returns its id; the caller frees it. */
static char *make_key(struct rotation *r)
{
    char *body = tell(r, "POST", "/_security/api_key", "{\"name\":\"rotates\"}");
    struct json_object *tree = json_tokener_parse(body);
    const char *encoded = json_object_get_string(json_object_object_get(tree, "encoded"));
    ck_assert_ptr_nonnull(encoded);
    free(scratch_write(r->shop.dir, "key", encoded));
    char *id = text_copy(json_object_get_string(json_object_object_get(tree, "id")));
    json_object_put(tree);
    free(body);
    return id;
}

static void configure_key(struct rotation *r)
{
    char text[8192];
    char *whole = NULL;
    FILE *file = fopen(r->shop.config, "r");
    ck_assert_ptr_nonnull(file);
    text[fread(text, 1, sizeof(text) - 1, file)] = '\0';
    fclose(file);
    char *at = strstr(text, "\"auth\": {");
    ck_assert_ptr_nonnull(at);
    const char *end = strstr(at, "}}");
    ck_assert_ptr_nonnull(end);
    ck_assert_int_gt(asprintf(&whole, "%.*s\"auth\": {\"api_key\": {\"file\": \"key\"%s",
                              (int)(at - text), text, end),
                     0);
    free(r->shop.config);
    r->shop.config = scratch_write(r->shop.dir, "rowferry.json", whole);
    free(whole);
}

START_TEST(a_rotated_api_key_does_not_end_a_run)
{
    struct rotation r;
    char body[256];
    enter(&r);
    if (!r.open_search) {
        char *first = make_key(&r);
        configure_key(&r);
        start(&r);
        char *next = make_key(&r);
        snprintf(body, sizeof(body), "{\"ids\":[\"%s\"]}", first);
        free(tell(&r, "DELETE", "/_security/api_key", body));
        expect_on(&r, "ApiKey ");
        free(first);
        free(next);
    }
    leave(&r);
}
END_TEST

TESTS(rotation_tests, "ROWFERRY_TEST_USERS", a_rotated_password_does_not_end_a_run,
      a_rotated_api_key_does_not_end_a_run)
