/* SPDX-License-Identifier: Apache-2.0 */
/* Access control: web pages are refused, and no client can block the others. */
#include "rowferry/base/buf.h"
#include "steps.h"

#include <curl/curl.h>
#include <stdio.h>

#define DOCUMENTS 20000
#define LARGE ((size_t)4 << 20)

static size_t receive(char *bytes, size_t size, size_t count, void *context)
{
    buf_push(context, bytes, size * count);
    return size * count;
}

/* Sends a request with one more or one replaced header line. Returns the status; the answer must
 * contain the text. */
static long status_of(const struct devsearch *service, const char *method, const char *path,
                      const char *line, const char *holds)
{
    struct buf target;
    struct buf body;
    long status = 0;
    CURL *curl = curl_easy_init();
    struct curl_slist *list = curl_slist_append(NULL, line);
    buf_init(&target, 4096);
    buf_init(&body, 65536);
    buf_printf(&target, "%s%s", service->url, path);
    curl_easy_setopt(curl, CURLOPT_URL, buf_text(&target));
    curl_easy_setopt(curl, CURLOPT_CUSTOMREQUEST, method);
    curl_easy_setopt(curl, CURLOPT_HTTPHEADER, list);
    curl_easy_setopt(curl, CURLOPT_PROXY, "");
    curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, receive);
    curl_easy_setopt(curl, CURLOPT_WRITEDATA, &body);
    ck_assert_int_eq(curl_easy_perform(curl), CURLE_OK);
    curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
    ck_assert_msg(holds == NULL || strstr(buf_text(&body), holds) != NULL, "%s %s %s: %s", method,
                  path, line, buf_text(&body));
    curl_easy_cleanup(curl);
    curl_slist_free_all(list);
    buf_release(&target);
    buf_release(&body);
    return status;
}

/* DNS rebinding: a page's own name resolves to 127.0.0.1, and its requests carry that name. */
START_TEST(a_page_of_the_web_neither_reads_nor_deletes_what_was_loaded)
{
    static const char *const strangers[] = {"Host: evil.example", "Host: evil.example:9200",
                                            "Host: 127.0.0.1.evil.example",
                                            "Host: localhost.evil.example:1", "Host: x@127.0.0.1"};
    static const char *const own[] = {"Host: localhost", "Host: LOCALHOST:9200",
                                      "Host: 127.0.0.1:1", "Host: [::1]:9200"};
    struct devsearch service;
    devsearch_start(&service, NULL);
    ck_assert_int_eq(status_of(&service, "PUT", "/shop", "X-A: b", NULL), 200);
    for (size_t i = 0; i < sizeof(strangers) / sizeof(strangers[0]); i++) {
        const char *words = "Host names another machine";
        ck_assert_int_eq(status_of(&service, "GET", "/shop", strangers[i], words), 421);
        ck_assert_int_eq(status_of(&service, "DELETE", "/shop", strangers[i], words), 421);
    }
    for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++) {
        ck_assert_int_eq(status_of(&service, "GET", "/shop", own[i], "\"shop\""), 200);
    }
    devsearch_stop(&service);
}
END_TEST

/* A page may send a POST without a body anywhere; the browser adds its origin. */
START_TEST(a_page_of_another_origin_changes_nothing)
{
    static const char *const strangers[] = {"Origin: null", "Origin: http://evil.example",
                                            "Origin: http://203.0.113.5",
                                            "Origin: https://localhost.evil.example:9200"};
    static const char *const own[] = {"Origin: http://localhost:3000", "Origin: http://127.0.0.1",
                                      "Origin: http://[::1]:5601"};
    struct devsearch service;
    devsearch_start(&service, NULL);
    ck_assert_int_eq(status_of(&service, "PUT", "/shop", "X-A: b", NULL), 200);
    for (size_t i = 0; i < sizeof(strangers) / sizeof(strangers[0]); i++) {
        ck_assert_int_eq(status_of(&service, "POST", "/shop/_close", strangers[i], "Origin"), 403);
    }
    for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++) {
        ck_assert_int_eq(status_of(&service, "GET", "/shop/_count", own[i], "\"count\":0"), 200);
    }
    devsearch_stop(&service);
}
END_TEST

START_TEST(without_a_credential_it_says_who_may_come_in)
{
    struct devsearch service;
    char *dir = scratch_new();
    char *key = scratch_write(dir, "key", "c2VjcmV0\n");
    devsearch_start(&service, NULL);
    program_await(&service.program, "every user of this machine", WAIT_MS);
    devsearch_stop(&service);
    devsearch_start(&service, (const char *const[]){"--api-key-file", key, NULL});
    ck_assert_int_eq(status_of(&service, "GET", "/", "Authorization: ApiKey c2VjcmV0", NULL), 200);
    char *said = program_said(&service.program);
    ck_assert_str_eq(said, "");
    free(said);
    devsearch_stop(&service);
    free(key);
    scratch_remove(dir);
}
END_TEST

