/* SPDX-License-Identifier: Apache-2.0 */
/* The result of a sync: lines for people and an object for programs. */
#include "output/result.h"

#include <check.h>
#include <stdio.h>

#include "output/progress_rows.h"
#include "rowferry/base/units.h"
#include "suite.h"

static void expect_text(const struct sync_outcome *o, const char *expected)
{
    struct buf out;
    buf_init(&out, 4096);
    result_push_text(&out, o);
    ck_assert_str_eq(buf_text(&out), expected);
    buf_release(&out);
}

START_TEST(a_first_load_tells_documents_generation_and_rate)
{
    struct sync_outcome o = {.pipeline = "packages", .took_ms = 4130};
    o.result.first_load = true;
    o.result.elapsed_ms = 4107;
    o.result.counters.upserts = 63666;
    snprintf(o.result.generation, sizeof(o.result.generation), "packages-20261121-1");
    expect_text(&o, "packages: 63,666 documents built into packages-20261121-1, 15,500/s, 4.1 s\n");
    o.result.counters.rejected = 2;
    o.result.dead_letters = 2;
    o.exit_code = EXIT_DEAD_LETTERS;
    expect_text(&o, "packages: 63,666 documents built into packages-20261121-1, 2 rejected, "
                    "15,500/s, 4.1 s\n"
                    "packages: 2 dead letters open; see: rowferry deadletter list packages\n");
}
END_TEST

START_TEST(a_later_sync_tells_its_operations)
{
    struct sync_outcome o = {.pipeline = "articles", .took_ms = 1249};
    o.result.counters.upserts = 600;
    o.result.counters.deletes = 1;
    expect_text(&o, "articles: 601 operations (600 upserts, 1 delete), 0 rejected, 1.2 s\n");
    o.result.stopped = true;
    expect_text(&o, "articles: stopped after 601 operations (600 upserts, 1 delete), 0 rejected, "
                    "1.2 s; the next sync continues from there\n");
}
END_TEST

START_TEST(nothing_to_do_and_open_letters_are_both_said)
{
    struct sync_outcome o = {.pipeline = "articles", .took_ms = 31};
    expect_text(&o, "articles: nothing to do, 0.03 s\n");
    o.result.dead_letters = 1;
    expect_text(&o, "articles: nothing to do, 0.03 s\n"
                    "articles: 1 dead letter open; see: rowferry deadletter list articles\n");
}
END_TEST

START_TEST(a_failure_says_how_far_it_came)
{
    struct err err;
    struct sync_outcome o = {.pipeline = "a", .took_ms = 61000, .err = &err};
    o.exit_code = (enum exit_code)err_exit_code(err_set(&err, ERR_TRANSIENT, "gone"));
    expect_text(&o, "a: failed, 1m 1s\n");
    o.result.counters.upserts = 5000;
    expect_text(&o,
                "a: failed after 5,000 operations (5,000 upserts, 0 deletes), 0 rejected, 1m 1s\n");
    o.exit_code = EXIT_HELD;
    expect_text(&o, "a: skipped, another process holds it, 1m 1s\n");
}
END_TEST

START_TEST(the_json_object_has_every_counter_and_quotes_the_error)
{
    struct err err;
    struct buf out;
    struct sync_outcome o = {.pipeline = "a\"b", .took_ms = 1234, .exit_code = EXIT_FAILED};
    err_set(&err, ERR_REJECTED, "no table \"t\"");
    o.err = &err;
    o.result.counters = (struct counters){.upserts = 6, .deletes = 1, .rejected = 2, .bytes = 9};
    buf_init(&out, 4096);
    result_push_json(&out, &o);
    ck_assert_str_eq(
        buf_text(&out),
        "{\"pipeline\":\"a\\\"b\",\"operations\":7,\"upserts\":6,\"present\":0,\"deletes\":1,"
        "\"rejected\":2,\"retried\":0,\"conflicts\":0,\"cleared\":0,\"dead_letters\":0,"
        "\"generation\":null,\"first_load\":false,\"mapping_extended\":null,"
        "\"stopped\":false,\"bytes\":9,"
        "\"seconds\":1.234,\"exit_code\":1,\"error\":\"no table \\\"t\\\"\"}\n");
    buf_release(&out);
}
END_TEST

START_TEST(a_duration_has_as_many_digits_as_it_means)
{
    char text[UNITS_BYTES];
    ck_assert_str_eq(result_duration(text, 4), "0.00 s");
    ck_assert_str_eq(result_duration(text, 94), "0.09 s");
    ck_assert_str_eq(result_duration(text, 95), "0.1 s");
    ck_assert_str_eq(result_duration(text, 59949), "59.9 s");
    ck_assert_str_eq(result_duration(text, 59950), "1m 0s");
}
END_TEST

START_TEST(the_progress_line_leaves_out_what_is_unknown)
{
    struct buf out;
    struct progress p = {.pipeline = "a", .stage = "copying", .share = 0.455};
    p.rows_per_second = 15500.4;
    p.remaining_ms = 125001;
    p.counters.rows_read = 63666;
    buf_init(&out, 4096);
    progress_rows_push_line(&out, &p);
    ck_assert_str_eq(buf_text(&out), "a: copying 45 %, 63,666 rows, 15,500/s, 2m 6s left");
    p.stage = "replaying";
    p.share = -1;
    p.remaining_ms = -1;
    buf_reset(&out);
    progress_rows_push_line(&out, &p);
    ck_assert_str_eq(buf_text(&out), "a: replaying, 63,666 rows, 15,500/s");
    p.counters.rows_read = 0;
    buf_reset(&out);
    progress_rows_push_line(&out, &p);
    ck_assert_str_eq(buf_text(&out), "a: replaying");
    buf_release(&out);
}
END_TEST

SUITE_MAIN("cli/result", a_first_load_tells_documents_generation_and_rate,
           a_later_sync_tells_its_operations, nothing_to_do_and_open_letters_are_both_said,
           a_failure_says_how_far_it_came, the_json_object_has_every_counter_and_quotes_the_error,
           a_duration_has_as_many_digits_as_it_means, the_progress_line_leaves_out_what_is_unknown)
