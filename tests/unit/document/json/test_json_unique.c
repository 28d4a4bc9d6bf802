/* SPDX-License-Identifier: Apache-2.0 */
/* Repeated names: the last value is kept, in one walk. */
#include "json/json_unique.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "rowferry/base/buf.h"
#include "suite.h"

static void expect(const char *json, const char *expected)
{
    struct buf text;
    buf_init(&text, 1 << 26);
    buf_push_text(&text, json);
    size_t len = text.len;
    ck_assert(json_unique(text.data, &len));
    buf_truncate(&text, len);
    ck_assert_str_eq(buf_text(&text), expected);
    buf_release(&text);
}

START_TEST(the_last_of_a_repeated_name_stays)
{
    expect("{}", "{}");
    expect("1", "1");
    expect("\"{\"", "\"{\"");
    expect("[]", "[]");
    expect("{\"a\":1,\"b\":2}", "{\"a\":1,\"b\":2}");
    expect("{\"a\":1,\"a\":2}", "{\"a\":2}");
    expect("{\"a\":1,\"a\":2,\"a\":3}", "{\"a\":3}");
    expect("{\"a\":1,\"b\":2,\"a\":3,\"c\":4}", "{\"b\":2,\"a\":3,\"c\":4}");
    expect("{\"\":1,\"\":[2]}", "{\"\":[2]}");
    expect("{\"a\":\"a\",\"b\":\"a\"}", "{\"a\":\"a\",\"b\":\"a\"}");
    expect("{\"a:\":\"x:\",\"a\":{\"a\":\"\\\"a\\\":\"}}",
           "{\"a:\":\"x:\",\"a\":{\"a\":\"\\\"a\\\":\"}}");
}
END_TEST

START_TEST(each_object_has_its_own_names)
{
    expect("[{\"a\":1},{\"a\":1,\"a\":2},{\"a\":1}]", "[{\"a\":1},{\"a\":2},{\"a\":1}]");
    expect("{\"a\":{\"a\":1,\"a\":2},\"b\":{\"a\":3}}", "{\"a\":{\"a\":2},\"b\":{\"a\":3}}");
    expect("{\"a\":{\"x\":1,\"x\":2},\"a\":{\"y\":1,\"y\":[{\"z\":1,\"z\":2}]},\"c\":3}",
           "{\"a\":{\"y\":[{\"z\":2}]},\"c\":3}");
}
END_TEST

START_TEST(names_are_compared_without_their_escapes)
{
    expect("{\"a\":1,\"\\u0061\":2}", "{\"\\u0061\":2}");
    expect("{\"\\u0061\":1,\"a\":2}", "{\"a\":2}");
    expect("{\"\\n\":1,\"\\u000A\":2,\"n\":3}", "{\"\\u000A\":2,\"n\":3}");
    expect("{\"\xf0\x9f\x90\x98\":1,\"\\ud83d\\udc18\":2}", "{\"\\ud83d\\udc18\":2}");
    expect("{\"\\ud83d\":1,\"\\udc18\":2}", "{\"\\ud83d\":1,\"\\udc18\":2}");
    expect("{\"\\\\u0061\":1,\"a\":2}", "{\"\\\\u0061\":1,\"a\":2}");
}
END_TEST

static void push_members(struct buf *out, int count, int value)
{
    for (int i = 0; i < count; i++) {
        buf_printf(out, "%s\"name%d\":%d", out->len > 1 ? "," : "", i, value);
    }
}

START_TEST(thousands_of_members_are_resolved_in_one_walk)
{
    struct buf twice;
    struct buf once;
    buf_init(&twice, 1 << 26);
    buf_init(&once, 1 << 26);
    buf_push_char(&twice, '{');
    buf_push_char(&once, '{');
    push_members(&twice, 10000, 1);
    push_members(&twice, 10000, 2);
    push_members(&once, 10000, 2);
    buf_push_char(&twice, '}');
    buf_push_char(&once, '}');
    expect(buf_text(&twice), buf_text(&once));
    expect(buf_text(&once), buf_text(&once));
    buf_release(&twice);
    buf_release(&once);
}
END_TEST

static double seconds_of(int members)
{
    struct buf text;
    struct timespec from;
    struct timespec to;
    buf_init(&text, 1 << 28);
    buf_push_char(&text, '{');
    push_members(&text, members, 1);
    buf_push_char(&text, '}');
    size_t len = text.len;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &from);
    ck_assert(json_unique(text.data, &len));
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &to);
    ck_assert_uint_eq(len, text.len);
    buf_release(&text);
    return (double)(to.tv_sec - from.tv_sec) + (double)(to.tv_nsec - from.tv_nsec) / 1e9;
}

/* Comparing each with each would take half a minute, and longer on a slow machine. */
START_TEST(an_object_of_200000_members_takes_no_long_time)
{
    ck_assert_double_lt(seconds_of(200000), 10.0);
}
END_TEST

/* Compares json_unique with a trivial loop on random objects. */
START_TEST(random_objects_keep_the_last_of_each_name)
{
    srand(7);
    for (int round = 0; round < 300; round++) {
        int names[80];
        int count = rand() % 80 + 1;
        struct buf all;
        struct buf last;
        buf_init(&all, 1 << 20);
        buf_init(&last, 1 << 20);
        for (int i = 0; i < count; i++) {
            names[i] = rand() % 40;
            buf_printf(&all, "%c\"%d\":{\"v\":%d}", i > 0 ? ',' : '{', names[i], i);
        }
        for (int i = 0; i < count; i++) {
            bool again = false;
            for (int j = i + 1; j < count; j++) {
                again |= names[j] == names[i];
            }
            if (!again) {
                buf_printf(&last, "%c\"%d\":{\"v\":%d}", last.len > 0 ? ',' : '{', names[i], i);
            }
        }
        buf_push_char(&all, '}');
        buf_push_char(&last, '}');
        expect(buf_text(&all), buf_text(&last));
        buf_release(&all);
        buf_release(&last);
    }
}
END_TEST

SUITE_MAIN("document/json_unique", the_last_of_a_repeated_name_stays, each_object_has_its_own_names,
           names_are_compared_without_their_escapes, thousands_of_members_are_resolved_in_one_walk,
           an_object_of_200000_members_takes_no_long_time,
           random_objects_keep_the_last_of_each_name)