/* --- expensive requests ---------------------------------------------------------------------- */

/* Returns text with "%" replaced by `count` pieces, separated by `between`; "%d" in a piece is a
 * number. */
static char *many(const char *text, const char *piece, size_t count, const char *between)
{
    struct buf out;
    const char *place = strchr(text, '%');
    buf_init(&out, 4 * LARGE);
    buf_push(&out, text, (size_t)(place - text));
    for (size_t i = 0; i < count; i++) {
        buf_push_text(&out, i > 0 ? between : "");
        buf_printf(&out, piece, (int)i);
    }
    buf_push_text(&out, place + 1);
    return buf_detach(&out);
}

static const struct demand {
    const char *name;
    const char *method;
    const char *path;
    const char *text;
    const char *piece;
    size_t count;
    const char *between;
    int status;
    const char *holds;
} demands[] = {
    {"words to analyse", "POST", "/_analyze", "{\"text\":\"%\"}", "a", LARGE / 2, " ", 500,
     "has exceeded the allowed maximum of [10000]"},
    {"one word to analyse", "POST", "/_analyze", "{\"text\":\"%\"}", "a", LARGE, "", 200,
     "\"end_offset\":4194304"},
    {"members of a search", "POST", "/t/_search", "{%}", "\"k%d\":1", 350000, ",", 429,
     "bodies of more than"},
    {"objects", "POST", "/t/_search", "{\"query\":{\"bool\":{\"must\":[%]}}}", "{}", LARGE / 3, ",",
     429, "bodies of more than"},
    {"fields of a document", "PUT", "/new/_doc/1", "{%}", "\"k%d\":1", 100000, ",", 400,
     "Limit of total fields [1000]"},
    {"members of an object", "PUT", "/t/_doc/wide", "{\"off\":{%}}", "\"k%d\":1", 300000, ",", 201,
     "created"},
    {"clauses", "POST", "/t/_search", "{\"query\":{\"bool\":{\"should\":[%]}}}",
     "{\"term\":{\"n\":%d}}", 2000, ",", 400, "maxClauseCount is set to 1024"},
    {"words of a match", "POST", "/t/_search", "{\"query\":{\"match\":{\"x\":\"%\"}}}", "w%d",
     90000, " ", 400, "maxClauseCount is set to 1024"},
    {"words of a query string", "POST", "/t/_search",
     "{\"query\":{\"query_string\":{\"query\":\"%\"}}}", "a", LARGE / 2, " ", 400,
     "maxClauseCount is set to 1024"},
    {"terms", "POST", "/t/_search", "{\"query\":{\"terms\":{\"k\":[%]}}}", "\"v%d\"", 70000, ",",
     400, "The number of terms [70000]"},
    {"terms that are allowed", "POST", "/t/_search", "{\"query\":{\"terms\":{\"n\":[%]}}}", "%d",
     65536, ",", 200, "\"value\":10000,\"relation\":\"gte\""},
    {"ids", "POST", "/t/_search", "{\"query\":{\"ids\":{\"values\":[%]}}}", "\"x%d\"", 60000, ",",
     200, "\"value\":0"},
    {"stars", "POST", "/t/_search", "{\"query\":{\"wildcard\":{\"k\":\"%b\"}}}", "*a", 200000, "",
     200, "\"value\":0"},
    {"sort keys", "POST", "/t/_search", "{\"sort\":[%]}", "\"k\"", 1000, ",", 400, "sort keys"},
    {"names of the source", "POST", "/t/_search", "{\"_source\":[%]}", "\"f%d\"", 2000, ",", 400,
     "names in [_source]"},
    {"aliases", "POST", "/_aliases", "{\"actions\":[%]}",
     "{\"add\":{\"index\":\"t\",\"alias\":\"a%d\"}}", 20000, ",", 400, "actions in a request"},
    {"documents of one MiB", "POST", "/t/_mget", "{\"ids\":[%]}", "\"huge\"", 5000, ",", 429,
     "answers of more than"},
};

static void make_index(const struct devsearch *service)
{
    static const struct step made[] = {
        {"PUT", "/t",
         "{\"mappings\":{\"properties\":{\"k\":{\"type\":\"keyword\"},\"x\":{\"type\":\"text\"},"
         "\"n\":{\"type\":\"long\"},\"off\":{\"type\":\"object\",\"enabled\":false}}}}",
         200, NULL, NULL}};
    steps_take(service->url, made, 1);
}

static void load(const struct devsearch *service)
{
    make_index(service);
    char *documents = many("%\n",
                           "{\"index\":{\"_id\":\"%1$d\"}}\n"
                           "{\"k\":\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\","
                           "\"x\":\"some words\",\"n\":%1$d}",
                           DOCUMENTS, "\n");
    char *huge = many("{\"x\":\"%\"}", "y", (size_t)1 << 20, "");
    const struct step loaded[] = {
        {"POST", "/t/_bulk?refresh=true&filter_path=errors", documents, 200, "false", NULL},
        {"PUT", "/t/_doc/huge", huge, 201, NULL, NULL}};
    steps_take(service->url, loaded, 2);
    free(documents);
    free(huge);
}

