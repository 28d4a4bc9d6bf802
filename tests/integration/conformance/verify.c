/* SPDX-License-Identifier: Apache-2.0 */
/* Compares the documents returned by the service with those sent. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "shop.h"
#include "sql.h"
#include "wait.h"

static void verify(struct shop *shop, int exit_code, int64_t missing, int64_t extra,
                   int64_t altered)
{
    struct program_result r;
    rowferry_run(&r, shop->config, "verify", "--json", NULL);
    ck_assert_msg(r.exit_code == exit_code && program_json_int(&r, "missing") == missing &&
                      program_json_int(&r, "extra") == extra &&
                      program_json_int(&r, "altered") == altered &&
                      program_json_int(&r, "waiting") == 0,
                  "%d: %.1500s\n%.1500s", r.exit_code, r.out, r.err);
    program_result_release(&r);
}

static void put(struct shop *shop, const char *id, const char *document)
{
    struct reply reply;
    char path[256];
    snprintf(path, sizeof(path), "/%s/_doc/%s", shop->subject.alias, id);
    reply_get(&reply, "PUT", shop->subject.url, path, document, shop->subject.authorization);
    ck_assert_msg(reply.status == 200 || reply.status == 201, "%d %s", reply.status, reply.body);
    reply_release(&reply);
}

START_TEST(differences_are_found_and_repaired)
{
    struct shop shop;
    struct program_result r;
    shop_open(&shop, 3000, NULL, NULL);
    shop_sync_counts(&shop, 3000, 0);
    verify(&shop, 0, 0, 0, 0);
    say(&shop.subject, 200, NULL, "DELETE", shop.subject.alias, "/_doc/17", NULL);
    say(&shop.subject, 200, NULL, "DELETE", shop.subject.alias, "/_doc/2999", NULL);
    put(&shop, "9001", "{\"source_id\":\"9001\"}");
    put(&shop, "9002", "{\"title\": \"without a source_id\"}");
    put(&shop, "9003", "{\"source_id\":\"9003\", \"title\" : null}");
    put(&shop, "5", "{\"source_id\":\"5\",\"title\":\"altered\"}");
    verify(&shop, 4, 2, 3, 1);
    sql_exec(shop.conn, "update articles set title = 'later' where source_id = 6");
    rowferry_run(&r, shop.config, "verify", "--json", "--repair", NULL);
    /* the newer row is left to the sync */
    ck_assert_msg(r.exit_code == 6, "%.1500s%.1500s", r.out, r.err);
    ck_assert_int_eq(program_json_int(&r, "upserts"), 3);
    ck_assert_int_eq(program_json_int(&r, "deletes"), 3);
    program_result_release(&r);
    shop_sync_counts(&shop, 1, 0);
    verify(&shop, 0, 0, 0, 0);
    shop_expect_equal(&shop);
    shop_close(&shop);
}
END_TEST

/* Restores the result window for the comparison, which reads all documents at once. */
static void widen(struct shop *shop)
{
    char *generation = shop_generation(shop);
    say(&shop->subject, 200, NULL, "PUT", generation, "/_settings",
        "{\"index\":{\"max_result_window\":10000}}");
    free(generation);
}

#define NARROW "\"index\": {\"max_result_window\": 100}"

/* The documents of one source_id cross the end of a page: the next page has them all. */
START_TEST(an_index_with_a_narrow_result_window_is_verified_and_repaired)
{
    struct shop shop;
    struct program_result r;
    shop_open(&shop, 350, NULL, NARROW);
    shop_sync_counts(&shop, 350, 0);
    char *generation = shop_generation(&shop);
    say(&shop.subject, 200, "\"max_result_window\":\"100\"", "GET", generation, "/_settings", NULL);
    free(generation);
    verify(&shop, 0, 0, 0, 0);
    for (int i = 0; i < 12; i++) {
        char id[16];
        snprintf(id, sizeof(id), "%d", 9000 + i);
        put(&shop, id, "{\"source_id\":\"188\"}"); /* the 99th in byte order */
    }
    say(&shop.subject, 200, NULL, "DELETE", shop.subject.alias, "/_doc/301", NULL);
    verify(&shop, 4, 1, 12, 0);
    rowferry_run(&r, shop.config, "verify", "--repair", NULL);
    ck_assert_msg(r.exit_code == 0, "%.1500s%.1500s", r.out, r.err);
    program_result_release(&r);
    verify(&shop, 0, 0, 0, 0);
    widen(&shop);
    shop_expect_equal(&shop);
    shop_close(&shop);
}
END_TEST

