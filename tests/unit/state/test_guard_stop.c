/* SPDX-License-Identifier: Apache-2.0 */
/* What the guard refused: kept over a restart, separate for each pipeline, deleted on request. */
#include "rowferry/state/guard_stop.h"

#include "statefile.h"

START_TEST(a_halt_is_kept_until_it_is_forgotten)
{
    struct statefile f = statefile_make();
    struct err err = {0};
    struct guard_stop seen;
    bool known = true;
    struct state *s = statefile_open(&f, "articles");
    struct state *other = statefile_open(&f, "others");
    OK(guard_stop_read(s, &seen, &known, &err));
    ck_assert(!known);
    OK(guard_stop_write(s, &(struct guard_stop){.deletes = 1, .documents = 2, .at_us = 3}, &err));
    struct guard_stop noted = {900, -1, 501, 9000, 7, "type of field \"f\""};
    OK(guard_stop_write(s, &noted, &err));
    state_close(s);
    s = statefile_open(&f, "articles");
    OK(guard_stop_read(s, &seen, &known, &err));
    ck_assert(known && seen.deletes == 900 && seen.documents == -1 && seen.at_us == 7);
    ck_assert(seen.rejected == 501 && seen.operations == 9000);
    ck_assert_str_eq(seen.reason, noted.reason);
    OK(guard_stop_read(other, &seen, &known, &err));
    ck_assert(!known && seen.deletes == 0);
    OK(guard_stop_clear(other, &err));
    OK(guard_stop_read(s, &seen, &known, &err));
    ck_assert(known);
    OK(guard_stop_clear(s, &err));
    OK(guard_stop_read(s, &seen, &known, &err));
    ck_assert(!known);
    state_close(other);
    state_close(s);
    statefile_remove(&f);
}
END_TEST

SUITE_MAIN("state/guard_stop", a_halt_is_kept_until_it_is_forgotten)
