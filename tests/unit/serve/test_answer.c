/* SPDX-License-Identifier: Apache-2.0 */
/* Answers of the HTTP listener, by request. */
#include "answer.h"

#include <json-c/json.h>
#include <string.h>
#include <unistd.h>

#include "suite.h"

static struct asked {
    int64_t silent_ms;
    unsigned described;
} asked;

static int64_t silent(void *context, size_t pipeline)
{
    (void)pipeline;
    return ((struct asked *)context)->silent_ms;
}

static void describe(void *context, size_t pipeline, const struct status_snapshot_view *view,
                     struct buf *out)
{
    (void)pipeline;
    ((struct asked *)context)->described++;
    buf_printf(out, "{\"pipeline\":\"%s\"}", view->name);
}

static struct answerer answerer;
static struct events events;
static struct history history;
static struct status_snapshot *snapshots[2];
static struct serve_options options;

static void begin(void)
{
    static const char *const names[] = {"articles", "authors"};
    asked = (struct asked){0};
    for (size_t i = 0; i < 2; i++) {
        snapshots[i] = status_snapshot_new(names[i], names[i]);
        status_snapshot_enter(snapshots[i], "following", 1);
    }
    options = (struct serve_options){.listen = "127.0.0.1:9187",
                                     .source = "shop on <b>\"db\"\xff",
                                     .snapshots = snapshots,
                                     .count = 2,
                                     .silent_most_ms = 1000,
                                     .silent_ms = silent,
                                     .describe = describe,
                                     .context = &asked,
                                     .clock = clock_system()};
    events_init(&events, names, 2);
    history_init(&history, 2, 0);
    answer_init(&answerer, &options, &events, &history);
}

static void end(void)
{
    answer_release(&answerer);
    events_release(&events);
    history_release(&history);
    status_snapshot_free(snapshots[0]);
    status_snapshot_free(snapshots[1]);
}

static void ask(const char *method, const char *path, const char *host, struct serve_answer *out)
{
    const struct question q = {.method = method, .path = path, .host = host};
    answer_question(&answerer, &q, out);
}

static void expect(const char *path, unsigned status, const char *text)
{
    struct serve_answer a;
    ask("GET", path, "localhost:9187", &a);
    ck_assert_msg(a.status == status, "%s: %u", path, a.status);
    ck_assert_msg(strstr(buf_text(&a.body), text) != NULL, "%s: %s", path, buf_text(&a.body));
    buf_release(&a.body);
}

START_TEST(ready_names_who_is_not)
{
    begin();
    expect("/readyz", 200, "ready\narticles: following\nauthors: following\n");
    status_snapshot_enter(snapshots[1], "guard", 2);
    expect("/readyz", 503, "not ready\narticles: following\nnot ready: authors: guard\n");
    expect("/healthz", 200, "ok\n");
    end();
}
END_TEST

START_TEST(a_pipeline_that_hangs_is_not_healthy)
{
    begin();
    asked.silent_ms = 1000;
    expect("/healthz", 200, "ok\n");
    asked.silent_ms = 1001;
    expect("/healthz", 503, "articles: no sign of life for 1 s\n");
    end();
}
END_TEST

START_TEST(status_is_json_and_however_many_ask_is_read_once)
{
    struct serve_answer a;
    begin();
    for (int i = 0; i < 100; i++) {
        ask("GET", "/status", NULL, &a);
        struct json_object *status = json_tokener_parse(buf_text(&a.body));
        ck_assert_msg(status != NULL, "%s", buf_text(&a.body));
        ck_assert_uint_eq(json_object_array_length(json_object_object_get(status, "pipelines")), 2);
        ck_assert(json_object_get_boolean(json_object_object_get(status, "ready")));
        json_object_put(status);
        buf_release(&a.body);
    }
    ck_assert_uint_lt(asked.described, 100);
    end();
}
END_TEST

static struct json_object *status_of(const char *samples)
{
    struct serve_answer a;
    const struct question q = {
        .method = "GET", .path = "/status", .host = "localhost", .samples = samples};
    answer_question(&answerer, &q, &a);
    struct json_object *status = json_tokener_parse(buf_text(&a.body));
    ck_assert_msg(status != NULL, "%s", buf_text(&a.body));
    buf_release(&a.body);
    return status;
}

START_TEST(status_has_samples_only_for_who_asks)
{
    struct json_object *found;
    begin();
    history_take(&history, snapshots, HISTORY_STEP_US, 1);
    struct json_object *status = status_of(NULL);
    ck_assert(!json_object_object_get_ex(status, "history", &found));
    json_object_put(status);
    status = status_of("0");
    ck_assert(json_object_object_get_ex(status, "history", &found));
    ck_assert_int_eq(json_object_get_int(json_object_object_get(found, "taken")), 1);
    json_object_put(status);
    end();
}
END_TEST

START_TEST(status_names_the_servers_whatever_their_names)
{
    begin();
    struct json_object *status = status_of(NULL);
    ck_assert_str_eq(json_object_get_string(json_object_object_get(status, "source")),
                     "shop on <b>\"db\"\xef\xbf\xbd");
    ck_assert_ptr_null(json_object_object_get(status, "service"));
    json_object_put(status);
    end();
}
END_TEST

