/* SPDX-License-Identifier: Apache-2.0 */
/* The status snapshot: current values, sums over all rounds, and consistent reads. */
#include "rowferry/engine/observe/status_snapshot.h"

#include <pthread.h>

#include "suite.h"

START_TEST(what_took_long_falls_into_the_bucket_of_its_bound)
{
    struct latency l = {0};
    status_snapshot_latency_note(&l, 0, 1);
    status_snapshot_latency_note(&l, latency_bounds_us[0], 2);
    status_snapshot_latency_note(&l, latency_bounds_us[0] + 1, 3);
    status_snapshot_latency_note(&l, latency_bounds_us[LATENCY_BOUNDS - 1] + 1, 4);
    status_snapshot_latency_note(&l, -5, 1); /* a clock that was set back */
    ck_assert_uint_eq(l.counts[0], 4);
    ck_assert_uint_eq(l.counts[1], 3);
    ck_assert_uint_eq(l.counts[LATENCY_BOUNDS], 4);
    ck_assert_int_eq(l.sum_us, 2 * latency_bounds_us[0] + 3 * (latency_bounds_us[0] + 1) +
                                   4 * (latency_bounds_us[LATENCY_BOUNDS - 1] + 1));
    for (size_t i = 1; i < LATENCY_BOUNDS; i++) {
        ck_assert_int_lt(latency_bounds_us[i - 1], latency_bounds_us[i]);
    }
}
END_TEST

START_TEST(counters_grow_over_rounds_and_what_flew_has_landed)
{
    struct status_snapshot *b = status_snapshot_new("articles", "shop-articles");
    struct status_snapshot_view v;
    struct status_snapshot_moment m = {
        .counters = {.upserts = 3}, .flying = 2, .work = {.equal_us = 9}};
    status_snapshot_latency_note(&m.latency, 1, 3);
    status_snapshot_publish(b, &m);
    status_snapshot_round_ended(b);
    status_snapshot_look(b, &v);
    ck_assert_int_eq(v.moment.counters.upserts, 3);
    ck_assert_uint_eq(v.moment.latency.counts[0], 3);
    ck_assert_int_eq(v.moment.flying, 0);
    ck_assert_int_eq(v.moment.work.equal_us, 9);
    m.counters.upserts = 4;
    status_snapshot_publish(b, &m);
    status_snapshot_publish(b, &m);
    status_snapshot_look(b, &v);
    ck_assert_int_eq(v.moment.counters.upserts, 7);
    ck_assert_uint_eq(v.moment.latency.counts[0], 6);
    ck_assert_int_eq(v.moment.flying, 2);
    status_snapshot_free(b);
}
END_TEST

START_TEST(a_stage_has_the_time_of_its_beginning)
{
    static const char following[] = "following";
    struct status_snapshot *b = status_snapshot_new("articles", "shop-articles");
    struct status_snapshot_view v;
    struct err err;
    err_set(&err, ERR_STATE, "drift");
    status_snapshot_enter(b, following, 10);
    status_snapshot_enter(b, following, 20);
    status_snapshot_look(b, &v);
    ck_assert_str_eq(v.name, "articles");
    ck_assert_str_eq(v.alias, "shop-articles");
    ck_assert_str_eq(v.stage, "following");
    ck_assert_int_eq(v.since_us, 10);
    ck_assert(!v.over);
    ck_assert_int_eq(v.moment.dead_letters, -1);
    ck_assert_int_eq(v.moment.work.lag_rows, -1);
    status_snapshot_over(b, EXIT_FAILED, &err);
    status_snapshot_look(b, &v);
    ck_assert(v.over);
    ck_assert_int_eq(v.exit_code, 1);
    ck_assert_str_eq(v.message, "drift");
    status_snapshot_free(b);
}
END_TEST

START_TEST(the_servers_are_named_once_they_are_connected)
{
    struct status_snapshot *b = status_snapshot_new("articles", "shop-articles");
    struct status_snapshot_view v;
    const struct product_info hidden = {.product = PRODUCT_ELASTICSEARCH};
    const struct product_info found = {
        .product = PRODUCT_OPENSEARCH, .version = "2.19.4", .stand_in = true};
    status_snapshot_look(b, &v);
    ck_assert_str_eq(v.source, "");
    ck_assert_str_eq(v.service, "");
    status_snapshot_connected(b, 150018, &hidden);
    status_snapshot_look(b, &v);
    ck_assert_str_eq(v.source, "PostgreSQL 15.18");
    ck_assert_str_eq(v.service, "Elasticsearch");
    status_snapshot_connected(b, 180000, &found);
    status_snapshot_look(b, &v);
    ck_assert_str_eq(v.source, "PostgreSQL 18.0");
    ck_assert_str_eq(v.service, "OpenSearch 2.19.4, devsearch");
    status_snapshot_free(b);
}
END_TEST

static void *publish(void *argument)
{
    for (int64_t i = 1; i <= 20000; i++) {
        struct status_snapshot_moment m = {.counters = {.upserts = i, .deletes = i},
                                           .unsettled = i};
        status_snapshot_publish(argument, &m);
    }
    return NULL;
}

START_TEST(a_look_from_another_thread_is_never_half_old)
{
    struct status_snapshot *b = status_snapshot_new("articles", "shop-articles");
    struct status_snapshot_view v = {0};
    pthread_t writer;
    ck_assert_int_eq(pthread_create(&writer, NULL, publish, b), 0);
    while (v.moment.counters.upserts < 20000) {
        status_snapshot_look(b, &v);
        ck_assert_int_eq(v.moment.counters.upserts, v.moment.counters.deletes);
        ck_assert_int_eq(v.moment.counters.upserts, v.moment.unsettled);
    }
    pthread_join(writer, NULL);
    status_snapshot_free(b);
}
END_TEST

SUITE_MAIN("engine/status_snapshot", what_took_long_falls_into_the_bucket_of_its_bound,
           counters_grow_over_rounds_and_what_flew_has_landed,
           a_stage_has_the_time_of_its_beginning, the_servers_are_named_once_they_are_connected,
           a_look_from_another_thread_is_never_half_old)
