/* SPDX-License-Identifier: Apache-2.0 */
/* Growth estimated from an index's size while it is filled. */
#include "rowferry/service/cluster/growth.h"

#include "suite.h"

static enum growth_news look(struct growth *g, int64_t bytes, int64_t documents)
{
    return growth_judge(g, &(struct storage){bytes, -1, -1},
                        &(struct growth_sent){documents, 0, 1000000});
}

/* room: see struct storage. */
static enum growth_news look_at_disk(struct growth *g, int64_t bytes, int64_t room,
                                     int64_t documents, int64_t left)
{
    return growth_judge(g, &(struct storage){bytes, -1, room},
                        &(struct growth_sent){documents, 0, left});
}

static enum growth_news count(struct growth *g, int64_t indexed, int64_t settled)
{
    return growth_judge(g, &(struct storage){0, indexed, -1},
                        &(struct growth_sent){settled, 50, -1});
}

START_TEST(even_growth_is_well)
{
    struct growth g = {0};
    for (int64_t i = 1; i <= 200; i++) {
        ck_assert_int_eq(look(&g, i * 600000 + (i % 3) * 90000, i * 1000), GROWTH_WELL);
    }
    ck_assert(g.bytes_per_document > 550 && g.bytes_per_document < 650);
}
END_TEST

START_TEST(twice_the_median_is_heavy_until_it_is_not)
{
    struct growth g = {0};
    for (int64_t i = 1; i <= 10; i++) {
        ck_assert_int_eq(look(&g, i * 600000, i * 1000), GROWTH_WELL);
    }
    ck_assert_int_eq(look(&g, 14000000, 11000), GROWTH_HEAVY);
    ck_assert_int_eq(look(&g, 7000000, 12000), GROWTH_WELL);
}
END_TEST

START_TEST(what_an_index_holds_already_is_not_counted)
{
    struct growth g = {0};
    for (int64_t i = 0; i <= 10; i++) {
        ck_assert_int_eq(look(&g, 500000000 + i * 600000, i * 1000), GROWTH_WELL);
    }
    ck_assert(g.bytes_per_document == 600);
}
END_TEST

START_TEST(too_little_disk_space_is_seen_before_it_is_full)
{
    struct growth g = {0};
    ck_assert_int_eq(look_at_disk(&g, 0, 100000, 0, 5000), GROWTH_WELL);
    ck_assert_int_eq(look_at_disk(&g, 600000, 3000000, 1000, 4000), GROWTH_WELL);
    ck_assert_int_eq(look_at_disk(&g, 1200000, 1700000, 2000, 3000), GROWTH_FULL);
    ck_assert_int_eq(look_at_disk(&g, 1800000, -1, 3000, 2000), GROWTH_WELL);
    ck_assert_int_eq(look_at_disk(&g, 2400000, 0, 4000, -1), GROWTH_WELL);
}
END_TEST

START_TEST(acknowledged_documents_are_counted)
{
    static const struct {
        int64_t indexed, settled, missing;
    } looks[] = {
        {7100, 100, 0},    /* what was there before, and some that are not settled yet */
        {7949, 1000, 1},   /* 50 may have been counted before they were settled */
        {8949, 2000, 0},   /* the lost one is reported once */
        {9899, 3000, 0},   /* 50 that the last look counted already */
        {500, 4000, 0},    /* a shard moved: its count begins at 0 */
        {1500, 5000, 0},   /* same pace */
        {1501, 6000, 949}, /* lost */
        {-1, 7000, 0},     /* not reported any more */
        {1, 8000, 0},      /* reported again */
    };
    struct growth g = {0};
    for (size_t i = 0; i < sizeof(looks) / sizeof(looks[0]); i++) {
        enum growth_news news = count(&g, looks[i].indexed, looks[i].settled);
        ck_assert_int_eq(g.missing > 0 ? g.missing : 0, looks[i].missing);
        ck_assert_int_eq(news, looks[i].missing > 0 ? GROWTH_FEWER : GROWTH_WELL);
    }
}
END_TEST

START_TEST(the_first_count_is_compared_with_an_empty_index)
{
    struct growth g = {0};
    ck_assert_int_eq(count(&g, 500, 1000), GROWTH_FEWER);
    ck_assert_int_eq(g.missing, 500);
    ck_assert_int_eq(count(&g, 1500, 2000), GROWTH_WELL);
    struct growth unknown = {0};
    ck_assert_int_eq(count(&unknown, -1, 1000), GROWTH_WELL);
    ck_assert_int_eq(count(&unknown, 500, 2000), GROWTH_WELL);
}
END_TEST

START_TEST(a_watermark_is_read_in_all_its_forms)
{
    static const struct {
        const char *text;
        int64_t room;
    } forms[] = {{"85%", 250}, {"0.85", 250}, {"100b", 300}, {"1kb", 0}, {"90.5%", 305},
                 {"half", -1}, {"", -1},      {"-5%", -1},   {"7xb", -1}};
    for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
        int64_t room = storage_room(forms[i].text, 1000, 400);
        ck_assert_msg(llabs(room - forms[i].room) <= (room > 0), "%s: %lld", forms[i].text,
                      (long long)room);
    }
    ck_assert_int_eq(storage_room("2gb", INT64_C(1) << 40, INT64_C(3) << 30), INT64_C(1) << 30);
}
END_TEST

SUITE_MAIN("service/growth", even_growth_is_well, twice_the_median_is_heavy_until_it_is_not,
           what_an_index_holds_already_is_not_counted,
           the_first_count_is_compared_with_an_empty_index, acknowledged_documents_are_counted,
           too_little_disk_space_is_seen_before_it_is_full, a_watermark_is_read_in_all_its_forms)
