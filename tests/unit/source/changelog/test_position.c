/* SPDX-License-Identifier: Apache-2.0 */
/* Positions: printed ones are parsed, invalid ones are refused, and they are ordered. */
#include "changelog/position.h"

#include <string.h>

#include "suite.h"

#define RANGES_MOST 64

static const char *const valid[] = {
    "log 10:10:",
    "log 10:14:10,12",
    "log 10:14:10,12 to 18:20:18 after 1 12 77",
    "log 10:14: to 18:20: after 2 18446744073709551615 9223372036854775807",
    "log 10:14:10,12 to 18:20:18 after 2 0 0 of 3",
    "log 10:14:10,12 on 2",
    "log 10:14: to 18:20: after 2 0 0 of 3 on 4294967295 again",
    "copy 16384 0/0 from 10:14:12 on 1",
    "log 10:14: on 2 since 18446744073709551615 in 4294967295",
    "copy keys first from 10:14: on 2 again since 12 in 16384",
    "log 10:14: on 2 since 5 in 6 of 4294967295 at 18446744073709551615",
    "copy keys after . from 10:14: on 2 again",
    "log 10:14: on 0 again since 5 in 6 of 7 at 8",
    "copy 16384 0/0 from 10:14:12",
    "copy 4294967295 1024/122070 from 10:14:12",
    "copy keys nulls from 10:14:",
    "copy keys first from 10:14:",
    "copy keys after eu:42. from 10:14:",
    "copy keys after . from 10:14:",
    "copy keys after a%20b%25%0a\xc3\xa9.. from 10:14:",
    "copy 16384 512-1024 1300-2048 2048/9000 from 10:14:12",
    "copy 16384 7-7 9000/9000 from 10:14:12",
    "copy keys first until m. from 10:14:",
    "copy keys nulls until . and beyond . until a%20b. and after eu:42. from 10:14:",
    "copy keys beyond m. from 10:14:",
};

static const char *const invalid[] = {
    "",
    "log",
    "log ",
    "log 10:9:",
    "log 10:14:9",
    "log 10:14:14",
    "log 10:14:10,",
    "log 10:14:10 ",
    "log 99999999999999999999:14:",
    "log 10:14: to 18:20:",
    "log 10:14: to 18:20: after 3 1 1",
    "log 10:14: to 18:20: after 1 1 9223372036854775808",
    "log 10:14: to 18:20: after 1 1 1 ",
    "log 10:14: to 18:20: after 1 1 1 of 0",
    "log 10:14: to 18:20: after 1 1 1 of x",
    "log 10:14: of 3",
    "copy 4294967296 0/0 from 10:14:",
    "copy 1 0 from 10:14:",
    "copy 1 0/0",
    "copy 1 0/0 from 10:14: x",
    "copy keys after a from 10:14:",
    "copy keys after %2. from 10:14:",
    "copy keys after %00. from 10:14:",
    "copy keys last from 10:14:",
    "copy 1 5-3 0/9 from 10:14:",
    "copy 1 1-3 from 10:14:",
    "copy 1 1-3 5-9/9 from 10:14:",
    "copy keys first until m from 10:14:",
    "copy keys first and from 10:14:",
    "copy keys beyond from 10:14:",
    "copy keys first until m. until n. from 10:14:",
    "log 10:14: on",
    "log 10:14: on 0",
    "log 10:14: on 0 again",
    "log 10:14: on 2 again ",
    "log 10:14: again",
    "log 10:14: on 2 since 0 in 1",
    "log 10:14: on 2 since 5",
    "log 10:14: on 2 since 5 in 0",
    "log 10:14: on 2 since 5 in 4294967296",
    "log 10:14: since 5 in 1",
    "log 10:14: on 2 since 5 in 1 of 0 at 1",
    "log 10:14: on 2 since 5 in 1 of 1",
    "log 10:14: on 2 since 5 in 1 of 1 at 0",
    "log 10:14: on 2 since 5 in 1 of 4294967296 at 1",
    "log 10:14: on 2 of 1 at 1",
    "copy 1 0/0 from 10:14: on x",
    "wal 0/16B3748",
    "log 10",
    "log 10:",
    "log 10:x:",
    "log 10:14",
    "log 10:14:10;12",
    "log 10:14: to",
    "log 10:14: to 18:20",
    "log 10:14: to 18:20: after x 1 1",
    "log 10:14: to 18:20: after 0 1 1",
    "log 10:14: to 18:20: after 1",
    "log 10:14: to 18:20: after 1 x 1",
    "log 10:14: to 18:20: after 1 1",
    "log 10:14: to 18:20: after 1 1 x",
    "log 10:14: from",
    "log 10:14: on 2 since x in 1",
    "log 10:14: on 2 since 5 in x",
    "copy x 0/9 from 10:14:",
    "copy 1/9 from 10:14:",
    "copy 1 x/9 from 10:14:",
    "copy 1 0/x from 10:14:",
    "copy 1 1-x 5/9 from 10:14:",
    "copy 1 1-3 x/9 from 10:14:",
    "copy 1 0/9 to 10:14:",
    "copy 1 0/9 from 10:9:",
    "copy keys after  from 10:14:",
    "copy keys after %zz. from 10:14:",
    "copy keys after %1z. from 10:14:",
    "copy keys first until",
};

