/* SPDX-License-Identifier: Apache-2.0 */
/* The last re-snapshot in place: kept over a restart, separate for each pipeline. */
#include "rowferry/state/resnapshot.h"

#include "statefile.h"

START_TEST(the_last_reason_is_kept)
{
    struct statefile f = statefile_make();
    struct err err = {0};
    struct resnapshot seen;
    bool known = true;
    struct state *s = statefile_open(&f, "articles");
    struct state *other = statefile_open(&f, "others");
    OK(resnapshot_read(s, &seen, &known, &err));
    ck_assert(!known);
    OK(resnapshot_write(s, "first", 1, &err));
    OK(resnapshot_write(s, "second", 2, &err));
    state_close(s);
    s = statefile_open(&f, "articles");
    OK(resnapshot_read(s, &seen, &known, &err));
    ck_assert(known && seen.begun_us == 2);
    ck_assert_str_eq(seen.reason, "second");
    OK(resnapshot_read(other, &seen, &known, &err));
    ck_assert(!known && seen.begun_us == 0);
    state_close(other);
    state_close(s);
    statefile_remove(&f);
}
END_TEST

SUITE_MAIN("state/resnapshot", the_last_reason_is_kept)
