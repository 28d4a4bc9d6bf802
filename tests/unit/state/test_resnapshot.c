/* SPDX-License-Identifier: Apache-2.0 */
/* The last re-snapshot in place: kept over a restart, separate for each pipeline. */
#include "rowferry/state/resnapshot.h"

#include "statefile.h"

START_TEST(the_last_reason_is_kept)
{
    struct statefile f = statefile_make();
    struct err err = {0};
    struct copied seen;
    bool known = true;
    struct state *s = statefile_open(&f, "articles");
    struct state *other = statefile_open(&f, "others");
    OK(copied_look(s, &seen, &known, &err));
    ck_assert(!known);
    OK(copied_note(s, "first", 1, &err));
    OK(copied_note(s, "second", 2, &err));
    state_close(s);
    s = statefile_open(&f, "articles");
    OK(copied_look(s, &seen, &known, &err));
    ck_assert(known && seen.begun_us == 2);
    ck_assert_str_eq(seen.reason, "second");
    OK(copied_look(other, &seen, &known, &err));
    ck_assert(!known && seen.begun_us == 0);
    state_close(other);
    state_close(s);
    statefile_remove(&f);
}
END_TEST

SUITE_MAIN("state/copied", the_last_reason_is_kept)
