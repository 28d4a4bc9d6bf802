/* SPDX-License-Identifier: Apache-2.0 */
/* Grouping of reasons, and when there are too many rejections. */
#include "guard/reject_stats.h"

#include <stdio.h>
#include <string.h>

#include "suite.h"

static struct span text(const char *s)
{
    return span_make(s, strlen(s));
}

static struct new_letter refused(const char *type, const char *reason)
{
    return (struct new_letter){
        .error_type = text(type), .reason = text(reason), .http_status = type[0] ? 400 : 0};
}

static void feed(struct reject_stats *r, int64_t done, int64_t rejected)
{
    struct new_letter letter =
        refused("mapper_parsing_exception", "failed to parse field [n] of type");
    for (int64_t i = 0; i < done; i++) {
        reject_stats_done(r);
    }
    for (int64_t i = 0; i < rejected; i++) {
        reject_stats_add(r, &letter);
    }
}

START_TEST(only_more_than_a_hundred_and_a_twentieth_is_too_many)
{
    static const struct {
        int64_t done, rejected;
        bool doubt, trips, trips_at_end;
    } rows[] = {
        {0, 100, false, false, false},    {0, 101, true, false, true},
        {1899, 101, true, false, true},   {1919, 101, true, false, false},
        {4500, 500, true, false, true},   {4500, 501, true, true, true},
        {9500, 500, false, false, false}, {9499, 501, true, true, true},
        {9800, 199, true, false, false},  {0, 0, false, false, false},
        {3, 1, false, false, false},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct reject_stats r;
        reject_stats_init(&r, "", "");
        feed(&r, rows[i].done, rows[i].rejected);
        ck_assert_msg(reject_stats_doubt(&r) == rows[i].doubt, "row %zu", i);
        ck_assert_msg((reject_stats_trips(&r, false) != NULL) == rows[i].trips, "row %zu", i);
        ck_assert_msg((reject_stats_trips(&r, true) != NULL) == rows[i].trips_at_end, "row %zu", i);
    }
}
END_TEST

START_TEST(two_hundred_odd_rows_that_lie_together_stop_no_large_table)
{
    struct reject_stats r;
    reject_stats_init(&r, "", "");
    for (int64_t at = 0; at < 1000000; at += 10000) {
        feed(&r, at == 500000 ? 9800 : 10000, at == 500000 ? 200 : 0);
        ck_assert(reject_stats_trips(&r, false) == NULL);
    }
    ck_assert(reject_stats_trips(&r, true) == NULL);
    reject_stats_begin(&r);
    for (int i = 0; i < 200; i++) { /* the first operations */
        feed(&r, 0, 1);
        ck_assert(reject_stats_trips(&r, false) == NULL);
    }
    ck_assert(reject_stats_doubt(&r));
    feed(&r, 9800, 0);
    ck_assert(!reject_stats_doubt(&r));
}
END_TEST

START_TEST(a_wrong_mapping_is_noticed_late_in_a_large_table_too)
{
    struct reject_stats r;
    int64_t rejected = 0;
    reject_stats_init(&r, "", "");
    feed(&r, 1000000, 0);
    for (; reject_stats_trips(&r, false) == NULL && rejected < 2000; rejected++) {
        feed(&r, 0, 1);
    }
    ck_assert_int_eq(rejected, 501);
}
END_TEST

