/* SPDX-License-Identifier: Apache-2.0 */
/* The last scheduled comparison: kept over a restart, separate for each pipeline. */
#include "rowferry/state/verification.h"

#include "statefile.h"

START_TEST(the_last_comparison_is_kept)
{
    struct statefile f = statefile_make();
    struct err err = {0};
    struct verification seen;
    const struct verification first = {.ended_us = 5, .failed = true, .message = "away"};
    const struct verification second = {.ended_us = 1,
                                        .took_ms = 2,
                                        .rows = 3,
                                        .documents = 4,
                                        .missing = 5,
                                        .extra = 6,
                                        .altered = 7,
                                        .dead_letters = 8,
                                        .waiting = 9,
                                        .sent = 10,
                                        .restored = true};
    bool known = true;
    struct state *s = statefile_open(&f, "articles");
    struct state *other = statefile_open(&f, "others");
    OK(verification_read(s, &seen, &known, &err));
    ck_assert(!known && seen.ended_us == 0);
    OK(verification_write(s, &first, &err));
    OK(verification_read(s, &seen, &known, &err));
    ck_assert(known && seen.failed && !seen.restored);
    ck_assert_str_eq(seen.message, "away");
    OK(verification_write(s, &second, &err));
    state_close(s);
    s = statefile_open(&f, "articles");
    OK(verification_read(s, &seen, &known, &err));
    ck_assert(known && seen.restored && !seen.failed && seen.message[0] == '\0');
    ck_assert(seen.ended_us == 1 && seen.took_ms == 2 && seen.rows == 3 && seen.documents == 4);
    ck_assert(seen.missing == 5 && seen.extra == 6 && seen.altered == 7);
    ck_assert(seen.dead_letters == 8 && seen.waiting == 9 && seen.sent == 10);
    OK(verification_read(other, &seen, &known, &err));
    ck_assert(!known);
    state_close(other);
    state_close(s);
    statefile_remove(&f);
}
END_TEST

SUITE_MAIN("state/verification", the_last_comparison_is_kept)