static struct position parsed(const char *text)
{
    struct position p = {0};
    struct err err = {0};
    ck_assert_msg(position_parse(&p, text, &err) == 0, "\"%s\": %s", text, err.message);
    return p;
}

START_TEST(every_form_is_printed_as_it_was_parsed)
{
    struct position p = parsed(valid[_i]);
    struct buf text;
    buf_init(&text, 4096);
    position_print(&text, &p);
    ck_assert_str_eq(buf_text(&text), valid[_i]);
    buf_release(&text);
    position_release(&p);
}
END_TEST

START_TEST(what_is_not_a_position_is_refused_and_the_old_one_kept)
{
    struct position p = parsed("log 10:10:");
    struct err err = {0};
    ck_assert_msg(position_parse(&p, invalid[_i], &err) == ERR_STATE, "\"%s\"", invalid[_i]);
    ck_assert_str_eq(p.last, "10:10:");
    ck_assert_uint_gt(strlen(err.hint), 0);
    position_release(&p);
}
END_TEST

START_TEST(a_key_of_any_bytes_survives)
{
    char key[256];
    struct position p = {.kind = POSITION_KEYS, .range = KEY_RANGE_AFTER};
    struct buf text;
    for (int i = 0; i < 255; i++) {
        key[i] = (char)(i + 1);
    }
    key[255] = '\0';
    char last[] = "10:10:";
    p.key = key;
    p.last = last;
    buf_init(&text, 4096);
    position_print(&text, &p);
    struct position back = parsed(buf_text(&text));
    ck_assert_str_eq(back.key, key);
    position_release(&back);
    buf_release(&text);
}
END_TEST

/* Tests the maximum number of ranges, and one more. */
START_TEST(more_ranges_than_connections_are_no_position)
{
    struct err err = {0};
    struct buf text;
    buf_init(&text, 1 << 20);
    for (int more = 0; more < 2; more++) {
        for (int keys = 0; keys < 2; keys++) {
            struct position p = {0};
            buf_reset(&text);
            buf_push_text(&text, keys ? "copy keys first" : "copy 7 ");
            for (int i = 0; i < RANGES_MOST + more; i++) {
                buf_printf(&text, keys ? " and after %d." : "%d-%d ", i, i + 1);
            }
            buf_push_text(&text, keys ? " from 1:1:" : "99999/99999 from 1:1:");
            int rc = position_parse(&p, buf_text(&text), &err);
            ck_assert_int_eq(rc, more ? ERR_STATE : 0);
            position_release(&p);
        }
    }
    buf_release(&text);
}
END_TEST

START_TEST(a_copy_of_a_position_shares_nothing_with_it)
{
    static const char *const texts[] = {
        "log 10:14: to 18:20: after 1 1 1 of 3 on 2",
        "copy keys nulls until . and beyond . until a%20b. and after eu:42. from 10:14:",
        "copy keys after eu:41. until m. from 10:14:",
        "copy 16384 512-1024 1300-2048 2048/9000 from 10:14:12",
    };
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        struct position from = parsed(texts[i]);
        struct position to = parsed("log 1:1:");
        struct buf text;
        buf_init(&text, 4096);
        position_copy(&to, &from);
        position_release(&from);
        position_print(&text, &to);
        ck_assert_str_eq(buf_text(&text), texts[i]);
        buf_release(&text);
        position_copy(&to, &from); /* which is empty now */
        ck_assert_ptr_null(to.last);
        position_release(&to);
    }
}
END_TEST

START_TEST(copies_of_another_table_or_kind_are_not_ahead_of_each_other)
{
    static const char *const texts[][2] = {
        {"copy 5 3/9 from 10:14:", "copy 6 7/9 from 10:14:"},
        {"copy 5 3/9 from 10:14:", "copy keys first from 10:14:"},
        {"copy keys first from 10:14:", "copy keys after 7. from 10:14:"},
        {"copy 5 12/9 from 10:14:", "copy 5 9/9 from 10:14:"},
    };
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        struct position a = parsed(texts[i][0]);
        struct position b = parsed(texts[i][1]);
        ck_assert_int_eq(position_compare(&a, &b), 0);
        ck_assert_int_eq(position_compare(&b, &a), 0);
        position_release(&a);
        position_release(&b);
    }
}
END_TEST