START_TEST(a_reason_is_the_type_and_the_field)
{
    static const struct {
        const char *type, *reason, *name;
    } rows[] = {
        {"mapper_parsing_exception",
         "failed to parse field [price] of type [long] in document with id '3'. Preview of "
         "field's value: 'dear'",
         "mapper_parsing_exception of field \"price\""},
        {"document_parsing_exception", "[1:15] failed to parse field [a.b] of type [date]",
         "document_parsing_exception of field \"a.b\""},
        {"document_parsing_exception",
         "object mapping for [extra] tried to parse field [null] as object",
         "document_parsing_exception of field \"extra\""},
        {"strict_dynamic_mapping_exception",
         "mapping set to strict, dynamic introduction of [x] within [_doc] is not allowed",
         "strict_dynamic_mapping_exception of field \"x\""},
        {"illegal_argument_exception", "Document contains at least one immense term in field=\"t\"",
         "illegal_argument_exception of field \"t\""},
        {"some_exception", "no field is named", "some_exception"},
        {"", "column \"price\": cannot be a long: dear", "column \"price\""},
        {"", "the key is longer than 512 bytes: kkkk", "the key is longer than 512 bytes"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct reject_stats r;
        reject_stats_init(&r, "", "");
        struct new_letter letter = refused(rows[i].type, rows[i].reason);
        for (int n = 0; n < 101; n++) {
            reject_stats_add(&r, &letter);
        }
        ck_assert_str_eq(reject_stats_trips(&r, true)->name, rows[i].name);
    }
}
END_TEST

START_TEST(two_reasons_are_counted_apart)
{
    struct reject_stats r;
    reject_stats_init(&r, "", "");
    struct new_letter a = refused("t", "failed to parse field [a]");
    struct new_letter b = refused("t", "failed to parse field [b]");
    for (int i = 0; i < 100; i++) {
        reject_stats_add(&r, &a);
        reject_stats_add(&r, &b);
    }
    ck_assert(reject_stats_trips(&r, true) == NULL);
    reject_stats_add(&r, &b);
    ck_assert_str_eq(reject_stats_trips(&r, true)->name, "t of field \"b\"");
    ck_assert_int_eq(reject_stats_trips(&r, true)->count, 101);
}
END_TEST

START_TEST(rare_reasons_do_not_hide_the_frequent_one)
{
    struct reject_stats r;
    char reason[64];
    reject_stats_init(&r, "", "");
    struct new_letter often = refused("t", "failed to parse field [often]");
    for (int i = 0; i < 1000; i++) {
        snprintf(reason, sizeof(reason), "failed to parse field [f%d]", i);
        struct new_letter rare = refused("t", reason);
        reject_stats_add(&r, &rare);
        reject_stats_add(&r, &often);
    }
    ck_assert_str_eq(reject_stats_trips(&r, true)->name, "t of field \"often\"");
}
END_TEST

START_TEST(what_a_person_permitted_is_not_too_many)
{
    struct reject_stats r;
    const char *named = "mapper_parsing_exception of field \"n\"";
    reject_stats_init(&r, named, named);
    feed(&r, 0, 5000);
    ck_assert(!reject_stats_doubt(&r) && reject_stats_trips(&r, true) == NULL);
    struct new_letter other = refused("mapper_parsing_exception", "failed to parse field [m]");
    for (int i = 0; i < 501; i++) {
        reject_stats_add(&r, &other);
    }
    ck_assert_str_eq(reject_stats_trips(&r, false)->name,
                     "mapper_parsing_exception of field \"m\"");
}
END_TEST

START_TEST(another_attempt_leaves_no_further_letters_before_it_is_judged)
{
    struct reject_stats r;
    reject_stats_init(&r, "", "mapper_parsing_exception of field \"n\"");
    feed(&r, 50, 0);
    ck_assert(!reject_stats_doubt(&r));
    feed(&r, 50, 1);
    ck_assert(reject_stats_doubt(&r) && reject_stats_trips(&r, true) == NULL);
    reject_stats_begin(&r);
    feed(&r, 0, 100);
    ck_assert(!reject_stats_doubt(&r));
    reject_stats_init(&r, "", "mapper_parsing_exception of field \"n\"");
    feed(&r, 0, 1);
    feed(&r, 9999, 0); /* long enough for a decision */
    ck_assert(!reject_stats_doubt(&r));
}
END_TEST

SUITE_MAIN("engine/reject_stats", only_more_than_a_hundred_and_a_twentieth_is_too_many,
           two_hundred_odd_rows_that_lie_together_stop_no_large_table,
           a_wrong_mapping_is_noticed_late_in_a_large_table_too, a_reason_is_the_type_and_the_field,
           two_reasons_are_counted_apart, rare_reasons_do_not_hide_the_frequent_one,
           what_a_person_permitted_is_not_too_many,
           another_attempt_leaves_no_further_letters_before_it_is_judged)