START_TEST(only_reading_and_only_by_our_name)
{
    static const char *const methods[] = {"POST", "PUT", "DELETE", "OPTIONS", "TRACE", "get"};
    struct serve_answer a;
    begin();
    for (size_t i = 0; i < sizeof(methods) / sizeof(methods[0]); i++) {
        ask(methods[i], "/status", "localhost", &a);
        ck_assert_uint_eq(a.status, 405);
        ck_assert_str_eq(a.allow, "GET, HEAD");
        buf_release(&a.body);
    }
    ask("HEAD", "/metrics", "127.0.0.1", &a);
    ck_assert_uint_eq(a.status, 200);
    buf_release(&a.body);
    ask("GET", "/status", "evil.example:9187", &a);
    ck_assert_uint_eq(a.status, 421);
    ck_assert_ptr_null(strstr(buf_text(&a.body), "articles"));
    buf_release(&a.body);
    expect("/etc/passwd", 404, "there are /, /status");
    expect("", 404, "there are /, /status");
    expect("/status/", 404, "there are /, /status");
    end();
}
END_TEST

START_TEST(the_page_runs_by_a_number_that_is_new_each_time)
{
    struct serve_answer a;
    struct serve_answer b;
    begin();
    ask("GET", "/", "localhost", &a);
    ask("GET", "/", "localhost", &b);
    const char *at = strstr(a.policy, "script-src 'nonce-");
    ck_assert_ptr_nonnull(at);
    ck_assert_str_ne(a.policy, b.policy);
    char *nonce = strndup(at + strlen("script-src 'nonce-"), 32);
    ck_assert_ptr_nonnull(strstr(buf_text(&a.body), nonce));
    ck_assert_ptr_null(strstr(buf_text(&b.body), nonce));
    ck_assert_ptr_null(strstr(buf_text(&a.body), "@NONCE@"));
    free(nonce);
    buf_release(&a.body);
    buf_release(&b.body);
    end();
}
END_TEST

START_TEST(nothing_of_the_page_comes_from_elsewhere_or_is_markup_of_values)
{
    static const char *const never[] = {
        "http:",  "https:", "innerHTML",      "outerHTML", "onclick",
        "onload", "eval(",  "document.write", "@import",   "insertAdjacentHTML"};
    struct serve_answer a;
    begin();
    ask("GET", "/", "localhost", &a);
    for (size_t i = 0; i < sizeof(never) / sizeof(never[0]); i++) {
        const char *at = strstr(buf_text(&a.body), never[i]);
        while (at != NULL && strncmp(at, "http://www.w3.org/", 18) == 0) { /* namespaces of SVG */
            at = strstr(at + 1, never[i]);
        }
        ck_assert_msg(at == NULL, "%s", never[i]);
    }
    buf_release(&a.body);
    end();
}
END_TEST

/* Simulates DNS rebinding: a web page whose name points at the listener, at any of its
 * addresses. */
START_TEST(a_name_that_is_not_ours_is_refused_on_every_address)
{
    static const char *const listens[] = {"127.0.0.1:9187", "0.0.0.0:9187", "[::]:9187",
                                          "192.0.2.7:9187"};
    static const char *const names[] = {"rowferry.monitoring.svc"};
    char hostname[65] = "";
    ck_assert_int_eq(gethostname(hostname, sizeof(hostname) - 1), 0);
    const struct called {
        const char *host;
        unsigned status;
    } calls[] = {
        {"evil.example:9187", 421},
        {"rowferry.evil.example", 421},
        {"", 421},
        {"10.1.2.3:9187", 200},
        {"[fd00::7]:9187", 200},
        {"localhost:9187", 200},
        {hostname, 200},
        {names[0], 200},
        {NULL, 200},
    };
    for (size_t i = 0; i < sizeof(listens) / sizeof(listens[0]); i++) {
        begin();
        answer_release(&answerer);
        options.listen = listens[i];
        options.names = names;
        options.name_count = 1;
        answer_init(&answerer, &options, &events, &history);
        for (size_t k = 0; k < sizeof(calls) / sizeof(calls[0]); k++) {
            struct serve_answer a;
            ask("GET", "/status", calls[k].host, &a);
            ck_assert_msg(a.status == calls[k].status, "%s: %u", calls[k].host, a.status);
            buf_release(&a.body);
        }
        end();
    }
}
END_TEST

SUITE_MAIN("serve/answer", ready_names_who_is_not, a_pipeline_that_hangs_is_not_healthy,
           status_is_json_and_however_many_ask_is_read_once, status_has_samples_only_for_who_asks,
           status_names_the_servers_whatever_their_names, only_reading_and_only_by_our_name,
           a_name_that_is_not_ours_is_refused_on_every_address,
           the_page_runs_by_a_number_that_is_new_each_time,
           nothing_of_the_page_comes_from_elsewhere_or_is_markup_of_values)
