/* SPDX-License-Identifier: Apache-2.0 */
/* Progress of a holder: published, updated, deleted by the next holder, except equal_us. */
#include "rowferry/state/live_progress.h"

#include "rowferry/state/lock.h"
#include "statefile.h"

START_TEST(what_was_told_last_is_seen_until_another_holds)
{
    struct statefile f = statefile_make();
    struct err err = {0};
    struct live_progress seen;
    bool known = true;
    struct state *s = statefile_open(&f, "articles"), *other = statefile_open(&f, "others");
    OK(lock_take(s, "sync", 1, &err));
    OK(live_progress_read(s, &seen, &known, &err));
    ck_assert(!known);
    struct live_progress told = {
        .told_us = 5, .stage = "copying", .share = 0.25, .remaining_ms = 7000};
    OK(live_progress_write(s, &told, &err));
    told.rows = 11, told.equal_us = 77, told.rows_per_second = 12;
    told.in_flight = 3, told.batch_bytes = 65536;
    snprintf(told.growth_stopped, sizeof(told.growth_stopped), "why");
    told.lag_rows = 13;
    told.hold_pid = 4711;
    told.hold_us = 14;
    snprintf(told.hold_who, sizeof(told.hold_who), "process 4711");
    snprintf(told.stall, sizeof(told.stall), "held");
    snprintf(told.stall_why, sizeof(told.stall_why), "a transaction of an hour");
    snprintf(told.stall_hint, sizeof(told.stall_hint), "end it");
    told.stall_us = 15;
    OK(live_progress_write(s, &told, &err));
    OK(live_progress_read(other, &seen, &known, &err));
    ck_assert(!known);
    OK(live_progress_read(s, &seen, &known, &err));
    ck_assert(known);
    ck_assert_int_eq(seen.told_us, 5);
    ck_assert_str_eq(seen.stage, "copying");
    ck_assert_int_eq(seen.rows, 11);
    ck_assert_int_eq(seen.rows_per_second, 12);
    ck_assert(seen.share > 0.2499 && seen.share < 0.2501);
    ck_assert_int_eq(seen.remaining_ms, 7000);
    ck_assert_int_eq(seen.in_flight, 3);
    ck_assert_int_eq(seen.batch_bytes, 65536);
    ck_assert_str_eq(seen.growth_stopped, "why");
    ck_assert_int_eq(seen.equal_us, 77);
    ck_assert_int_eq(seen.lag_rows, 13);
    ck_assert_int_eq(seen.hold_pid, 4711);
    ck_assert_int_eq(seen.hold_us, 14);
    ck_assert_str_eq(seen.hold_who, "process 4711");
    ck_assert_str_eq(seen.stall, "held");
    ck_assert_str_eq(seen.stall_why, "a transaction of an hour");
    ck_assert_str_eq(seen.stall_hint, "end it");
    ck_assert_int_eq(seen.stall_us, 15);
    told.equal_us = 0; /* it must not go back */
    OK(live_progress_write(s, &told, &err));
    state_close(s);
    s = statefile_open(&f, "articles");
    OK(lock_take(s, "sync", 9, &err));
    OK(live_progress_read(s, &seen, &known, &err));
    ck_assert(!known);
    ck_assert_int_eq(seen.equal_us, 77);
    state_close(other);
    state_close(s);
    statefile_remove(&f);
}
END_TEST

START_TEST(each_text_has_a_column_of_its_own)
{
    struct statefile f = statefile_make();
    struct state *s = statefile_open(&f, "articles");
    struct live_progress seen;
    struct err err = {0};
    bool known;
    struct live_progress told = {.stage = LIVE_PROGRESS_STANDING_BY, .holder = "process 7"};
    OK(lock_take(s, "run", 1, &err));
    OK(live_progress_write(s, &told, &err));
    OK(live_progress_read(s, &seen, &known, &err));
    ck_assert_str_eq(seen.holder, "process 7");
    ck_assert_str_eq(seen.growth_stopped, "");
    told = (struct live_progress){.stage = LIVE_PROGRESS_FAILED, .failed_why = "no privilege"};
    OK(live_progress_write(s, &told, &err));
    OK(live_progress_read(s, &seen, &known, &err));
    ck_assert_str_eq(seen.failed_why, "no privilege");
    ck_assert_str_eq(seen.holder, "");
    told = (struct live_progress){.stage = "copying", .growth_stopped = "the disk fills"};
    OK(live_progress_write(s, &told, &err));
    OK(live_progress_read(s, &seen, &known, &err));
    ck_assert_str_eq(seen.growth_stopped, "the disk fills");
    ck_assert_str_eq(seen.failed_why, "");
    state_close(s);
    statefile_remove(&f);
}
END_TEST

START_TEST(why_a_server_is_away_is_seen)
{
    struct statefile f = statefile_make();
    struct err err;
    struct live_progress seen;
    bool known;
    struct state *s = statefile_open(&f, "articles");
    struct live_progress told = {.stage = "following", .away = "the service is unreachable"};
    OK(live_progress_write(s, &told, &err));
    OK(live_progress_read(s, &seen, &known, &err));
    ck_assert_str_eq(seen.away, told.away);
    state_close(s);
    statefile_remove(&f);
}
END_TEST

SUITE_MAIN("state/live_progress", why_a_server_is_away_is_seen,
           what_was_told_last_is_seen_until_another_holds, each_text_has_a_column_of_its_own)
