/* SPDX-License-Identifier: Apache-2.0 */
/* A float4[] column as a vector that a search finds. */
#include <string.h>

#include "shop.h"
#include "sql.h"

#define KNN_VECTOR                                                                                 \
    ",\"v\":{\"type\":\"knn_vector\",\"dimension\":3,\"method\":{\"name\":\"hnsw\",\"engine\":"    \
    "\"lucene\",\"space_type\":\"l2\"}}"
#define DENSE_VECTOR ",\"v\":{\"type\":\"dense_vector\",\"dims\":3,\"similarity\":\"l2_norm\"}"

/* Gives every row its own direction; only number 7 is close to (0.5, -2.25, 7). */
static void fill(struct shop *shop)
{
    sql_exec(shop->conn,
             "update articles set v = array[source_id * 10, 1, source_id * -3]::float4[] "
             "where source_id <> 30");
    sql_exec(shop->conn, "update articles set v = '{0.5,-2.25,7}' where source_id = 7");
}

static bool elastic(const struct shop *shop)
{
    return shop->subject.product.product == PRODUCT_ELASTICSEARCH;
}

bool shop_has_vectors(struct shop *shop)
{
    if (elastic(shop) || shop->subject.product.stand_in) {
        return true;
    }
    char *plugins = told(&shop->subject, 200, "GET", "_cat/plugins", "", NULL);
    bool found = strstr(plugins, "KNN") != NULL || strstr(plugins, "knn") != NULL;
    free(plugins);
    return found;
}

/* Elasticsearch 9.2 and later omits vectors from _source by default. */
const char *shop_vector_settings(const struct shop *shop, bool possible)
{
    if (!elastic(shop)) {
        return possible ? "\"index.knn\":true" : NULL;
    }
    return shop->subject.product.major >= 9 ? "\"index.mapping.exclude_source_vectors\":false"
                                            : NULL;
}

static void expect_nearest(struct shop *shop)
{
    const char *query =
        elastic(shop) ? "{\"_source\":false,\"knn\":{\"field\":\"v\",\"query_vector\":[0.4,-2,7],"
                        "\"k\":1,\"num_candidates\":50}}"
                      : "{\"_source\":false,\"size\":1,\"query\":{\"knn\":{\"v\":{\"vector\":"
                        "[0.4,-2,7],\"k\":1}}}}";
    say(&shop->subject, 200, "\"_id\":\"7\"", "POST", shop->subject.alias, "/_search", query);
}

START_TEST(a_vector_is_found_by_its_neighbour)
{
    struct shop shop;
    struct subject *s = &shop.subject;
    subject_enter(s);
    bool knn = !elastic(&shop);
    bool possible = shop_has_vectors(&shop);
    subject_leave(s);
    shop_open(&shop, 30, knn ? KNN_VECTOR : DENSE_VECTOR, shop_vector_settings(&shop, possible));
    fill(&shop);
    if (possible) {
        shop_sync_counts(&shop, 30, 0);
        shop_expect_equal(&shop);
        expect_nearest(&shop);
    } else {
        shop_sync(&shop, 1, "No handler for type [knn_vector] declared on field [v]");
    }
    shop_close(&shop);
}
END_TEST

START_TEST(a_vector_of_another_length_is_a_dead_letter)
{
    struct shop shop;
    struct subject *s = &shop.subject;
    subject_enter(s);
    bool knn = !elastic(&shop);
    bool possible = shop_has_vectors(&shop);
    subject_leave(s);
    if (!possible) {
        return;
    }
    shop_open(&shop, 30, knn ? KNN_VECTOR : DENSE_VECTOR, shop_vector_settings(&shop, true));
    fill(&shop);
    sql_exec(shop.conn, "update articles set v = '{1,2}' where source_id = 9");
    shop_sync(&shop, 3, NULL);
    sql_exec(shop.conn, "update articles set v = '{1,2,3}' where source_id = 9");
    shop_sync(&shop, 0, NULL);
    shop_expect_equal(&shop);
    shop_close(&shop);
}
END_TEST

TESTS(vector_tests, NULL, a_vector_is_found_by_its_neighbour,
      a_vector_of_another_length_is_a_dead_letter)
