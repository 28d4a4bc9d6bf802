/* SPDX-License-Identifier: Apache-2.0 */
/* What the guard refused: kept over a restart, separate for each pipeline, deleted on request. */
#include "rowferry/state/guard_stop.h"

#include "statefile.h"

START_TEST(a_halt_is_kept_until_it_is_forgotten)
{
    struct statefile f = statefile_make();
    struct err err = {0};
    struct halt seen;
    bool known = true;
    struct state *s = statefile_open(&f, "articles");
    struct state *other = statefile_open(&f, "others");
    OK(halt_look(s, &seen, &known, &err));
    ck_assert(!known);
    OK(halt_note(s, &(struct halt){.deletes = 1, .documents = 2, .at_us = 3}, &err));
    struct halt noted = {900, -1, 501, 9000, 7, "type of field \"f\""};
    OK(halt_note(s, &noted, &err));
    state_close(s);
    s = statefile_open(&f, "articles");
    OK(halt_look(s, &seen, &known, &err));
    ck_assert(known && seen.deletes == 900 && seen.documents == -1 && seen.at_us == 7);
    ck_assert(seen.rejected == 501 && seen.operations == 9000);
    ck_assert_str_eq(seen.reason, noted.reason);
    OK(halt_look(other, &seen, &known, &err));
    ck_assert(!known && seen.deletes == 0);
    OK(halt_forget(other, &err));
    OK(halt_look(s, &seen, &known, &err));
    ck_assert(known);
    OK(halt_forget(s, &err));
    OK(halt_look(s, &seen, &known, &err));
    ck_assert(!known);
    state_close(other);
    state_close(s);
    statefile_remove(&f);
}
END_TEST

SUITE_MAIN("state/halt", a_halt_is_kept_until_it_is_forgotten)
