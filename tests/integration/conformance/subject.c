/* SPDX-License-Identifier: Apache-2.0 */
/* Uses the service from the environment, or starts a devsearch. */
#include "subject.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "outcomes.h"
#include "rowferry/base/buf.h"
#include "wait.h"

#define TAKE_MS 90000
#define RESTART_MS 100000

bool subject_is_stand_in(void)
{
    return getenv("ROWFERRY_TEST_SERVICE") == NULL;
}

static void start_stand_in(struct subject *s)
{
    const char *product = getenv("ROWFERRY_TEST_STAND_IN");
    char *dir = scratch_new();
    char *password = scratch_write(dir, "password", "admin\n");
    devsearch_start(&s->stand_in, (const char *const[]){
                                      "--user", "admin", "--password-file", password,
                                      "--max-content-length", SUBJECT_STAND_IN_MAX_BYTES "B",
                                      "--product", product != NULL ? product : "opensearch", NULL});
    free(password);
    scratch_remove(dir);
    s->url = s->stand_in.url;
    s->options.user = "admin";
    s->options.credentials[SERVICE_PASSWORD].value = "admin";
}

static void name_indices(struct subject *s)
{
    snprintf(s->alias, sizeof(s->alias), "rf-test-%d", (int)getpid());
    snprintf(s->first, sizeof(s->first), "%s-20261121-1", s->alias);
    snprintf(s->second, sizeof(s->second), "%s-20261121-2", s->alias);
    snprintf(s->other, sizeof(s->other), "%s-other", s->alias);
}

void subject_enter(struct subject *s)
{
    *s = (struct subject){
        .url = getenv("ROWFERRY_TEST_SERVICE"),
        .options = {.url_count = 1,
                    .user = getenv("ROWFERRY_TEST_USER"),
                    .credentials[SERVICE_PASSWORD].value = getenv("ROWFERRY_TEST_PASSWORD"),
                    .ca_file = getenv("ROWFERRY_TEST_CA"),
                    .request_timeout_ms = 30000,
                    .connect_timeout_ms = 30000,
                    .in_flight = 3},
    };
    if (subject_is_stand_in()) {
        start_stand_in(s);
    }
    s->options.urls = &s->url;
    name_indices(s);
    if (s->options.user != NULL) {
        s->authorization =
            reply_basic(s->options.user, s->options.credentials[SERVICE_PASSWORD].value);
    }
    OK(http_service_open(&s->service, &s->options, &s->err));
    OK(product_detect(s->service, &s->product, &s->err));
}

/* Deletes all indices with our prefix; a backing index is deleted with its data stream
 * (stream.c). */
static void drop_all(struct subject *s)
{
    struct reply names;
    char path[192];
    snprintf(path, sizeof(path), "/_cat/indices/%s*?h=index&expand_wildcards=all", s->alias);
    reply_get(&names, "GET", s->url, path, NULL, s->authorization);
    ck_assert_msg(names.status == 200, "%s: %d %s", path, names.status, names.body);
    char *rest = NULL;
    for (char *name = strtok_r(names.body, " \n", &rest); name != NULL;
         name = strtok_r(NULL, " \n", &rest)) {
        struct reply reply;
        if (name[0] == '.') {
            continue;
        }
        snprintf(path, sizeof(path), "/%s", name);
        reply_get(&reply, "DELETE", s->url, path, NULL, s->authorization);
        ck_assert_msg(reply.status == 200, "%s: %s", path, reply.body);
        reply_release(&reply);
    }
    reply_release(&names);
}

void subject_leave(struct subject *s)
{
    http_service_close(s->service);
    if (subject_is_stand_in()) {
        devsearch_stop(&s->stand_in);
    } else {
        drop_all(s);
    }
    free(s->authorization);
}

