/* SPDX-License-Identifier: Apache-2.0 */
/* When a stall begins and ends, and its cause. */
#include "rowferry/engine/observe/stall.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "suite.h"

#define SECOND INT64_C(1000000)
#define WALL INT64_C(1700000000000000)

/* Facts of a pipeline with pending changes, at the given second. */
static struct stall_facts at(int64_t seconds)
{
    return (struct stall_facts){
        .now_us = (1000 + seconds) * SECOND, .wall_us = WALL + seconds * SECOND, .waits = true};
}

static void expect(struct stall *s, const struct stall_facts *f, enum stall_news news,
                   enum stall_cause cause)
{
    ck_assert_int_eq(stall_judge(s, f), news);
    ck_assert_str_eq(stall_name(s->cause), stall_name(cause));
}

START_TEST(it_begins_after_half_a_minute_without_movement_and_says_since_when)
{
    struct stall s = {0};
    struct stall_facts f = at(0);
    expect(&s, &f, STALL_SAME, STALL_NONE);
    for (int64_t second = 1; second < 30; second++) {
        f = at(second);
        expect(&s, &f, STALL_SAME, STALL_NONE);
    }
    f = at(30);
    expect(&s, &f, STALL_BEGAN, STALL_UNKNOWN);
    ck_assert_int_eq(s.since_us, WALL);
    for (int64_t second = 31; second < 1000; second++) {
        f = at(second);
        expect(&s, &f, STALL_SAME, STALL_UNKNOWN);
    }
    ck_assert_int_eq(s.since_us, WALL);
    f.moved = 1;
    expect(&s, &f, STALL_ENDED, STALL_NONE);
    expect(&s, &f, STALL_SAME, STALL_NONE);
}
END_TEST

START_TEST(a_rest_without_changes_is_none_and_counts_for_nothing)
{
    struct stall s = {0};
    struct stall_facts f = at(0);
    f.waits = false;
    expect(&s, &f, STALL_SAME, STALL_NONE);
    f = at(86400);
    f.waits = false;
    expect(&s, &f, STALL_SAME, STALL_NONE);
    f = at(86401); /* a change after a day */
    expect(&s, &f, STALL_SAME, STALL_NONE);
    f = at(86431);
    expect(&s, &f, STALL_BEGAN, STALL_UNKNOWN);
    f.waits = false;
    expect(&s, &f, STALL_ENDED, STALL_NONE);
}
END_TEST

START_TEST(what_moves_in_time_is_no_stall)
{
    struct stall s = {0};
    for (int64_t second = 0; second < 600; second += 29) {
        struct stall_facts f = at(second);
        f.moved = 1 + (uint64_t)second;
        expect(&s, &f, STALL_SAME, STALL_NONE);
    }
}
END_TEST

START_TEST(reading_prevents_a_stall_and_ends_none)
{
    struct stall s = {0};
    struct stall_facts f = at(0);
    expect(&s, &f, STALL_SAME, STALL_NONE);
    for (int64_t second = 20; second <= 200; second += 20) {
        f = at(second);
        f.worked = (uint64_t)second;
        expect(&s, &f, STALL_SAME, STALL_NONE);
    }
    f = at(230);
    f.worked = 200;
    expect(&s, &f, STALL_BEGAN, STALL_UNKNOWN);
    f.worked = 201;
    expect(&s, &f, STALL_SAME, STALL_UNKNOWN);
}
END_TEST

START_TEST(a_block_and_an_unreadable_answer_are_a_stall_at_once)
{
    struct stall s = {0};
    struct stall_facts f = at(0);
    expect(&s, &f, STALL_SAME, STALL_NONE);
    f = at(2);
    f.waits = true;
    f.service_away_us = 1;
    f.service_status = 403;
    expect(&s, &f, STALL_SAME, STALL_NONE);
    f.service_lasting = true;
    expect(&s, &f, STALL_BEGAN, STALL_REFUSED);
    f.service_status = 200;
    expect(&s, &f, STALL_CHANGED, STALL_UNREADABLE);
    f.service_away_us = 0;
    f.moved = 1;
    expect(&s, &f, STALL_ENDED, STALL_NONE);
}
END_TEST

