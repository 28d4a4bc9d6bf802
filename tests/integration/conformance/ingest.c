/* SPDX-License-Identifier: Apache-2.0 */
/* Ingest pipelines that refuse or drop single documents. devsearch has none. */
#include <stdio.h>
#include <string.h>

#include "shop.h"
#include "sql.h"

/* OpenSearch returns the items of such documents in another order. */
static const char opensearch_pipeline[] =
    "{\"processors\":["
    "{\"drop\":{\"if\":\"['8', '17', '30'].contains(ctx.source_id)\"}},"
    "{\"fail\":{\"if\":\"ctx.source_id == '7'\",\"message\":\"no sevens\"}},"
    "{\"dissect\":{\"if\":\"ctx.source_id == '9'\",\"field\":\"title\",\"pattern\":"
    "\"%{a}#%{b}\"}},"
    "{\"convert\":{\"if\":\"ctx.source_id == '12'\",\"field\":\"title\",\"type\":\"integer\"}},"
    "{\"fail\":{\"if\":\"ctx.source_id == '20'\",\"message\":\"no twenties\"}}]}";

/* Elasticsearch's processors are not published as a jar. tests/servers/realsearch has a substitute,
 * which ordinary Elasticsearch installations lack. */
static const char elasticsearch_pipeline[] =
    "{\"processors\":[{\"realsearch\":{\"field\":\"source_id\",\"drop\":[\"8\",\"17\",\"30\"],"
    "\"fail\":{\"7\":\"no sevens\",\"9\":\"Unable to find match for dissect pattern\","
    "\"20\":\"no twenties\"},\"reject\":{\"12\":\"unable to convert [title]\"}}}]}";

static const struct {
    const char *key, *reason;
    int status;
} refused[] = {{"7", "no sevens", 500},
               {"9", "dissect", 500},
               {"12", "unable to convert", 400},
               {"20", "no twenties", 500},
               {"8", "an ingest pipeline dropped the document", 200},
               {"17", "an ingest pipeline dropped the document", 200},
               {"30", "an ingest pipeline dropped the document", 200}};

static bool has_pipelines(const struct shop *shop)
{
    const struct product_info *product = &shop->subject.product;
    return !product->stand_in &&
           (product->product == PRODUCT_OPENSEARCH || getenv("ROWFERRY_TEST_PRODUCT") != NULL);
}

static void put_pipeline(struct shop *shop, const char *pipeline)
{
    say(&shop->subject, 200, NULL, "PUT", "_ingest/pipeline/", shop->subject.alias, pipeline);
}

/* Creates a pipeline that accepts everything until begin_refusing. It would reformat numbers, so
 * the prices of all rows are null. */
static void open_pipeline(struct shop *shop, char *to, size_t size)
{
    sql_exec(shop->conn, "update articles set price = null");
    put_pipeline(shop, "{\"processors\":[]}");
    snprintf(to, size, ", \"ingest_pipeline\": \"%s\"", shop->subject.alias);
    shop->to = to;
    shop_configure(shop, NULL, NULL);
}

static void begin_refusing(struct shop *shop)
{
    bool open = shop->subject.product.product == PRODUCT_OPENSEARCH;
    put_pipeline(shop, open ? opensearch_pipeline : elasticsearch_pipeline);
}

static void close_pipeline(struct shop *shop)
{
    say(&shop->subject, 200, NULL, "DELETE", "_ingest/pipeline/", shop->subject.alias, NULL);
}

/* Expects all rows in the index except these. */
static void expect_without(struct shop *shop, const char *keys)
{
    sql_exec(shop->conn, "begin; delete from articles where source_id in (%s)", keys);
    shop_expect_equal(shop);
    sql_exec(shop->conn, "rollback");
}

/* Expects a dead letter for exactly these documents, each with its own status and reason. */
static void expect_letters(const struct shop *shop)
{
    size_t count = sizeof(refused) / sizeof(refused[0]);
    struct program_result r;
    rowferry_run(&r, shop->config, "status", "--json", NULL);
    ck_assert_msg(program_json_int(&r, "dead_letters") == (int64_t)count, "%s%s", r.out, r.err);
    program_result_release(&r);
    for (size_t i = 0; i < count; i++) {
        char status[32];
        snprintf(status, sizeof(status), "%d", refused[i].status);
        rowferry_run(&r, shop->config, "deadletter", "show", refused[i].key, NULL);
        ck_assert_msg(strstr(r.out, refused[i].reason) != NULL && strstr(r.out, status) != NULL,
                      "%s: %s%s", refused[i].key, r.out, r.err);
        program_result_release(&r);
    }
}

