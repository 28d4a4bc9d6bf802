/* SPDX-License-Identifier: Apache-2.0 */
/* The life of a dead letter: written, repeated, cleared, gone with its generation. */
#include "rowferry/state/deadletter.h"

#include "statefile.h"

struct seen {
    size_t count;
    size_t stop_after;
    char keys[8][16];
    struct dead_letter last;
    char last_reason[64];
};

static int note(void *context, const struct dead_letter *letter)
{
    struct seen *seen = context;
    snprintf(seen->keys[seen->count], sizeof(seen->keys[0]), "%.*s", (int)letter->key_len,
             letter->key);
    snprintf(seen->last_reason, sizeof(seen->last_reason), "%s", letter->reason);
    seen->last = *letter;
    seen->count++;
    return seen->count == seen->stop_after ? -42 : 0;
}

static void settle(struct state *s, const char *rejected, int64_t version, const char *cleared,
                   const int64_t *cleared_version, int64_t wall_us)
{
    struct err err = {0};
    struct letter letter = {.kind = OPERATION_DELETE, .http_status = 400, .version = version};
    struct span key = {0};
    struct settlement settlement = {.wall_us = wall_us, .cleared_versions = cleared_version};
    char reason[32];
    if (rejected != NULL) {
        snprintf(reason, sizeof(reason), "reason %d", (int)version);
        letter.key = span_of(rejected);
        letter.reason = span_of(reason);
        settlement.letters = &letter;
        settlement.letter_count = 1;
    }
    if (cleared != NULL) {
        key = span_of(cleared);
        settlement.cleared = &key;
        settlement.cleared_count = 1;
    }
    OK(checkpoint_settle(s, &settlement, &err));
}

static struct seen look(struct state *s)
{
    struct err err = {0};
    struct seen seen = {0};
    OK(deadletter_each(s, note, &seen, &err));
    ck_assert_int_eq(statefile_letters(s), (int64_t)seen.count);
    return seen;
}

START_TEST(a_key_rejected_again_keeps_its_first_time_and_shows_the_new_reason)
{
    struct statefile f = statefile_make();
    struct state *s = statefile_open(&f, "articles");
    statefile_begin(s, 1);
    settle(s, "eu:42", 7, NULL, NULL, 100);
    settle(s, "eu:42", 9, NULL, NULL, 200);
    struct seen seen = look(s);
    ck_assert_uint_eq(seen.count, 1);
    ck_assert_str_eq(seen.keys[0], "eu:42");
    ck_assert_int_eq(seen.last.kind, OPERATION_DELETE);
    ck_assert_int_eq(seen.last.http_status, 400);
    ck_assert_int_eq(seen.last.version, 9);
    ck_assert_int_eq(seen.last.first_us, 100);
    ck_assert_int_eq(seen.last.last_us, 200);
    ck_assert_int_eq(seen.last.attempts, 2);
    ck_assert_str_eq(seen.last_reason, "reason 9");
    state_close(s);
    statefile_remove(&f);
}
END_TEST

START_TEST(letters_come_in_the_order_of_their_first_time_then_key)
{
    struct statefile f = statefile_make();
    struct err err = {0};
    struct state *s = statefile_open(&f, "articles");
    statefile_begin(s, 1);
    settle(s, "z", 1, NULL, NULL, 100);
    settle(s, "b", 2, NULL, NULL, 200);
    settle(s, "a", 3, NULL, NULL, 200);
    struct seen seen = look(s);
    ck_assert_uint_eq(seen.count, 3);
    ck_assert_str_eq(seen.keys[0], "z");
    ck_assert_str_eq(seen.keys[1], "a");
    ck_assert_str_eq(seen.keys[2], "b");
    struct seen stopped = {.stop_after = 2};
    ck_assert_int_eq(deadletter_each(s, note, &stopped, &err), -42);
    ck_assert_uint_eq(stopped.count, 2);
    ck_assert_uint_eq(look(s).count, 3);
    state_close(s);
    statefile_remove(&f);
}
END_TEST

START_TEST(a_later_operation_that_is_done_clears_the_letter)
{
    struct statefile f = statefile_make();
    struct state *s = statefile_open(&f, "articles");
    statefile_begin(s, 1);
    settle(s, "a", 1, NULL, NULL, 100);
    settle(s, NULL, 0, "b", NULL, 200);
    ck_assert_int_eq(statefile_letters(s), 1);
    settle(s, NULL, 0, "a", NULL, 300);
    ck_assert_int_eq(statefile_letters(s), 0);
    state_close(s);
    statefile_remove(&f);
}
END_TEST

START_TEST(rejected_and_done_in_one_settlement_the_later_counts)
{
    struct statefile f = statefile_make();
    struct state *s = statefile_open(&f, "articles");
    statefile_begin(s, 1);
    const int64_t older = 4;
    const int64_t newer = 6;
    settle(s, "a", 5, "a", &newer, 100);
    ck_assert_int_eq(statefile_letters(s), 0);
    settle(s, "a", 5, "a", &older, 100);
    ck_assert_int_eq(statefile_letters(s), 1);
    settle(s, "a", 5, "a", NULL, 100);
    ck_assert_int_eq(statefile_letters(s), 0);
    state_close(s);
    statefile_remove(&f);
}
END_TEST

START_TEST(letters_go_with_a_generation_that_never_went_live)
{
    struct statefile f = statefile_make();
    struct err err = {0};
    struct state *s = statefile_open(&f, "articles");
    statefile_begin(s, 1);
    settle(s, "a", 1, NULL, NULL, 100);
    statefile_begin(s, 2);
    ck_assert_int_eq(statefile_letters(s), 0);
    settle(s, "b", 2, NULL, NULL, 200);
    OK(checkpoint_go_live(s, 300, &err));
    ck_assert_int_eq(statefile_letters(s), 1);
    state_close(s);
    statefile_remove(&f);
}
END_TEST

START_TEST(keys_of_any_bytes_come_back_whole)
{
    struct statefile f = statefile_make();
    struct err err = {0};
    struct state *s = statefile_open(&f, "articles");
    statefile_begin(s, 1);
    struct letter letters[] = {
        {.key = span_make("", 0), .reason = span_make(NULL, 0)},
        {.key = span_make("'\"\xc3\xa9\n", 5), .reason = span_make("r", 1)},
    };
    OK(checkpoint_settle(
        s, &(struct settlement){.letters = letters, .letter_count = 2, .wall_us = 1}, &err));
    struct seen seen = look(s);
    ck_assert_uint_eq(seen.count, 2);
    ck_assert_str_eq(seen.keys[0], "");
    ck_assert_str_eq(seen.keys[1], "'\"\xc3\xa9\n");
    state_close(s);
    statefile_remove(&f);
}
END_TEST

SUITE_MAIN("state/deadletter", a_key_rejected_again_keeps_its_first_time_and_shows_the_new_reason,
           letters_come_in_the_order_of_their_first_time_then_key,
           a_later_operation_that_is_done_clears_the_letter,
           rejected_and_done_in_one_settlement_the_later_counts,
           letters_go_with_a_generation_that_never_went_live, keys_of_any_bytes_come_back_whole)
