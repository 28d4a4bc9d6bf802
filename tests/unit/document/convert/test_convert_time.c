/* SPDX-License-Identifier: Apache-2.0 */
/* Dates and times as ISO 8601, or refused. */
#include "encoding.h"
#include "suite.h"

static const char no_date[] = "a date that is infinite, BC or after the year 9999";
static const char no_nanos[] = "a date outside 1970-01-01 to 2262-04-11, the range of date_nanos";

START_TEST(times_are_iso_8601_with_six_digits)
{
    expect("timestamptz", "date", "2024-03-10 07:04:56.123456+00",
           "\"2024-03-10T07:04:56.123456Z\"");
    expect("timestamptz", "date", "2024-03-10 07:04:56+00", "\"2024-03-10T07:04:56.000000Z\"");
    expect("timestamptz", "date", "0001-01-01 00:00:00.5+00", "\"0001-01-01T00:00:00.500000Z\"");
    expect("timestamp", "date", "2024-03-10 07:04:56.12", "\"2024-03-10T07:04:56.120000\"");
    expect("date", "date", "9999-12-31", "\"9999-12-31\"");
    expect("date", "date_nanos", "1970-01-01", "\"1970-01-01\"");
    expect("timestamptz", "date_nanos", "2262-04-11 23:47:16.854775+00",
           "\"2262-04-11T23:47:16.854775Z\"");
    expect("timestamptz", "keyword", "0044-03-15 12:00:00+00 BC", "\"0044-03-15 12:00:00+00 BC\"");
    expect("time", "keyword", "24:00:00", "\"24:00:00\"");
    expect("interval", "keyword", "P1Y2M", "\"P1Y2M\"");
    expect_refused("timestamptz", "date", "infinity", no_date);
    expect_refused("timestamptz", "date", "0044-03-15 12:00:00+00 BC", no_date);
    expect_refused("timestamptz", "date", "12024-03-10 07:04:56+00", no_date);
    expect_refused("timestamptz", "date", "2024-03-10 07:04:56+02", no_date);
    expect_refused("timestamptz", "date", "2024-03-10 07:04:56.1234567+00", no_date);
    expect_refused("timestamp", "date", "-infinity", no_date);
    expect_refused("timestamp", "date", "0044-03-15 12:00:00 BC", no_date);
    expect_refused("date", "date", "0044-03-15 BC", no_date);
    expect_refused("date", "date", "12024-01-01", no_date);
    expect_refused("date", "date", "-infinity", no_date);
    expect_refused("date", "date_nanos", "1969-12-31", no_nanos);
    expect_refused("date", "date_nanos", "2262-04-12", no_nanos);
    expect_refused("timestamptz", "date_nanos", "2262-04-11 23:47:16.9+00", no_nanos);
    expect_refused("timestamp", "date_nanos", "1969-12-31 23:59:59", no_nanos);
}
END_TEST

SUITE_MAIN("document/convert_time", times_are_iso_8601_with_six_digits)