/* A position that was never printed, for example in a modified checkpoint backup. */
START_TEST(a_snapshot_that_is_none_is_neither_before_nor_behind)
{
    char broken[] = "x";
    char good[] = "10:14:";
    struct position a = {.kind = POSITION_LOG, .last = broken};
    struct position b = {.kind = POSITION_LOG, .last = good};
    ck_assert_int_eq(position_compare(&a, &b), 0);
    ck_assert_int_eq(position_compare(&b, &a), 0);
}
END_TEST

START_TEST(a_share_is_of_the_blocks_that_are_read)
{
    static const struct {
        const char *text;
        double share;
    } shares[] = {
        {"copy 5 0/10 from 1:1:", 0},       {"copy 5 4/10 from 1:1:", 0.4},
        {"copy 5 2-4 6/10 from 1:1:", 0.4}, {"copy 5 10/10 from 1:1:", 1},
        {"copy 5 0/0 from 1:1:", 1},        {"copy 5 0-9 9/9 from 1:1:", 0},
    };
    for (size_t i = 0; i < sizeof(shares) / sizeof(shares[0]); i++) {
        struct position p = parsed(shares[i].text);
        ck_assert_double_eq_tol(position_share(&p), shares[i].share, 0.001);
        position_release(&p);
    }
}
END_TEST

START_TEST(positions_are_ordered_as_they_are_reached)
{
    static const char *const order[] = {
        "copy 5 0/9 from 10:14:10,12",
        "copy 5 1-2 2-3 3/9 from 10:14:10,12",
        "copy 5 2-3 3/9 from 10:14:10,12",
        "copy 5 7/9 from 10:14:10,12",
        "copy 5 8-9 9/9 from 10:14:10,12",
        "log 10:14:10,12",
        "log 10:14:10,12 to 20:20: after 1 10 3",
        "log 10:14:10,12 to 20:20: after 1 10 4",
        "log 10:14:10,12 to 20:20: after 1 12 1",
        "log 10:14:10,12 to 20:20: after 2 11 1",
        "log 10:14:10,12 to 20:20: after 1 0 0 of 3",
        "log 10:14:10,12 to 20:20: after 2 1 1 of 3",
        "log 10:14:10,12 to 20:20: after 1 0 0 of 12",
        "log 10:14:10",
        "log 14:14:",
        "log 14:20:14",
    };
    enum { COUNT = sizeof(order) / sizeof(order[0]) };
    for (int i = 0; i < COUNT; i++) {
        for (int j = 0; j < COUNT; j++) {
            struct position a = parsed(order[i]);
            struct position b = parsed(order[j]);
            int sign = position_compare(&a, &b);
            ck_assert_msg((sign > 0) - (sign < 0) == (i > j) - (i < j), "%s, %s", order[i],
                          order[j]);
            position_release(&a);
            position_release(&b);
        }
    }
}
END_TEST

START_TEST(a_snapshot_knows_its_bounds_and_what_runs)
{
    struct snapshot s;
    ck_assert(position_snapshot_parse(&s, "10:20:10,13,19"));
    ck_assert_uint_eq(s.xmin, 10);
    ck_assert_uint_eq(s.xmax, 20);
    ck_assert_uint_eq(s.running, 3);
    ck_assert(!position_snapshot_parse(&s, "10:20"));
    ck_assert(!position_snapshot_parse(&s, "10:20:11 12"));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("source/position");
    TCase *tcase = tcase_create("all");
    tcase_add_loop_test(tcase, every_form_is_printed_as_it_was_parsed, 0,
                        (int)(sizeof(valid) / sizeof(valid[0])));
    tcase_add_loop_test(tcase, what_is_not_a_position_is_refused_and_the_old_one_kept, 0,
                        (int)(sizeof(invalid) / sizeof(invalid[0])));
    tcase_add_test(tcase, a_key_of_any_bytes_survives);
    tcase_add_test(tcase, more_ranges_than_connections_are_no_position);
    tcase_add_test(tcase, a_copy_of_a_position_shares_nothing_with_it);
    tcase_add_test(tcase, copies_of_another_table_or_kind_are_not_ahead_of_each_other);
    tcase_add_test(tcase, a_snapshot_that_is_none_is_neither_before_nor_behind);
    tcase_add_test(tcase, a_share_is_of_the_blocks_that_are_read);
    tcase_add_test(tcase, positions_are_ordered_as_they_are_reached);
    tcase_add_test(tcase, a_snapshot_knows_its_bounds_and_what_runs);
    suite_add_tcase(suite, tcase);
    return suite_end(suite);
}