START_TEST(the_cause_is_the_nearest_that_is_known)
{
    static const struct {
        struct stall_facts facts;
        enum stall_cause cause;
        const char *why;
    } cases[] = {
        {{.source_away_us = 1, .source_why = "connection refused"},
         STALL_SOURCE,
         "the source is unreachable: connection refused"},
        {{.service_away_us = 1, .service_why = "could not resolve host"},
         STALL_SERVICE,
         "the service is unreachable: could not resolve host"},
        {{.service_away_us = 1, .service_status = 429, .service_why = ""},
         STALL_REFUSED,
         "the service accepts nothing: it answers 429 (too much, or a full disk)"},
        {{.service_away_us = 1, .service_status = 503, .service_why = "b_exception"},
         STALL_REFUSED,
         "the service accepts nothing: it answers 503: b_exception"},
        {{.service_away_us = 1, .service_status = 200, .service_why = "not a bulk answer"},
         STALL_UNREADABLE,
         "an answer of the service cannot be read: not a bulk answer"},
        {{.unanswered_us = 1000 * SECOND},
         STALL_UNANSWERED,
         "the service has not answered for 40 s"},
        {{.silent_us = 1010 * SECOND, .watermark_us = 990 * SECOND, .watermark = "process 12"},
         STALL_SILENT,
         "the source has not answered for 30 s"},
        {{.watermark_us = 990 * SECOND, .watermark = "process 12 (\"psql\", idle in transaction)"},
         STALL_WATERMARK,
         "an old transaction is open in the source: process 12 (\"psql\", idle in transaction)"},
        {{.watermark_us = 1039 * SECOND, .watermark = "process 13"},
         STALL_UNKNOWN,
         "no progress, and neither server gives a reason"},
        {{.source_away_us = 1, .service_away_us = 1, .watermark_us = 1, .source_why = ""},
         STALL_SOURCE,
         "the source is unreachable: no reason given"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct stall s = {0};
        struct stall_facts f = at(0);
        expect(&s, &f, STALL_SAME, STALL_NONE);
        f = cases[i].facts;
        f.now_us = 1040 * SECOND;
        f.wall_us = WALL + 40 * SECOND;
        f.waits = true;
        expect(&s, &f, STALL_BEGAN, cases[i].cause);
        ck_assert_str_eq(s.why, cases[i].why);
    }
}
END_TEST

START_TEST(another_cause_is_news_once_and_the_time_stays)
{
    struct stall s = {0};
    struct stall_facts f = at(0);
    expect(&s, &f, STALL_SAME, STALL_NONE);
    f = at(31);
    f.source_away_us = 1;
    expect(&s, &f, STALL_BEGAN, STALL_SOURCE);
    f = at(50);
    f.service_away_us = 1;
    expect(&s, &f, STALL_CHANGED, STALL_SERVICE);
    expect(&s, &f, STALL_SAME, STALL_SERVICE);
    ck_assert_int_eq(s.since_us, WALL);
}
END_TEST

START_TEST(what_only_a_person_or_a_disk_ends_is_a_stall_at_once)
{
    for (int cause = STALL_STATE_FILE; cause <= STALL_REBUILD; cause++) {
        struct stall s = {0};
        struct stall_facts f = at(0);
        expect(&s, &f, STALL_SAME, STALL_NONE);
        f = at(1);
        f.stopped = (enum stall_cause)cause;
        f.why = "because";
        expect(&s, &f, STALL_BEGAN, (enum stall_cause)cause);
        ck_assert_str_eq(s.why, "because");
        ck_assert_int_eq(s.since_us, WALL + SECOND);
        expect(&s, &f, STALL_SAME, (enum stall_cause)cause);
    }
}
END_TEST

/* Every round settles everything once more, but cannot commit. */
START_TEST(rounds_that_commit_nothing_do_not_end_a_full_disk)
{
    struct stall s = {0};
    int news = 0;
    for (int64_t second = 0; second < 600; second += 2) {
        struct stall_facts f = at(second);
        f.moved = 500;
        news += stall_judge(&s, &f) != STALL_SAME;
        f = at(second + 1);
        f.stopped = STALL_STATE_FILE;
        f.why = "database or disk is full";
        news += stall_judge(&s, &f) != STALL_SAME;
        f = at(second + 1);
        news += stall_judge(&s, &f) != STALL_SAME; /* the next round begins with zero */
    }
    ck_assert_int_eq(news, 1);
    struct stall_facts f = at(601);
    f.firm = 1;
    expect(&s, &f, STALL_ENDED, STALL_NONE);
}
END_TEST

START_TEST(a_freed_disk_does_not_hide_a_source_that_is_away_meanwhile)
{
    struct stall s = {0};
    struct stall_facts f = at(0);
    f.stopped = STALL_STATE_FILE;
    expect(&s, &f, STALL_BEGAN, STALL_STATE_FILE);
    f = at(40);
    f.source_away_us = 1;
    expect(&s, &f, STALL_CHANGED, STALL_SOURCE);
    ck_assert_int_eq(s.since_us, WALL);
}
END_TEST

START_TEST(a_pause_is_no_stall_and_ends_one)
{
    struct stall s = {0};
    struct stall_facts f = at(0);
    expect(&s, &f, STALL_SAME, STALL_NONE);
    f = at(60);
    expect(&s, &f, STALL_BEGAN, STALL_UNKNOWN);
    f = at(61);
    f.paused = true;
    expect(&s, &f, STALL_ENDED, STALL_NONE);
    f = at(600);
    f.paused = true;
    expect(&s, &f, STALL_SAME, STALL_NONE);
}
END_TEST

START_TEST(what_nobody_judged_does_not_count_and_ends_nothing)
{
    struct stall s = {0};
    struct stall_facts f = at(0);
    expect(&s, &f, STALL_SAME, STALL_NONE);
    f = at(600); /* for example after a pause of ten minutes */
    stall_begin(&s, f.now_us);
    expect(&s, &f, STALL_SAME, STALL_NONE);
    f = at(629);
    expect(&s, &f, STALL_SAME, STALL_NONE);
    f = at(630);
    expect(&s, &f, STALL_BEGAN, STALL_UNKNOWN);
    f = at(700);
    stall_begin(&s, f.now_us);
    expect(&s, &f, STALL_SAME, STALL_UNKNOWN);
    ck_assert_int_eq(s.since_us, WALL + 600 * SECOND);
}
END_TEST

START_TEST(a_long_reason_is_cut_where_a_character_ends)
{
    char why[2 * STALL_WHY_BYTES];
    struct stall s = {0};
    struct stall_facts f = at(0);
    for (size_t i = 0; i + 2 < sizeof(why); i += 2) {
        memcpy(why + i, "\xc3\xa9", 3);
    }
    f.stopped = STALL_LOCK;
    f.why = why;
    expect(&s, &f, STALL_BEGAN, STALL_LOCK);
    size_t len = strlen(s.why);
    ck_assert_uint_ge(len, STALL_WHY_BYTES - 4);
    ck_assert_uint_eq(len % 2, 0);
}
END_TEST

START_TEST(every_cause_has_a_name_and_a_remedy)
{
    for (int a = STALL_NONE + 1; a < STALL_COUNT; a++) {
        ck_assert_uint_gt(strlen(stall_name((enum stall_cause)a)), 3);
        ck_assert_uint_lt(strlen(stall_name((enum stall_cause)a)), 24); /* of live_progress.h */
        struct buf remedy;
        buf_init(&remedy, 1024);
        struct live_progress shown = {.told_us = 0};
        snprintf(shown.stall, sizeof(shown.stall), "%s", stall_name((enum stall_cause)a));
        stall_push_remedy(&remedy, &shown, "articles");
        ck_assert_uint_gt(remedy.len, 10);
        const char *command = strstr(buf_text(&remedy), "rowferry ");
        ck_assert(command == NULL || strstr(command, " articles") != NULL);
        buf_release(&remedy);
        for (int b = STALL_NONE; b < a; b++) {
            ck_assert_str_ne(stall_name((enum stall_cause)a), stall_name((enum stall_cause)b));
        }
    }
}
END_TEST

START_TEST(the_hint_of_an_error_is_its_remedy)
{
    struct stall s = {.begun = true};
    struct live_progress shown;
    struct buf remedy;
    buf_init(&remedy, 1024);
    stall_judge(&s, &(struct stall_facts){
                        .stopped = STALL_STOPPED, .why = "no right; grant it", .hint = "grant it"});
    stall_show(&s, &shown);
    stall_push_remedy(&remedy, &shown, "articles");
    ck_assert_str_eq(buf_text(&remedy), "grant it; it is tried again within a minute, and at once "
                                        "with rowferry resume articles");
    stall_judge(&s, &(struct stall_facts){.stopped = STALL_GUARD, .why = "too many"});
    stall_show(&s, &shown);
    ck_assert_str_eq(shown.stall_hint, "");
    buf_release(&remedy);
}
END_TEST

START_TEST(what_is_no_cause_has_no_remedy)
{
    struct buf remedy;
    buf_init(&remedy, 1024);
    stall_push_remedy(&remedy, &(struct live_progress){.stall = ""}, "articles");
    stall_push_remedy(&remedy, &(struct live_progress){.stall = "weather"}, "articles");
    ck_assert_uint_eq(remedy.len, 0);
    buf_release(&remedy);
}
END_TEST

START_TEST(the_log_has_one_line_for_what_is_news)
{
    int ends[2];
    char text[2048];
    struct stall s = {.cause = STALL_REFUSED, .since_us = WALL, .why = "it answers 429"};
    ck_assert_int_eq(pipe(ends), 0);
    int before = dup(STDERR_FILENO);
    dup2(ends[1], STDERR_FILENO);
    stall_log(&s, STALL_BEGAN, "things", WALL + 30 * SECOND);
    stall_log(&s, STALL_SAME, "things", WALL + 31 * SECOND);
    s.cause = STALL_GUARD; /* logged by its own events */
    stall_log(&s, STALL_CHANGED, "things", WALL + 32 * SECOND);
    s.cause = STALL_NONE;
    s.before = STALL_GUARD;
    stall_log(&s, STALL_ENDED, "things", WALL + 33 * SECOND);
    s.before = STALL_REFUSED;
    stall_log(&s, STALL_ENDED, "things", WALL + 33 * SECOND);
    dup2(before, STDERR_FILENO);
    close(ends[1]);
    ssize_t len = read(ends[0], text, sizeof(text) - 1);
    ck_assert_int_gt(len, 0);
    text[len] = '\0';
    const char *second = strchr(text, '\n') + 1;
    ck_assert_ptr_nonnull(strstr(text, "warn event=stalled pipeline=things cause=service_refuses "
                                       "for_ms=30000 why=\"it answers 429\"\n"));
    ck_assert_ptr_nonnull(strstr(second, "event=goes_on pipeline=things stalled_ms=33000\n"));
    ck_assert_str_eq(strchr(second, '\n'), "\n");
}
END_TEST

SUITE_MAIN("engine/stall", it_begins_after_half_a_minute_without_movement_and_says_since_when,
           a_rest_without_changes_is_none_and_counts_for_nothing, what_moves_in_time_is_no_stall,
           reading_prevents_a_stall_and_ends_none, the_cause_is_the_nearest_that_is_known,
           a_block_and_an_unreadable_answer_are_a_stall_at_once,
           another_cause_is_news_once_and_the_time_stays,
           what_only_a_person_or_a_disk_ends_is_a_stall_at_once,
           rounds_that_commit_nothing_do_not_end_a_full_disk,
           a_freed_disk_does_not_hide_a_source_that_is_away_meanwhile,
           a_pause_is_no_stall_and_ends_one, what_nobody_judged_does_not_count_and_ends_nothing,
           a_long_reason_is_cut_where_a_character_ends, every_cause_has_a_name_and_a_remedy,
           the_hint_of_an_error_is_its_remedy, what_is_no_cause_has_no_remedy,
           the_log_has_one_line_for_what_is_news)
