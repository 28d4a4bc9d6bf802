/* SPDX-License-Identifier: Apache-2.0 */
/* Durations, sizes and counts: parsing and formatting. */
#include "rowferry/base/units.h"

#include "suite.h"

START_TEST(durations_need_a_whole_number_and_a_unit)
{
    static const struct {
        const char *text;
        int64_t ms;
    } good[] = {
        {"20ms", 20},      {"1s", 1000}, {"2m", 120000}, {"1h", 3600000},
        {"7d", 604800000}, {"0s", 0},    {"007ms", 7},   {"9223372036854775807ms", INT64_MAX},
    };
    int64_t ms;
    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
        ck_assert_msg(units_parse_duration(good[i].text, &ms), "%s", good[i].text);
        ck_assert_int_eq(ms, good[i].ms);
    }
    static const char *const bad[] = {"",     "20",  "ms",   " 20ms", "20 ms", "20ms ",
                                      "-1s",  "+1s", "1.5s", "1S",    "1MS",   "1w",
                                      "0x1s", "1sm", "1µs",  "1h30m", "1s\n"};
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        ck_assert_msg(!units_parse_duration(bad[i], &ms), "%s", bad[i]);
    }
}
END_TEST

START_TEST(a_number_that_overflows_is_refused_before_or_with_its_unit)
{
    int64_t value;
    ck_assert(!units_parse_duration("9223372036854775808ms", &value));
    ck_assert(!units_parse_duration("99999999999999999999999999ms", &value));
    ck_assert(!units_parse_duration("9223372036854775807s", &value));
    ck_assert(!units_parse_duration("106751991168d", &value));
    ck_assert(units_parse_duration("106751991167d", &value));
    ck_assert(!units_parse_size("8589934592GiB", &value));
    ck_assert(units_parse_size("8589934591GiB", &value));
}
END_TEST

START_TEST(counts_are_whole_numbers_without_a_unit)
{
    static const char *const bad[] = {"", "-1", "+1", " 1", "1 ", "1s", "9223372036854775808"};
    int64_t count;
    ck_assert(units_parse_count("9223372036854775807", &count));
    ck_assert_int_eq(count, INT64_MAX);
    ck_assert(units_parse_count("0", &count));
    ck_assert_int_eq(count, 0);
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        ck_assert_msg(!units_parse_count(bad[i], &count), "%s", bad[i]);
    }
}
END_TEST

START_TEST(sizes_need_a_binary_unit)
{
    int64_t bytes;
    ck_assert(units_parse_size("512B", &bytes));
    ck_assert_int_eq(bytes, 512);
    ck_assert(units_parse_size("3KiB", &bytes));
    ck_assert_int_eq(bytes, 3072);
    ck_assert(units_parse_size("5MiB", &bytes));
    ck_assert_int_eq(bytes, 5 * 1048576);
    ck_assert(units_parse_size("2GiB", &bytes));
    ck_assert_int_eq(bytes, 2147483648);
    static const char *const bad[] = {"", "5", "5MB", "5M", "5mib", "5 MiB", "-5MiB", "5TiB", "B"};
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        ck_assert_msg(!units_parse_size(bad[i], &bytes), "%s", bad[i]);
    }
}
END_TEST

START_TEST(sizes_are_written_short)
{
    static const struct {
        int64_t bytes;
        const char *text;
    } rows[] = {
        {0, "0 B"},           {1023, "1023 B"},    {1024, "1.0 KiB"},      {1572864, "1.5 MiB"},
        {1048575, "1.0 MiB"}, {-1536, "-1.5 KiB"}, {INT64_MAX, "8.0 EiB"}, {INT64_MIN, "-8.0 EiB"},
    };
    char out[UNITS_BYTES];
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        ck_assert_str_eq(units_size(out, rows[i].bytes), rows[i].text);
    }
}
END_TEST

START_TEST(durations_are_written_in_two_units_at_most)
{
    static const struct {
        int64_t ms;
        const char *text;
    } rows[] = {
        {0, "0ms"},
        {999, "999ms"},
        {1500, "1.5s"},
        {9999, "9.9s"},
        {59999, "59s"},
        {125000, "2m 5s"},
        {3600000, "1h 0m"},
        {86399999, "23h 59m"},
        {90000000, "1d 1h"},
        {-2500, "-2.5s"},
        {INT64_MIN, "-106751991167d 7h"},
    };
    char out[UNITS_BYTES];
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        ck_assert_str_eq(units_duration(out, rows[i].ms), rows[i].text);
    }
}
END_TEST

START_TEST(counts_are_written_in_groups_of_three)
{
    static const struct {
        int64_t n;
        const char *text;
    } rows[] = {
        {0, "0"},
        {999, "999"},
        {1000, "1,000"},
        {63666, "63,666"},
        {-999, "-999"},
        {-1234567, "-1,234,567"},
        {INT64_MIN, "-9,223,372,036,854,775,808"},
    };
    char out[UNITS_BYTES];
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        ck_assert_str_eq(units_count(out, rows[i].n), rows[i].text);
    }
}
END_TEST

SUITE_MAIN("base/units", counts_are_whole_numbers_without_a_unit,
           durations_need_a_whole_number_and_a_unit,
           a_number_that_overflows_is_refused_before_or_with_its_unit, sizes_need_a_binary_unit,
           sizes_are_written_short, durations_are_written_in_two_units_at_most,
           counts_are_written_in_groups_of_three)