/* The index has the documents' previous state, so exchanged outcomes become visible. */
START_TEST(changes_that_a_pipeline_refuses_or_drops_leave_what_was_and_the_others_pass)
{
    struct shop shop;
    char to[128];
    shop_open(&shop, 50, NULL, NULL);
    if (has_pipelines(&shop)) {
        open_pipeline(&shop, to, sizeof(to));
        shop_sync_counts(&shop, 50, 0);
        begin_refusing(&shop);
        sql_exec(shop.conn, "update articles set title = 'later' where source_id <= 35;"
                            "delete from articles where source_id in (3, 21, 31)");
        shop_sync(&shop, 3, NULL);
        expect_letters(&shop);
        sql_exec(shop.conn, "begin; update articles set title = 'title \"' || source_id || "
                            "E'\\u00e9\\U0001f600' where source_id in (7, 8, 9, 12, 17, 20, 30)");
        shop_expect_equal(&shop);
        sql_exec(shop.conn, "rollback");
        close_pipeline(&shop);
    }
    shop_close(&shop);
}
END_TEST

START_TEST(documents_that_ingest_processors_refuse_or_drop_are_dead_letters_and_stop_nobody)
{
    struct shop shop;
    char to[128];
    shop_open(&shop, 50, NULL, NULL);
    if (has_pipelines(&shop)) {
        open_pipeline(&shop, to, sizeof(to));
        begin_refusing(&shop);
        shop_sync(&shop, 3, NULL);
        expect_letters(&shop);
        expect_without(&shop, "7, 8, 9, 12, 17, 20, 30");
        sql_exec(shop.conn, "update articles set title = 'later' where source_id = 4");
        shop_sync(&shop, 3, NULL);
        expect_letters(&shop);
        put_pipeline(&shop, "{\"processors\":[]}");
        rowferry_expect(0, shop.config, "deadletter", "retry", NULL);
        shop_expect_equal(&shop);
        close_pipeline(&shop);
    }
    shop_close(&shop);
}
END_TEST

/* Of Elasticsearch no jar has a processor that sets "_index". */
START_TEST(documents_that_a_pipeline_moves_to_another_index_are_dead_letters)
{
    struct shop shop;
    char to[128];
    shop_open(&shop, 20, NULL, NULL);
    if (has_pipelines(&shop) && shop.subject.product.product == PRODUCT_OPENSEARCH) {
        char pipeline[256];
        open_pipeline(&shop, to, sizeof(to));
        snprintf(pipeline, sizeof(pipeline),
                 "{\"processors\":[{\"set\":{\"if\":\"ctx.source_id == '7'\",\"field\":\"_index\","
                 "\"value\":\"%s-elsewhere\"}}]}",
                 shop.subject.alias);
        put_pipeline(&shop, pipeline);
        for (int again = 0; again < 2; again++) {
            struct program_result r;
            shop_sync(&shop, 3, NULL);
            rowferry_run(&r, shop.config, "deadletter", "show", "7", NULL);
            ck_assert_msg(strstr(r.out, "an ingest pipeline moved the document to index") != NULL,
                          "%s%s", r.out, r.err);
            program_result_release(&r);
            expect_without(&shop, "7");
            sql_exec(shop.conn, "update articles set title = 'later' where source_id in (7, 8)");
        }
        put_pipeline(&shop, "{\"processors\":[]}");
        shop_sync(&shop, 0, NULL);
        shop_expect_equal(&shop);
        say(&shop.subject, 200, NULL, "DELETE", shop.subject.alias, "-elsewhere", NULL);
        close_pipeline(&shop);
    }
    shop_close(&shop);
}
END_TEST

TESTS(ingest_tests, NULL,
      documents_that_ingest_processors_refuse_or_drop_are_dead_letters_and_stop_nobody,
      documents_that_a_pipeline_moves_to_another_index_are_dead_letters,
      changes_that_a_pipeline_refuses_or_drops_leave_what_was_and_the_others_pass)