void restart_node(void)
{
    struct program program;
    struct program_result result;
    program_start(&program,
                  (const char *const[]){getenv("ROWFERRY_TEST_RUN"), "restart",
                                        getenv("ROWFERRY_TEST_RESTART"), NULL},
                  NULL);
    program_finish(&program, RESTART_MS, &result);
    ck_assert_msg(result.exit_code == 0, "%s", result.err);
    program_result_release(&result);
}

struct service *subject_as(struct subject *s, const char *user, const char *password)
{
    struct service *service = NULL;
    struct service_options options = s->options;
    options.user = user;
    options.credentials[SERVICE_PASSWORD].value = password;
    OK(http_service_open(&service, &options, &s->err));
    return service;
}

char *told(struct subject *s, int status, const char *method, const char *index, const char *rest,
           const char *body)
{
    struct reply reply;
    char path[1024];
    snprintf(path, sizeof(path), "/%s%s", index, rest);
    reply_get(&reply, method, s->url, path, body, s->authorization);
    ck_assert_msg(reply.status == status, "%s %s: %d %s", method, path, reply.status, reply.body);
    return reply.body;
}

void say(struct subject *s, int status, const char *text, const char *method, const char *index,
         const char *rest, const char *body)
{
    char *answer = told(s, status, method, index, rest, body);
    ck_assert_msg(text == NULL || strstr(answer, text) != NULL, "no %s in %s", text, answer);
    free(answer);
}

void open_batch(struct batch *b)
{
    batch_init(b, 1 << 20, 8 << 20, 10000);
}

void add(struct batch *b, enum operation_kind kind, const char *id, long long version,
         const char *document)
{
    const char *action = kind == OPERATION_DELETE ? "delete" : "index";
    batch_begin(b, kind, span_make(id, strlen(id)), version, 1);
    buf_printf(&b->bytes,
               "{\"%s\":{\"_id\":\"%s\",\"version\":%lld,\"version_type\":\"external\"}}\n", action,
               id, version);
    if (kind == OPERATION_UPSERT) {
        buf_push_text(&b->bytes, document);
        buf_push_char(&b->bytes, '\n');
    }
    ck_assert(batch_commit(b));
}

struct batch *take_back(struct subject *s, struct service *service)
{
    struct batch *b = NULL;
    struct deadline deadline = deadline_after(TAKE_MS);
    while (b == NULL) {
        bool readable;
        OK(bulk_wait(service, -1, 100, &readable, &s->err));
        b = bulk_take(service);
        ck_assert(b != NULL || deadline_wait(&deadline));
    }
    return b;
}

void send_by(struct subject *s, struct service *service, const char *index, struct batch *b)
{
    OK(bulk_send(service, index, NULL, b, &s->err));
    ck_assert_ptr_eq(take_back(s, service), b);
}

void send_whole(struct subject *s, const char *index, struct batch *b)
{
    send_by(s, s->service, index, b);
}

void expect_outcome(const struct batch *b, size_t i, enum outcome wanted, int status,
                    const char *reason)
{
    const struct operation *o = &b->operations[i];
    struct span said = batch_reason(b, o);
    bool fits = reason == NULL ||
                (said.len >= strlen(reason) && memcmp(said.data, reason, strlen(reason)) == 0);
    ck_assert_msg(o->outcome == wanted && fits && (status == 0 || status == o->http_status),
                  "operation %zu: %s %d, wanted %s %d %s: %.*s %s", i, outcome_name(o->outcome),
                  o->http_status, outcome_name(wanted), status, reason != NULL ? reason : "",
                  (int)said.len, said.data, b->failure.message);
}

void expect_one(struct subject *s, const char *index, enum operation_kind kind, const char *id,
                long long version, enum outcome wanted, int status, const char *reason)
{
    struct batch b;
    open_batch(&b);
    add(&b, kind, id, version, "{\"n\":1}");
    send_whole(s, index, &b);
    expect_outcome(&b, 0, wanted, status, reason);
    batch_release(&b);
}
