/* SPDX-License-Identifier: Apache-2.0 */
/* The snapshot ranges of an initial load: divided, printed as a position, and continued from it. */
#include "copy/snapshot_ranges.h"

#include <string.h>

#include "suite.h"

static void set(struct snapshot_ranges *p, const char *text)
{
    struct position at = {0};
    struct err err = {0};
    ck_assert_msg(position_parse(&at, text, &err) == 0, "%s", err.message);
    snapshot_ranges_set(p, &at);
    position_release(&at);
}

static void must_tell(const struct snapshot_ranges *p, const char *expected)
{
    struct buf text;
    buf_init(&text, 4096);
    bool more = snapshot_ranges_print(p, "10:14:", &text);
    ck_assert_str_eq(buf_text(&text), expected);
    ck_assert(more == (strncmp(expected, "copy", 4) == 0));
    buf_release(&text);
}

static void move_to_block(struct snapshot_ranges *p, size_t part, uint64_t block)
{
    const struct position to = {.kind = POSITION_BLOCKS, .block = block};
    snapshot_ranges_move(p, part, &to);
}

static void end(struct snapshot_ranges *p, size_t part)
{
    const struct position to = {.kind = POSITION_LOG};
    snapshot_ranges_move(p, part, &to);
}

START_TEST(readers_of_blocks_take_one_piece_after_the_other)
{
    struct snapshot_ranges p = {0};
    set(&p, "copy 7 0/25 from 10:14:");
    must_tell(&p, "copy 7 0/25 from 10:14:");
    ck_assert_uint_eq(snapshot_ranges_take(&p, 10, false), 0);
    ck_assert_uint_eq(snapshot_ranges_take(&p, 10, false), 1);
    must_tell(&p, "copy 7 0-10 10-20 20/25 from 10:14:");
    move_to_block(&p, 1, 13);
    must_tell(&p, "copy 7 0-10 13-20 20/25 from 10:14:");
    end(&p, 0);
    must_tell(&p, "copy 7 13-20 20/25 from 10:14:");
    ck_assert_uint_eq(snapshot_ranges_blocks_left(&p), 12);
    snapshot_ranges_drop_done(&p);
    ck_assert_uint_eq(snapshot_ranges_take(&p, 10, false), 0); /* ranges in progress come first */
    ck_assert_uint_eq(p.items[0].range.block, 13);
    ck_assert_uint_eq(snapshot_ranges_take(&p, 10, false), 1);
    ck_assert_uint_eq(snapshot_ranges_take(&p, 10, false), SNAPSHOT_RANGES_NONE);
    move_to_block(&p, 0, 20);
    must_tell(&p, "copy 7 20-25 25/25 from 10:14:");
    end(&p, 1);
    must_tell(&p, "log 10:14:");
    ck_assert_uint_eq(snapshot_ranges_blocks_left(&p), 0);
    snapshot_ranges_release(&p);
}
END_TEST

START_TEST(an_empty_table_is_one_piece_of_nothing)
{
    struct snapshot_ranges p = {0};
    struct position at = {0};
    set(&p, "copy 7 0/0 from 10:14:");
    ck_assert_uint_eq(snapshot_ranges_take(&p, 10, false), SNAPSHOT_RANGES_NONE);
    ck_assert_uint_eq(snapshot_ranges_take(&p, 10, true), 0);
    snapshot_ranges_position(&p, 0, "10:14:", &at);
    ck_assert_int_eq(at.kind, POSITION_BLOCKS);
    ck_assert_uint_eq(at.blocks, 0);
    end(&p, 0);
    must_tell(&p, "log 10:14:");
    position_release(&at);
    snapshot_ranges_release(&p);
}
END_TEST

START_TEST(keys_are_divided_where_it_is_said)
{
    static const char *const values[] = {"g", "p q"};
    struct snapshot_ranges p = {0};
    struct position at = {0};
    set(&p, "copy keys nulls from 10:14:");
    snapshot_ranges_divide(&p, values, 2);
    must_tell(&p, "copy keys nulls until g. and beyond g. until p%20q. and beyond p%20q. "
                  "from 10:14:");
    ck_assert_uint_eq(snapshot_ranges_take(&p, 10, true), 0);
    ck_assert_uint_eq(snapshot_ranges_take(&p, 10, false), 1);
    snapshot_ranges_position(&p, 1, "10:14:", &at);
    ck_assert_int_eq(at.range, KEY_RANGE_BEYOND);
    ck_assert_str_eq(at.key, "g");
    ck_assert_str_eq(at.until, "p q");
    char key[] = "h:1";
    char until[] = "p q";
    const struct position to = {
        .kind = POSITION_KEYS, .range = KEY_RANGE_AFTER, .key = key, .until = until};
    snapshot_ranges_move(&p, 1, &to);
    end(&p, 0);
    must_tell(&p, "copy keys after h:1. until p%20q. and beyond p%20q. from 10:14:");
    snapshot_ranges_drop_done(&p);
    ck_assert_uint_eq(snapshot_ranges_take(&p, 10, false), 0);
    ck_assert_uint_eq(snapshot_ranges_take(&p, 10, false), 1);
    ck_assert_uint_eq(snapshot_ranges_take(&p, 10, false), SNAPSHOT_RANGES_NONE);
    p.items[0].taken = false;
    ck_assert_uint_eq(snapshot_ranges_take(&p, 10, false), 0);
    end(&p, 0);
    end(&p, 1);
    must_tell(&p, "log 10:14:");
    position_release(&at);
    snapshot_ranges_release(&p);
}
END_TEST

/* However many ranges there are and however far each is, every row is read exactly once. */
START_TEST(every_block_is_read_once_whoever_goes_on)
{
    unsigned char read[1000] = {0};
    struct snapshot_ranges p = {0};
    uint64_t state = 88172645463325252U + (uint64_t)_i;
    set(&p, "copy 7 0/1000 from 10:14:");
    for (bool more = true; more;) {
        struct buf text;
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        size_t readers = 1 + state % 4;
        for (size_t r = 0; r < readers; r++) {
            size_t part = snapshot_ranges_take(&p, 60, r == 0);
            if (part == SNAPSHOT_RANGES_NONE) {
                break;
            }
            const struct copy_range *range = &p.items[part].range;
            uint64_t to = range->block + (state >> (8 * r)) % (range->end - range->block + 1);
            for (uint64_t block = range->block; block < to; block++) {
                read[block]++;
            }
            move_to_block(&p, part, to);
        }
        buf_init(&text, 4096);
        more = snapshot_ranges_print(&p, "10:14:", &text);
        set(&p, buf_text(&text));
        buf_release(&text);
    }
    for (size_t i = 0; i < sizeof(read); i++) {
        ck_assert_uint_eq(read[i], 1);
    }
    snapshot_ranges_release(&p);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("source/snapshot_ranges");
    TCase *tcase = tcase_create("all");
    tcase_add_test(tcase, readers_of_blocks_take_one_piece_after_the_other);
    tcase_add_test(tcase, an_empty_table_is_one_piece_of_nothing);
    tcase_add_test(tcase, keys_are_divided_where_it_is_said);
    tcase_add_loop_test(tcase, every_block_is_read_once_whoever_goes_on, 0, 200);
    suite_add_tcase(suite, tcase);
    return suite_end(suite);
}
