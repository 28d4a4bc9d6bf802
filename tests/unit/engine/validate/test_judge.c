/* SPDX-License-Identifier: Apache-2.0 */
/* Judging ranks, orders, neighbours, sizes. */
#include "validate/judge.h"

#include <math.h>
#include <string.h>

#include "suite.h"

static bool near(double a, double b)
{
    return fabs(a - b) < 1e-9;
}

START_TEST(a_rank_is_the_place_of_the_expected_document)
{
    static const size_t hits[] = {JUDGE_STRANGER, 4, 9, 2};
    ck_assert_uint_eq(judge_rank(hits, 4, 9), 3);
    ck_assert_uint_eq(judge_rank(hits, 4, 2), 4);
    ck_assert_uint_eq(judge_rank(hits, 2, 9), 0);
}
END_TEST

START_TEST(the_mean_reciprocal_rank_counts_what_is_not_found)
{
    struct relevance r = {0};
    ck_assert(near(judge_relevance_mrr(&r), 0));
    judge_relevance_add(&r, 1);
    judge_relevance_add(&r, 4);
    judge_relevance_add(&r, 0);
    judge_relevance_add(&r, 90);
    ck_assert_uint_eq(r.asked, 4);
    ck_assert_uint_eq(r.found, 3);
    ck_assert(near(judge_relevance_mrr(&r), (1 + 0.25 + 1.0 / 90) / 4));
    ck_assert_uint_eq(r.at[0], 1);
    ck_assert_uint_eq(r.at[3], 1);
    ck_assert_uint_eq(r.at[RELEVANCE_RANKS - 1], 1);
}
END_TEST

START_TEST(ndcg_is_the_gain_of_the_hits_over_that_of_the_best_order)
{
    int64_t all[] = {0, 1, 3};
    double best = 7 + 1 / log2(3);
    ck_assert(near(judge_ndcg((const int64_t[]){3, 1, 0}, 3, all, 3, 10), 1));
    ck_assert(near(judge_ndcg((const int64_t[]){0, 3, 1}, 3, all, 3, 10),
                   (7 / log2(3) + 1 / log2(4)) / best));
    ck_assert(near(judge_ndcg((const int64_t[]){0, 3, 1}, 3, all, 3, 1), 0));
    ck_assert(near(judge_ndcg(NULL, 0, all, 3, 10), 0));
    ck_assert(near(judge_ndcg((const int64_t[]){0}, 1, (int64_t[]){0}, 1, 10), 0));
}
END_TEST

START_TEST(lists_of_hits_differ_by_their_documents_and_their_order)
{
    static const size_t a[] = {1, 2, 3};
    size_t place;
    ck_assert_uint_eq(judge_differ(a, 3, a, 3, &place), 0);
    ck_assert_uint_eq(place, 0);
    ck_assert_uint_eq(judge_differ(a, 3, (const size_t[]){1, 3, 2}, 3, &place), 0);
    ck_assert_uint_eq(place, 2);
    ck_assert_uint_eq(judge_differ(a, 1, (const size_t[]){1, 3, 2}, 3, &place), 2);
    ck_assert_uint_eq(place, 2);
    ck_assert_uint_eq(judge_differ(a, 3, NULL, 0, &place), 3);
    ck_assert_uint_eq(place, 1);
}
END_TEST

START_TEST(an_order_has_no_value_last_and_ties_anywhere)
{
    static const int64_t rising[] = {1, 1, 3, 7, 0, 0};
    static const int64_t falling[] = {7, 3, 3, 1, 0};
    static const int64_t holes[] = {1, 0, 2};
    ck_assert_uint_eq(judge_order(rising, 6, false), 6);
    ck_assert_uint_eq(judge_order(rising, 6, true), 2);
    ck_assert_uint_eq(judge_order(falling, 5, true), 5);
    ck_assert_uint_eq(judge_order(falling, 5, false), 1);
    ck_assert_uint_eq(judge_order(holes, 3, false), 2);
    ck_assert_uint_eq(judge_order(holes, 0, false), 0);
}
END_TEST

START_TEST(vectors_are_read_in_both_forms)
{
    float v[3];
    ck_assert_uint_eq(judge_vector("[1,2.5,-3]", v, 3), 3);
    ck_assert(near((double)v[1], 2.5));
    ck_assert_uint_eq(judge_vector("{1,2,3,4}", v, 3), 4);
    ck_assert_uint_eq(judge_vector("[1, 2 , 3]", v, 3), 3);
    static const char *const none[] = {"",    "1,2",   "[",      "[1", "[1,]",
                                       "[a]", "[nan]", "{NULL}", "[]"};
    for (size_t i = 0; i < sizeof(none) / sizeof(none[0]); i++) {
        ck_assert_msg(judge_vector(none[i], v, 3) == 0, "%s", none[i]);
    }
}
END_TEST

