/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A pipeline into a data stream. The Elasticsearch of these tests creates streams from templates,
 * but lacks the endpoint that creates and deletes them. There a refused write creates an empty
 * stream, which is then adopted.
 */
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "shop.h"
#include "sql.h"
#include "wait.h"

#define MORE ",\"@timestamp\":{\"type\":\"date\"}"
#define SETTINGS "\"number_of_replicas\":0"

struct stream {
    struct shop shop;
    bool endpoint; /* /_data_stream exists */
    char template[128];
};

static int status_of(const struct stream *t, const char *method, const char *path, const char *body)
{
    struct reply reply;
    reply_get(&reply, method, t->shop.subject.url, path, body, t->shop.subject.authorization);
    int status = reply.status;
    reply_release(&reply);
    return status;
}

static void make_empty(struct stream *t)
{
    static const char refused[] = "{\"index\":{\"_id\":\"1\"}}\n{\"@timestamp\":\"2026-01-01\"}\n";
    struct subject *s = &t->shop.subject;
    char body[1024];
    snprintf(t->template, sizeof(t->template), "/_index_template/%s", s->alias);
    snprintf(body, sizeof(body),
             "{\"index_patterns\":[\"%s\"],\"priority\":400,\"data_stream\":{},\"template\":{"
             "\"settings\":{" SETTINGS "},\"mappings\":{\"properties\":{\"source_id\":{\"type\":"
             "\"keyword\"},\"title\":{\"type\":\"text\"},\"price\":{\"type\":\"double\"},\"tags\":{"
             "\"type\":\"keyword\"},\"extra\":{\"type\":\"object\",\"enabled\":false},"
             "\"published\":{\"type\":\"boolean\"},\"updated_at\":{\"type\":\"date\"},\"rank\":{"
             "\"type\":\"long\"}" MORE "}}}}",
             s->alias);
    ck_assert_int_eq(status_of(t, "PUT", t->template, body), 200);
    say(s, 200, "only write ops with an op_type of create", "POST", s->alias, "/_bulk", refused);
}

static void open_stream(struct stream *t, long rows)
{
    struct shop *shop = &t->shop;
    shop_open(shop, rows, NULL, NULL);
    sql_exec(shop->conn, "alter table articles add \"@timestamp\" timestamptz not null default "
                         "timestamptz '2026-01-02 03:04:05.123456+00'");
    shop->to = ", \"kind\": \"data_stream\"";
    shop_configure(shop, MORE, SETTINGS);
    snprintf(t->template, sizeof(t->template), "/_index_template/rowferry-%s", shop->subject.alias);
    t->endpoint = status_of(t, "GET", "/_data_stream", NULL) == 200;
    if (!t->endpoint) {
        make_empty(t);
    }
    shop_sync_counts(shop, rows, 0);
}

static void close_stream(struct stream *t)
{
    char path[128];
    snprintf(path, sizeof(path), "/_data_stream/%s", t->shop.subject.alias);
    if (t->endpoint) {
        ck_assert_int_eq(status_of(t, "DELETE", path, NULL), 200);
        ck_assert_int_eq(status_of(t, "DELETE", t->template, NULL), 200);
    }
    shop_close(&t->shop);
}

static void add_rows(struct stream *t, long from, long to)
{
    sql_exec(t->shop.conn,
             "insert into articles (source_id, title) select i, 'added ' || i from "
             "generate_series(%ld, %ld) i",
             from, to);
}

START_TEST(rows_are_added_through_a_rollover)
{
    struct stream t;
    struct shop *shop = &t.shop;
    open_stream(&t, 2500);
    shop_expect_equal(shop);
    add_rows(&t, 2501, 2600);
    shop_sync_counts(shop, 100, 0);
    say(&shop->subject, 200, "\"rolled_over\":true", "POST", shop->subject.alias, "/_rollover",
        NULL);
    add_rows(&t, 2601, 2610);
    shop_sync_counts(shop, 10, 0);
    shop_expect_equal(shop);
    rowferry_expect(0, shop->config, "verify", NULL);
    rowferry_expect(2, shop->config, "reindex", NULL);
    close_stream(&t);
}
END_TEST

static void kill_at(const struct stream *t, const char *failpoint)
{
    const char *const argv[] = {getenv("ROWFERRY_PROGRAM"), "-c", t->shop.config, "sync", NULL};
    struct program program;
    struct program_result result;
    program_start(&program, argv, (const char *const[]){failpoint, NULL});
    program_finish(&program, WAIT_MS, &result);
    ck_assert_msg(result.exit_code == 128 + SIGKILL, "%s: %d", failpoint, result.exit_code);
    program_result_release(&result);
}

START_TEST(what_a_killed_sync_has_sent_is_there_once)
{
    struct stream t;
    open_stream(&t, 20);
    add_rows(&t, 21, 1500);
    kill_at(&t, "ROWFERRY_FAILPOINT=batch_answered=kill");
    kill_at(&t, "ROWFERRY_FAILPOINT=checkpoint_before_commit=kill");
    shop_sync(&t.shop, 0, "event=already_there");
    shop_expect_equal(&t.shop);
    rowferry_expect(0, t.shop.config, "verify", NULL);
    close_stream(&t);
}
END_TEST

START_TEST(what_cannot_be_said_to_it_is_told)
{
    struct stream t;
    struct shop *shop = &t.shop;
    struct program_result result;
    char path[192];
    open_stream(&t, 50);
    sql_exec(shop->conn, "update articles set title = 'other' where source_id = 7;"
                         "delete from articles where source_id = 9");
    shop_sync(shop, 3, "event=already_there");
    rowferry_run(&result, shop->config, "verify", "--repair", NULL);
    ck_assert_int_eq(result.exit_code, 4);
    ck_assert_msg(strstr(result.out, "1 altered, 1 dead letter") != NULL, "%s", result.out);
    program_result_release(&result);
    /* by hand, if the service supports it */
    snprintf(path, sizeof(path), "/%s/_delete_by_query?refresh=true", shop->subject.alias);
    if (status_of(&t, "POST", path, "{\"query\":{\"ids\":{\"values\":[\"7\",\"9\"]}}}") == 200) {
        rowferry_expect(0, shop->config, "deadletter", "retry", NULL);
        rowferry_expect(0, shop->config, "verify", "--repair", NULL);
        shop_expect_equal(shop);
    }
    close_stream(&t);
}
END_TEST

TESTS(stream_tests, NULL, rows_are_added_through_a_rollover,
      what_a_killed_sync_has_sent_is_there_once, what_cannot_be_said_to_it_is_told)