START_TEST(an_index_with_a_narrow_result_window_is_reconciled)
{
    struct shop shop;
    struct deadline deadline = deadline_after(WAIT_MS);
    shop_open(&shop, 350, NULL, NARROW);
    shop.from = ", \"capture\": {\"mode\": \"cursor\", \"column\": \"updated_at\", "
                "\"deletes\": {\"reconcile\": \"1s\"}}";
    shop_configure(&shop, NULL, NARROW);
    shop_sync(&shop, 0, NULL);
    sql_exec(shop.conn, "delete from articles where source_id %% 7 = 0");
    for (long long left = -1; left != 300;) {
        struct reply reply;
        char path[128];
        shop_sync(&shop, 0, NULL);
        say(&shop.subject, 200, NULL, "POST", shop.subject.alias, "/_refresh", NULL);
        snprintf(path, sizeof(path), "/%s/_count", shop.subject.alias);
        reply_get(&reply, "GET", shop.subject.url, path, NULL, shop.subject.authorization);
        ck_assert_int_eq(sscanf(reply.body, "{\"count\":%lld", &left), 1);
        reply_release(&reply);
        ck_assert_msg(left == 300 || deadline_wait(&deadline), "%lld documents", left);
    }
    widen(&shop);
    shop_expect_equal(&shop);
    shop_close(&shop);
}
END_TEST

/* Vectors stored separately by the service are returned on request. */
START_TEST(vectors_are_compared_wherever_the_service_keeps_them)
{
    struct shop shop;
    subject_enter(&shop.subject);
    bool dense = shop.subject.product.product == PRODUCT_ELASTICSEARCH;
    subject_leave(&shop.subject);
    if (!dense) {
        return;
    }
    shop_open(&shop, 30, ",\"v\":{\"type\":\"dense_vector\",\"dims\":3,\"similarity\":\"l2_norm\"}",
              NULL);
    sql_exec(shop.conn, "update articles set v = array[source_id / 3.0, 1, -0.123456789]::float4[] "
                        "where source_id <> 30");
    shop_sync_counts(&shop, 30, 0);
    verify(&shop, 0, 0, 0, 0);
    char *document =
        sql_text(shop.conn, "select json_build_object('source_id', '7', 'title', title, 'price', "
                            "price, 'tags', tags, 'extra', extra, 'published', published, "
                            "'updated_at', to_char(updated_at at time zone 'UTC', "
                            "'YYYY-MM-DD\"T\"HH24:MI:SS.US\"Z\"'), 'v', array[v[1], 1.01, v[3]]) "
                            "from articles where source_id = 7");
    put(&shop, "7", document);
    free(document);
    verify(&shop, 4, 0, 0, 1);
    shop_close(&shop);
}
END_TEST

/* A restored copy must be this much older than the last settled changes. */
#define BEHIND_MS 61000

static void snapshot(struct shop *shop, const char *method, const char *rest, const char *body)
{
    say(&shop->subject, 200, NULL, method, "_snapshot", rest, body);
}

START_TEST(an_index_that_a_restore_took_back_is_named_and_repaired)
{
    struct shop shop;
    struct program_result r;
    char body[512];
    shop_open(&shop, 500, NULL, NULL);
    shop_sync_counts(&shop, 500, 0);
    char *generation = shop_generation(&shop);
    snprintf(body, sizeof(body), "{\"type\":\"fs\",\"settings\":{\"location\":\"%s\"}}",
             getenv("ROWFERRY_TEST_REPOSITORY"));
    snapshot(&shop, "PUT", "/rf-test", body);
    snprintf(body, sizeof(body), "{\"indices\":\"%s\",\"include_global_state\":false}", generation);
    snapshot(&shop, "PUT", "/rf-test/before?wait_for_completion=true", body);
    struct deadline behind = deadline_after(BEHIND_MS);
    while (deadline_wait(&behind)) {
    }
    sql_exec(
        shop.conn,
        "update articles set title = 'later' where source_id <= 30;"
        "delete from articles where source_id between 101 and 105;"
        "insert into articles (source_id, title) select i, 'new' from generate_series(801, 807) i");
    shop_sync_counts(&shop, 37, 5);
    say(&shop.subject, 200, NULL, "POST", generation, "/_close", NULL);
    snapshot(&shop, "POST", "/rf-test/before/_restore?wait_for_completion=true", body);
    rowferry_run(&r, shop.config, "verify", NULL);
    ck_assert_msg(r.exit_code == 4 && strstr(r.out, "restored from an older copy") != NULL,
                  "%d: %.1500s%.1500s", r.exit_code, r.out, r.err);
    program_result_release(&r);
    verify(&shop, 4, 7, 5, 30);
    rowferry_run(&r, shop.config, "verify", "--json", "--repair", NULL);
    ck_assert_msg(r.exit_code == 0, "%.1500s%.1500s", r.out, r.err);
    program_result_release(&r);
    verify(&shop, 0, 0, 0, 0);
    shop_expect_equal(&shop);
    snapshot(&shop, "DELETE", "/rf-test/before", NULL);
    snapshot(&shop, "DELETE", "/rf-test", NULL);
    free(generation);
    shop_close(&shop);
}
END_TEST

TESTS(restore_tests, "ROWFERRY_TEST_REPOSITORY",
      an_index_that_a_restore_took_back_is_named_and_repaired)

TESTS(verify_tests, NULL, differences_are_found_and_repaired,
      an_index_with_a_narrow_result_window_is_verified_and_repaired,
      an_index_with_a_narrow_result_window_is_reconciled,
      vectors_are_compared_wherever_the_service_keeps_them)
