/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The service room against a service: the same tests on devsearch ($DEVSEARCH_PROGRAM) and on a
 * real one ($ROWFERRY_TEST_SERVICE, with ROWFERRY_TEST_USER, _PASSWORD and _CA where it wants
 * them), where only indices named rowferry-test-* are made, and deleted again.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "rowferry/service/bulk.h"
#include "rowferry/service/index.h"
#include "rowferry/service/product.h"
#include "server.h"
#include "suite.h"

#define MAPPING                                                                                    \
    "{\"dynamic\":\"strict\",\"_meta\":{\"rowferry\":{\"pipeline\":\"articles\",\"mapping\":"      \
    "\"0011223344556677\"}},\"properties\":{\"source_id\":{\"type\":\"keyword\"},\"title\":{"      \
    "\"type\":\"text\"},\"n\":{\"type\":\"long\"}}}"

struct place {
    struct devsearch stand_in;
    bool started;
    const char *url;
    struct service *service;
    char alias[64];
    char first[96]; /* two generations */
    char second[96];
    struct err err;
};

#define OK(call) ck_assert_msg((call) == 0, "%s: %s %s", #call, p->err.message, p->err.detail)

static void enter(struct place *p)
{
    *p = (struct place){.url = getenv("ROWFERRY_TEST_SERVICE")};
    if (p->url == NULL) {
        devsearch_start(&p->stand_in, NULL);
        p->started = true;
        p->url = p->stand_in.url;
    }
    struct service_options options = {
        .urls = &p->url,
        .url_count = 1,
        .user = getenv("ROWFERRY_TEST_USER"),
        .password = getenv("ROWFERRY_TEST_PASSWORD"),
        .ca_file = getenv("ROWFERRY_TEST_CA"),
        .request_timeout_ms = 30000,
        .connect_timeout_ms = 5000,
        .in_flight = 3,
    };
    snprintf(p->alias, sizeof(p->alias), "rowferry-test-%d", (int)getpid());
    snprintf(p->first, sizeof(p->first), "%s-20261121-1", p->alias);
    snprintf(p->second, sizeof(p->second), "%s-20261121-2", p->alias);
    OK(service_open(&p->service, &options, &p->err));
}

static void leave(struct place *p)
{
    OK(index_delete(p->service, p->first, "articles", &p->err));
    OK(index_delete(p->service, p->second, "articles", &p->err));
    service_close(p->service);
    if (p->started) {
        devsearch_stop(&p->stand_in);
    }
}

static void open_batch(struct batch *b)
{
    batch_init(b, 1 << 20, 1 << 20, 10000);
}

static void add(struct batch *b, enum operation_kind kind, const char *id, long long version,
                const char *document)
{
    const char *action = kind == OPERATION_DELETE ? "delete" : "index";
    batch_begin(b, kind, span_make(id, strlen(id)), version, 1);
    buf_printf(&b->bytes,
               "{\"%s\":{\"_id\":\"%s\",\"version\":%lld,\"version_type\":\"external\"}}\n", action,
               id, version);
    if (kind == OPERATION_UPSERT) {
        buf_printf(&b->bytes, "%s\n", document);
    }
    ck_assert(batch_commit(b));
}

static struct batch *take(struct place *p)
{
    struct batch *b = NULL;
    for (int i = 0; i < 300 && b == NULL; i++) {
        bool readable;
        OK(bulk_wait(p->service, -1, 100, &readable, &p->err));
        b = bulk_take(p->service);
    }
    ck_assert_ptr_nonnull(b);
    return b;
}

static void send_whole(struct place *p, const char *index, struct batch *b)
{
    OK(bulk_send(p->service, index, NULL, b, &p->err));
    ck_assert_ptr_eq(take(p), b);
}

static void expect_outcome(const struct batch *b, size_t i, enum outcome wanted, int status)
{
    const struct operation *o = &b->operations[i];
    struct span reason = batch_reason(b, o);
    ck_assert_msg(o->outcome == wanted, "operation %zu: %s %d, wanted %s: %.*s", i,
                  outcome_name(o->outcome), o->http_status, outcome_name(wanted), (int)reason.len,
                  reason.data);
    ck_assert_msg(status == 0 || o->http_status == status, "operation %zu: %d", i, o->http_status);
}

