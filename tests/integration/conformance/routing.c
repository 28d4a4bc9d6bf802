/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Documents routed by a part of their key over several shards: no change of a row leaves a document
 * in its old place.
 */
#include <string.h>

#include "shop.h"
#include "sql.h"

#define KEY "tenant || ':' || source_id"

static const char shards[] = "\"number_of_shards\":7,\"number_of_replicas\":0";

static void open_routed(struct shop *shop)
{
    shop_open(shop, 300, NULL, NULL);
    sql_exec(shop->conn, "alter table articles add tenant text not null default '';"
                         "update articles set tenant = 't' || source_id %% 40;"
                         "create unique index on articles (tenant, source_id)");
    shop->from = ", \"key\": [\"tenant\", \"source_id\"]";
    shop->to = ", \"routing\": \"tenant\"";
    shop_configure(shop, ",\"tenant\":{\"type\":\"keyword\"}", shards);
    rowferry_expect(0, shop->config, "source", "install", NULL);
    shop_sync_counts(shop, 300, 0);
    shop_expect_equal_by(shop, KEY);
}

START_TEST(a_row_that_moves_to_another_shard_leaves_no_document_behind)
{
    struct shop shop;
    open_routed(&shop);
    sql_exec(shop.conn, "update articles set tenant = 'u' || source_id %% 13 where source_id <= "
                        "50; delete from articles where source_id between 150 and 189;"
                        "update articles set title = 'other' where source_id > 250");
    shop_sync_counts(&shop, 100, 90);
    shop_expect_equal_by(&shop, KEY);
    rowferry_expect(0, shop.config, "verify", NULL);
    rowferry_expect(0, shop.config, "resync", "u1:1", NULL);
    shop_expect_equal_by(&shop, KEY);
    shop_close(&shop);
}
END_TEST

START_TEST(what_a_reconcile_finds_is_deleted_where_it_lies)
{
    struct shop shop;
    open_routed(&shop);
    sql_exec(shop.conn, "truncate articles; insert into articles (source_id, title, tenant) select "
                        "i, 'new', 't' || i %% 40 from generate_series(1, 20) i");
    shop_sync(&shop, 1, "the guard stopped the pipeline");
    rowferry_expect(0, shop.config, "sync", "--allow-deletes", NULL);
    shop_expect_equal_by(&shop, KEY);
    shop_close(&shop);
}
END_TEST

START_TEST(verify_finds_and_repairs_each_where_it_lies)
{
    struct shop shop;
    struct subject *s = &shop.subject;
    open_routed(&shop);
    char *index = shop_generation(&shop);
    say(s, 200, NULL, "DELETE", index, "/_doc/t5:5?routing=t5", NULL);
    say(s, 201, NULL, "PUT", index, "/_doc/x:999?routing=x", "{\"source_id\":\"x:999\"}");
    say(s, 200, NULL, "POST", index, "/_refresh", NULL);
    rowferry_expect(4, shop.config, "verify", NULL);
    rowferry_expect(0, shop.config, "verify", "--repair", NULL);
    shop_expect_equal_by(&shop, KEY);
    rowferry_expect(0, shop.config, "reindex", NULL);
    shop_expect_equal_by(&shop, KEY);
    free(index);
    shop_close(&shop);
}
END_TEST

/* Another routing column moves every document, so the index is rebuilt. */
START_TEST(another_routing_asks_for_another_index)
{
    struct shop shop;
    open_routed(&shop);
    shop.to = ", \"routing\": \"source_id\"";
    shop_configure(&shop, ",\"tenant\":{\"type\":\"keyword\"}", shards);
    shop_sync(&shop, 1, "rowferry reindex");
    rowferry_expect(0, shop.config, "reindex", NULL);
    shop_expect_equal_by(&shop, KEY);
    sql_exec(shop.conn, "delete from articles where source_id < 50");
    shop_sync_counts(&shop, 0, 49);
    shop_expect_equal_by(&shop, KEY);
    shop_close(&shop);
}
END_TEST

TESTS(routing_tests, NULL, a_row_that_moves_to_another_shard_leaves_no_document_behind,
      what_a_reconcile_finds_is_deleted_where_it_lies, verify_finds_and_repairs_each_where_it_lies,
      another_routing_asks_for_another_index)