START_TEST(distances_are_as_the_products_mean_them)
{
    static const float a[] = {1, 0};
    static const float b[] = {0, 2};
    ck_assert_int_eq(judge_metric("l2_norm", METRIC_COSINE), METRIC_L2);
    ck_assert_int_eq(judge_metric("cosinesimil", METRIC_L2), METRIC_COSINE);
    ck_assert_int_eq(judge_metric(NULL, METRIC_COSINE), METRIC_COSINE);
    ck_assert_int_eq(judge_metric("hamming", METRIC_L2), METRIC_NONE);
    ck_assert(near(judge_distance(METRIC_L2, a, b, 2), 5));
    ck_assert(near(judge_distance(METRIC_L1, a, b, 2), 3));
    ck_assert(near(judge_distance(METRIC_LINF, a, b, 2), 2));
    ck_assert(near(judge_distance(METRIC_COSINE, a, b, 2), 1));
    ck_assert(near(judge_distance(METRIC_COSINE, b, b, 2), 0));
    ck_assert(near(judge_distance(METRIC_DOT, b, b, 2), -4));
}
END_TEST

START_TEST(recall_is_the_share_of_the_nearest_and_ties_count)
{
    double all[] = {9, 1, 2, 2, 5, 0};
    ck_assert(near(judge_recall(all, 6, (const double[]){0, 1, 2}, 3, 3), 1));
    ck_assert(near(judge_recall(all, 6, (const double[]){0, 5, 9}, 3, 3), 1.0 / 3));
    ck_assert(near(judge_recall(all, 6, (const double[]){0, 1}, 2, 4), 0.5));
    ck_assert(near(judge_recall(all, 2, (const double[]){0, 1}, 2, 10), 1));
    ck_assert(near(judge_recall(all, 0, NULL, 0, 10), 0));
}
END_TEST

START_TEST(words_are_letters_digits_and_non_ascii_characters)
{
    static const char text[] = "a Blue-bicycle, f\xc3\xbcr 42 x100!";
    static const char *const words[] = {"Blue", "bicycle", "f\xc3\xbcr", "x100"};
    struct span word;
    size_t at = 0;
    for (size_t i = 0; i < 4; i++) {
        ck_assert(judge_word(text, &at, &word));
        ck_assert_msg(span_is(word, words[i]), "%.*s", (int)word.len, word.data);
    }
    ck_assert(!judge_word(text, &at, &word));
}
END_TEST

START_TEST(a_part_of_a_joined_word_is_no_word)
{
    static const char text[] = "Don't visit www.example.com, 1,234.5 or snake_case_ _here; end.";
    static const char *const words[] = {"visit", "end"};
    struct span word;
    size_t at = 0;
    for (size_t i = 0; i < 2; i++) {
        ck_assert(judge_word(text, &at, &word));
        ck_assert_msg(span_is(word, words[i]), "%.*s", (int)word.len, word.data);
    }
    ck_assert(!judge_word(text, &at, &word));
}
END_TEST

START_TEST(the_size_of_all_rows_is_extrapolated_from_the_average)
{
    ck_assert_int_eq(judge_whole(500, 10, 1000000), 50000000);
    ck_assert_int_eq(judge_whole(1, 3, 9), 3);
    ck_assert_int_eq(judge_whole(0, 10, 1000000), 0);
    ck_assert_int_eq(judge_whole(500, 0, 1000000), 0);
    ck_assert_int_eq(judge_whole(500, 10, -1), 0);
}
END_TEST

SUITE_MAIN("engine/judge", a_rank_is_the_place_of_the_expected_document,
           the_mean_reciprocal_rank_counts_what_is_not_found,
           ndcg_is_the_gain_of_the_hits_over_that_of_the_best_order,
           lists_of_hits_differ_by_their_documents_and_their_order,
           an_order_has_no_value_last_and_ties_anywhere, vectors_are_read_in_both_forms,
           distances_are_as_the_products_mean_them,
           recall_is_the_share_of_the_nearest_and_ties_count,
           words_are_letters_digits_and_non_ascii_characters, a_part_of_a_joined_word_is_no_word,
           the_size_of_all_rows_is_extrapolated_from_the_average)