/* Regression: each of these took minutes or gigabytes. reply_get times out after half a minute. */
START_TEST(a_request_that_asks_for_too_much_is_refused_before_it_holds_the_others_up)
{
    struct devsearch service;
    devsearch_start(&service, NULL);
    load(&service);
    for (size_t i = 0; i < sizeof(demands) / sizeof(demands[0]); i++) {
        const struct demand *d = &demands[i];
        struct reply reply;
        char *body = many(d->text, d->piece, d->count, d->between);
        reply_get(&reply, d->method, service.url, d->path, body, NULL);
        ck_assert_msg(reply.status == d->status && strstr(reply.body, d->holds) != NULL,
                      "%s: %d %.400s", d->name, reply.status, reply.body);
        reply_release(&reply);
        free(body);
    }
    devsearch_stop(&service);
}
END_TEST

START_TEST(indices_and_points_in_time_do_not_grow_without_end)
{
    struct devsearch service;
    struct reply reply;
    devsearch_start(&service, NULL);
    for (int i = 0; i < 1001; i++) {
        char path[32];
        snprintf(path, sizeof(path), "/i%d", i);
        reply_get(&reply, "PUT", service.url, path, NULL, NULL);
        ck_assert_msg(reply.status == (i < 1000 ? 200 : 400), "%d: %s", i, reply.body);
        if (i == 1000) {
            expect_text(reply.body, "currently has [1000]/[1000] maximum shards open");
        }
        reply_release(&reply);
    }
    for (int i = 0; i < 300; i++) {
        reply_get(&reply, "POST", service.url, "/i1/_search/point_in_time?keep_alive=1h", NULL,
                  NULL);
        ck_assert_int_eq(reply.status, 200);
        reply_release(&reply);
    }
    reply_get(&reply, "POST", service.url, "/i1/_search/point_in_time?keep_alive=1h", NULL, NULL);
    ck_assert_int_eq(reply.status, 429);
    expect_text(reply.body, "too many Point In Time contexts");
    reply_release(&reply);
    devsearch_stop(&service);
}
END_TEST

/* Regression: values of a wrong type ended the service. */
START_TEST(a_body_of_the_wrong_shape_is_answered_and_ends_nothing)
{
    static const char *const shapes[] = {"null",   "1",    "\"x\"", "[]",
                                         "[null]", "[[]]", "{}",    "{\"a\":null}"};
    static const struct {
        const char *path;
        const char *text;
    } places[] = {
        {"/t/_search", "{\"sort\":%s}"},
        {"/t/_search", "{\"sort\":[\"k\"],\"search_after\":%s}"},
        {"/t/_search", "{\"_source\":%s}"},
        {"/t/_search", "{\"query\":{\"bool\":%s}}"},
        {"/t/_search", "{\"query\":{\"ids\":{\"values\":%s}}}"},
        {"/t/_search", "{\"query\":{\"query_string\":{\"query\":%s}}}"},
        {"/t/_search", "{\"query\":{\"match\":{\"x\":{\"query\":\"a\",\"operator\":%s}}}}"},
        {"/t/_mget", "{\"ids\":%s}"},
        {"/_mget", "{\"docs\":[{\"_index\":%s,\"_id\":\"1\"}]}"},
        {"/_aliases", "{\"actions\":[{\"add\":%s}]}"},
        {"/_analyze", "{\"text\":\"a\",\"analyzer\":%s}"},
        {"/t/_mapping", "{\"properties\":%s}"},
        {"/t/_mapping", "{\"properties\":{\"k\":%s}}"},
        {"/_index_template/a", "{\"index_patterns\":%s,\"data_stream\":{}}"},
    };
    struct devsearch service;
    devsearch_start(&service, NULL);
    make_index(&service);
    for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
        for (size_t k = 0; k < sizeof(shapes) / sizeof(shapes[0]); k++) {
            struct reply reply;
            char body[256];
            snprintf(body, sizeof(body), places[i].text, shapes[k]);
            reply_get(&reply, strstr(places[i].path, "template") != NULL ? "PUT" : "POST",
                      service.url, places[i].path, body, NULL);
            ck_assert_msg(reply.status >= 200 && reply.status < 500, "%s %s: %d %s", places[i].path,
                          body, reply.status, reply.body);
            reply_release(&reply);
        }
    }
    devsearch_stop(&service);
}
END_TEST

SUITE_MAIN("devsearch/access_control", a_page_of_the_web_neither_reads_nor_deletes_what_was_loaded,
           a_page_of_another_origin_changes_nothing, without_a_credential_it_says_who_may_come_in,
           a_request_that_asks_for_too_much_is_refused_before_it_holds_the_others_up,
           indices_and_points_in_time_do_not_grow_without_end,
           a_body_of_the_wrong_shape_is_answered_and_ends_nothing)
