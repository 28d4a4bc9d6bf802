/* SPDX-License-Identifier: Apache-2.0 */
/* The arithmetic of the capacity review. */
#include "probes/capacity.h"

#include "suite.h"

START_TEST(fields_and_vectors_are_counted_at_any_depth)
{
    struct err err;
    struct mapping m;
    struct sizes s = {.documents = 1000};
    ck_assert_int_eq(
        mapping_parse(
            &m,
            "{\"properties\":{\"title\":{\"type\":\"text\",\"fields\":{\"raw\":{\"type\":"
            "\"keyword\"}}},\"author\":{\"properties\":{\"name\":{\"type\":\"keyword\"}}},"
            "\"v\":{\"type\":\"knn_vector\",\"dimension\":384}}}",
            &err),
        0);
    capacity_take_mapping(&s, &m);
    ck_assert_int_eq(s.fields, 6); /* including source_id */
    ck_assert_int_eq(s.dimensions, 384);
    ck_assert_int_eq(capacity_vector_bytes(&s), (int64_t)(1.1 * (4 * 384 + 128) * 1000));
    mapping_release(&m);
}
END_TEST

START_TEST(an_index_that_is_there_tells_more_than_a_rule_of_thumb)
{
    struct sizes s = {.documents = 2000, .document_bytes = 100, .copies = 2};
    ck_assert_int_eq(capacity_index_bytes(&s), 300000);
    capacity_take_live(&s, 10, 4000000);
    ck_assert_int_eq(capacity_index_bytes(&s),
                     300000); /* ten documents are too few for an estimate */
    capacity_take_live(&s, 2000, 400000);
    ck_assert_int_eq(capacity_index_bytes(&s), 200000);
    ck_assert_int_eq(capacity_index_bytes_of(&s, 20000), 2000000);
    ck_assert_int_eq(capacity_index_bytes_of(&s, INT64_MAX), INT64_C(1) << 52);
}
END_TEST

START_TEST(there_is_a_shard_for_each_30_gib)
{
    struct sizes s = {.documents = 1, .document_bytes = 10, .copies = 1};
    ck_assert_int_eq(capacity_good_shards(&s), 1);
    s.documents = INT64_C(1) << 30;
    s.document_bytes = 100;
    ck_assert_int_eq(capacity_good_shards(&s), 5);
    s.documents = 0;
    ck_assert_int_eq(capacity_good_shards(&s), 1);
}
END_TEST

SUITE_MAIN("cli/capacity", fields_and_vectors_are_counted_at_any_depth,
           an_index_that_is_there_tells_more_than_a_rule_of_thumb, there_is_a_shard_for_each_30_gib)