/* The answer's body has to hold this text. */
static void expect_body(struct place *p, const char *index, const char *rest, int status,
                        const char *text)
{
    struct http_answer answer;
    char path[256];
    snprintf(path, sizeof(path), "/%s%s", index, rest);
    OK(http_request(p->service, "GET", path, span_make(NULL, 0), &answer, &p->err));
    ck_assert_int_eq(answer.status, status);
    ck_assert_msg(strstr(buf_text(&answer.body), text) != NULL, "%s", buf_text(&answer.body));
    http_answer_release(&answer);
}

START_TEST(the_product_is_known)
{
    struct place place;
    struct place *p = &place;
    struct product_info info;
    enter(p);
    OK(product_detect(p->service, &info, &p->err));
    ck_assert(info.permitted);
    ck_assert(info.stand_in == p->started);
    ck_assert(p->started || (info.product != PRODUCT_UNKNOWN && info.major > 0));
    leave(p);
}
END_TEST

START_TEST(a_generation_is_built_and_swapped_in)
{
    struct place place;
    struct place *p = &place;
    enum alias_kind kind;
    struct index_info info;
    bool found;
    enter(p);
    OK(index_resolve(p->service, p->alias, &kind, &info, &p->err));
    ck_assert_int_eq(kind, ALIAS_ABSENT);
    OK(index_create(p->service, p->first, MAPPING, NULL, &p->err));
    OK(index_create(p->service, p->second, MAPPING,
                    "{\"number_of_replicas\":0,\"index\":{\"refresh_interval\":\"5s\"}}", &p->err));
    expect_body(p, p->second, "/_settings", 200, "\"gc_deletes\":\"1h\"");
    expect_body(p, p->second, "/_settings", 200, "\"refresh_interval\":\"-1\"");
    OK(index_look(p->service, p->first, &found, &info, &p->err));
    ck_assert(found);
    ck_assert_str_eq(info.pipeline, "articles");
    ck_assert_str_eq(info.fingerprint, "0011223344556677");
    ck_assert_str_ne(info.uuid, "");
    OK(index_swap(p->service, p->alias, NULL, p->first, &p->err));
    OK(index_resolve(p->service, p->alias, &kind, &info, &p->err));
    ck_assert_int_eq(kind, ALIAS_ONE);
    ck_assert_str_eq(info.name, p->first);
    OK(index_finish(p->service, p->second,
                    "{\"number_of_replicas\":0,\"index\":{\"refresh_interval\":\"5s\"}}", &p->err));
    expect_body(p, p->second, "/_settings", 200, "\"refresh_interval\":\"5s\"");
    OK(index_swap(p->service, p->alias, p->first, p->second, &p->err));
    OK(index_resolve(p->service, p->alias, &kind, &info, &p->err));
    ck_assert_str_eq(info.name, p->second);
    ck_assert_int_eq(index_swap(p->service, p->alias, p->first, p->second, &p->err), ERR_REJECTED);
    OK(index_resolve(p->service, p->second, &kind, &info, &p->err));
    ck_assert_int_eq(kind, ALIAS_CONCRETE);
    OK(index_look(p->service, p->alias, &found, &info, &p->err));
    ck_assert(!found);
    leave(p);
}
END_TEST

START_TEST(the_refresh_interval_goes_back_to_the_default)
{
    struct place place;
    struct place *p = &place;
    struct http_answer answer;
    char path[128];
    enter(p);
    OK(index_create(p->service, p->first, MAPPING, NULL, &p->err));
    OK(index_finish(p->service, p->first, NULL, &p->err));
    snprintf(path, sizeof(path), "/%s/_settings", p->first);
    OK(http_request(p->service, "GET", path, span_make(NULL, 0), &answer, &p->err));
    ck_assert_int_eq(answer.status, 200);
    ck_assert_ptr_null(strstr(buf_text(&answer.body), "\"refresh_interval\":\"-1\""));
    http_answer_release(&answer);
    leave(p);
}
END_TEST

