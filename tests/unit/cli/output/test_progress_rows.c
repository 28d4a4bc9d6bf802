/* SPDX-License-Identifier: Apache-2.0 */
/* The layout of progress: rows and a size to text. */
#include "output/progress_rows.h"

#include "suite.h"

#define LINES_BYTES 65536

static struct progress_row copying(const char *pipeline, double share, int64_t rows, double rate,
                                   int64_t remaining_ms)
{
    return (struct progress_row){.pipeline = pipeline,
                                 .at_work = true,
                                 .progress = {.pipeline = pipeline,
                                              .stage = "copying",
                                              .share = share,
                                              .rows_per_second = rate,
                                              .remaining_ms = remaining_ms,
                                              .counters.rows_read = rows}};
}

static void expect_rows(const struct progress_row *rows, size_t count, size_t width, size_t height,
                        const char *wanted)
{
    struct buf out;
    buf_init(&out, LINES_BYTES);
    progress_rows_push(&out, rows, count, width, height);
    ck_assert_str_eq(buf_text(&out), wanted);
    buf_release(&out);
}

static void three(struct progress_row rows[3])
{
    rows[0] = copying("articles", 0.455, 63666, 15500.4, 125001);
    rows[1] = copying("orders-of-customers", -1, 1234, 100, -1);
    rows[1].progress.stage = "replaying";
    rows[2] = (struct progress_row){.pipeline = "p3"};
}

START_TEST(one_pipeline_has_one_line_without_a_total)
{
    static char text[] = "validating, queries";
    struct progress_row row = copying("articles", 0.455, 63666, 15500.4, 125001);
    expect_rows(&row, 1, 79, 23, "articles: copying 45 %, 63,666 rows, 15,500/s, 2m 6s left");
    expect_rows(&row, 1, 20, 23, "articles: copying 45");
    row.text = text;
    expect_rows(&row, 1, 79, 1, "articles: validating, queries");
    row.at_work = false;
    expect_rows(&row, 1, 79, 23, "");
}
END_TEST

START_TEST(several_have_a_line_each_and_a_total)
{
    struct progress_row rows[3];
    three(rows);
    expect_rows(
        rows, 3, 99, 23,
        "articles             copying    [#########-----------]  45 %  63,666 rows  15,500/s  "
        "2m 6s left\n"
        "orders-of-customers  replaying                                 1,234 rows     100/s\n"
        "total                0/3 done                                 64,900 rows  15,600/s  "
        "2m 6s left");
}
END_TEST

START_TEST(one_that_is_done_leaves_its_line_and_stays_in_the_total)
{
    static char text[] = "waiting for the holder";
    struct progress_row rows[3];
    three(rows);
    rows[0].at_work = false;
    rows[0].done = true;
    rows[2].at_work = true;
    rows[2].text = text;
    expect_rows(rows, 3, 99, 23,
                "orders-of-customers  replaying   1,234 rows  100/s\n"
                "p3                   waiting for the holder\n"
                "total                1/3 done   64,900 rows  100/s");
    rows[1].at_work = false;
    rows[2].at_work = false;
    expect_rows(rows, 3, 99, 23, "");
}
END_TEST

START_TEST(a_narrow_terminal_loses_columns_and_not_lines)
{
    struct progress_row rows[3];
    three(rows);
    expect_rows(rows, 3, 80, 23,
                "articles             copying    45 %  63,666 rows  15,500/s  2m 6s left\n"
                "orders-of-customers  replaying         1,234 rows     100/s\n"
                "total                0/3 done         64,900 rows  15,600/s  2m 6s left");
    expect_rows(rows, 3, 60, 23,
                "articles             copying    45 %  15,500/s  2m 6s left\n"
                "orders-of-customers  replaying           100/s\n"
                "total                0/3 done         15,600/s  2m 6s left");
    expect_rows(rows, 3, 39, 23,
                "articles             copying    45 %\n"
                "orders-of-customers  replaying\n"
                "total                0/3 done");
    expect_rows(rows, 3, 20, 23,
                "articles    copying\n"
                "orders-of-  replayin\n"
                "total       0/3 done");
}
END_TEST

START_TEST(a_low_terminal_counts_those_without_a_line)
{
    struct progress_row rows[4];
    for (size_t i = 0; i < 4; i++) {
        static const char *const names[] = {"a", "b", "c", "d"};
        rows[i] = copying(names[i], -1, 0, 0, -1);
    }
    expect_rows(rows, 4, 79, 5,
                "a      copying\nb      copying\nc      copying\nd      copying\ntotal  0/4 done");
    expect_rows(rows, 4, 79, 4,
                "a      copying\nb      copying\n       and 2 more at work\ntotal  0/4 done");
    expect_rows(rows, 4, 79, 2, "       and 4 more at work\ntotal  0/4 done");
    expect_rows(rows, 4, 79, 1, "total  0/4 done");
}
END_TEST

START_TEST(no_size_makes_it_larger_than_the_terminal)
{
    static char text[] = "wait\x1b[2J\n\xe2\x80\xae";
    struct progress_row rows[5];
    three(rows);
    rows[2] = copying("a-name-that-is-as-long-as-a-name-can-be-x", 1, INT64_MAX / 4, 1e15,
                      INT64_C(900000000000));
    rows[3] = copying("e", 0, 1, 0.1, 0);
    rows[4] = rows[3];
    rows[4].text = text;
    for (size_t width = 1; width < 130; width++) {
        for (size_t height = 1; height < 8; height++) {
            struct buf out;
            buf_init(&out, LINES_BYTES);
            progress_rows_push(&out, rows, 5, width, height);
            size_t lines = 1;
            size_t at = 0;
            for (const char *c = buf_text(&out); *c != '\0'; c++) {
                lines += *c == '\n';
                at = *c == '\n' ? 0 : at + 1;
                ck_assert_msg(at <= width, "%zu x %zu:\n%s", width, height, buf_text(&out));
                ck_assert(*c == '\n' || *c >= ' ');
            }
            ck_assert_uint_le(lines, height);
            buf_release(&out);
        }
    }
}
END_TEST

SUITE_MAIN("cli/progress_rows", one_pipeline_has_one_line_without_a_total,
           several_have_a_line_each_and_a_total,
           one_that_is_done_leaves_its_line_and_stays_in_the_total,
           a_narrow_terminal_loses_columns_and_not_lines,
           a_low_terminal_counts_those_without_a_line, no_size_makes_it_larger_than_the_terminal)