START_TEST(what_the_service_refuses_is_told)
{
    struct place place;
    struct place *p = &place;
    enter(p);
    ck_assert_int_eq(index_create(p->service, p->first,
                                  "{\"properties\":{\"a\":{\"type\":\"bogus\"}}}", NULL, &p->err),
                     ERR_REJECTED);
    ck_assert_int_eq(p->err.http_status, 400);
    ck_assert_msg(strstr(p->err.message, "bogus") != NULL, "%s", p->err.message);
    OK(index_create(p->service, p->first, MAPPING, NULL, &p->err));
    ck_assert_int_eq(index_create(p->service, p->first, MAPPING, NULL, &p->err), ERR_REJECTED);
    ck_assert_msg(strstr(p->err.message, "resource_already_exists_exception") != NULL, "%s",
                  p->err.message);
    ck_assert_int_eq(index_delete(p->service, p->first, "authors", &p->err), ERR_INTERNAL);
    leave(p);
}
END_TEST

START_TEST(documents_are_counted_after_a_refresh)
{
    struct place place;
    struct place *p = &place;
    struct batch b;
    int64_t count;
    enter(p);
    OK(index_create(p->service, p->first, MAPPING, NULL, &p->err));
    open_batch(&b);
    for (int i = 0; i < 1000; i++) {
        char id[16];
        snprintf(id, sizeof(id), "%d", i);
        add(&b, OPERATION_UPSERT, id, 10, "{\"title\":\"x\"}");
    }
    send_whole(p, p->first, &b);
    for (size_t i = 0; i < b.count; i++) {
        expect_outcome(&b, i, OUTCOME_DONE, 200);
    }
    OK(index_refresh(p->service, p->first, &p->err));
    OK(index_count(p->service, p->first, &count, &p->err));
    ck_assert_int_eq(count, 1000);
    batch_release(&b);
    leave(p);
}
END_TEST

START_TEST(every_operation_of_a_mixed_batch_has_its_own_outcome)
{
    struct place place;
    struct place *p = &place;
    struct batch b;
    enter(p);
    OK(index_create(p->service, p->first, MAPPING, NULL, &p->err));
    open_batch(&b);
    add(&b, OPERATION_UPSERT, "a", 10, "{\"source_id\":\"a\",\"n\":1}");
    add(&b, OPERATION_UPSERT, "b", 10, "{\"n\":\"abc\"}");
    add(&b, OPERATION_UPSERT, "c", 10, "{\"nope\":1}");
    add(&b, OPERATION_DELETE, "d", 10, NULL);
    add(&b, OPERATION_UPSERT, "e", 10, "{\"n\":2}");
    send_whole(p, p->first, &b);
    expect_outcome(&b, 0, OUTCOME_DONE, 201);
    expect_outcome(&b, 1, OUTCOME_REJECTED, 400);
    expect_outcome(&b, 2, OUTCOME_REJECTED, 400);
    expect_outcome(&b, 3, OUTCOME_DONE, 404);
    expect_outcome(&b, 4, OUTCOME_DONE, 201);
    struct span reason = batch_reason(&b, &b.operations[1]);
    ck_assert_msg(memmem(reason.data, reason.len, "failed to parse", 15) != NULL, "%.*s",
                  (int)reason.len, reason.data);
    reason = batch_reason(&b, &b.operations[2]);
    ck_assert_msg(memmem(reason.data, reason.len, "strict_dynamic_mapping_exception", 32) != NULL,
                  "%.*s", (int)reason.len, reason.data);
    expect_body(p, p->first, "/_doc/a", 200, "\"n\":1");
    expect_body(p, p->first, "/_doc/e", 200, "\"n\":2");
    expect_body(p, p->first, "/_doc/b", 404, "\"found\":false");
    batch_release(&b);
    leave(p);
}
END_TEST

START_TEST(versions_never_go_back)
{
    struct place place;
    struct place *p = &place;
    struct batch b;
    enter(p);
    OK(index_create(p->service, p->first, MAPPING, NULL, &p->err));
    open_batch(&b);
    add(&b, OPERATION_UPSERT, "a", 10, "{\"n\":1}");
    add(&b, OPERATION_UPSERT, "a", 10, "{\"n\":1}");
    add(&b, OPERATION_UPSERT, "a", 9, "{\"n\":2}");
    add(&b, OPERATION_DELETE, "a", 9, NULL);
    add(&b, OPERATION_DELETE, "b", 10, NULL);
    add(&b, OPERATION_DELETE, "b", 10, NULL);
    add(&b, OPERATION_UPSERT, "b", 9, "{\"n\":3}");
    b.operations[1].attempts = 1; /* sent before, as is the second delete of "b" */
    b.operations[5].attempts = 1;
    send_whole(p, p->first, &b);
    expect_outcome(&b, 0, OUTCOME_DONE, 201);
    expect_outcome(&b, 1, OUTCOME_DONE, 409);
    expect_outcome(&b, 2, OUTCOME_OUTRUN, 409);
    expect_outcome(&b, 3, OUTCOME_OUTRUN, 409);
    expect_outcome(&b, 4, OUTCOME_DONE, 404);
    expect_outcome(&b, 5, OUTCOME_DONE, 409);
    expect_outcome(&b, 6, OUTCOME_OUTRUN, 409);
    ck_assert_int_eq(b.operations[2].seen, 10);
    ck_assert_int_eq(b.operations[6].seen, 10);
    expect_body(p, p->first, "/_doc/a", 200, "\"n\":1");
    expect_body(p, p->first, "/_doc/b", 404, "\"found\":false");
    batch_release(&b);
    leave(p);
}
END_TEST

START_TEST(a_malformed_request_says_so_for_all_and_nothing_is_applied)
{
    struct place place;
    struct place *p = &place;
    struct batch b;
    enter(p);
    OK(index_create(p->service, p->first, MAPPING, NULL, &p->err));
    open_batch(&b);
    add(&b, OPERATION_UPSERT, "a", 10, "{\"n\":1}");
    add(&b, OPERATION_UPSERT, "b", -1, "{\"n\":1}");
    send_whole(p, p->first, &b);
    ck_assert_uint_eq(b.http_status, 400);
    expect_outcome(&b, 0, OUTCOME_RETRY, 400);
    expect_outcome(&b, 1, OUTCOME_RETRY, 400);
    expect_body(p, p->first, "/_doc/a", 404, "\"found\":false");
    batch_reset(&b);
    add(&b, OPERATION_UPSERT, "b", -1, "{\"n\":1}");
    send_whole(p, p->first, &b);
    expect_outcome(&b, 0, OUTCOME_REJECTED, 400);
    ck_assert_uint_gt(batch_reason(&b, &b.operations[0]).len, 0);
    batch_release(&b);
    leave(p);
}
END_TEST

START_TEST(several_bulks_are_in_flight_beside_a_request)
{
    struct place place;
    struct place *p = &place;
    struct batch b[3];
    int64_t count;
    enter(p);
    OK(index_create(p->service, p->first, MAPPING, NULL, &p->err));
    for (size_t i = 0; i < 3; i++) {
        open_batch(&b[i]);
        for (int k = 0; k < 500; k++) {
            char id[32];
            snprintf(id, sizeof(id), "%zu-%d", i, k);
            add(&b[i], OPERATION_UPSERT, id, 10, "{\"title\":\"several\"}");
        }
        OK(bulk_send(p->service, p->first, NULL, &b[i], &p->err));
    }
    ck_assert(!bulk_can_send(p->service));
    OK(index_count(p->service, p->first, &count, &p->err));
    for (size_t i = 0; i < 3; i++) {
        struct batch *taken = take(p);
        for (size_t k = 0; k < taken->count; k++) {
            expect_outcome(taken, k, OUTCOME_DONE, 200);
        }
    }
    OK(index_refresh(p->service, p->first, &p->err));
    OK(index_count(p->service, p->first, &count, &p->err));
    ck_assert_int_eq(count, 1500);
    for (size_t i = 0; i < 3; i++) {
        batch_release(&b[i]);
    }
    leave(p);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {
        the_product_is_known,
        a_generation_is_built_and_swapped_in,
        the_refresh_interval_goes_back_to_the_default,
        what_the_service_refuses_is_told,
        documents_are_counted_after_a_refresh,
        every_operation_of_a_mixed_batch_has_its_own_outcome,
        versions_never_go_back,
        a_malformed_request_says_so_for_all_and_nothing_is_applied,
        several_bulks_are_in_flight_beside_a_request,
    };
    if (getenv("ROWFERRY_TEST_SERVICE") == NULL && getenv("DEVSEARCH_PROGRAM") == NULL) {
        puts("skip: neither ROWFERRY_TEST_SERVICE nor DEVSEARCH_PROGRAM is set");
        return 77;
    }
    return suite_run("integration/service", tests, sizeof(tests) / sizeof(tests[0]));
}
