/* SPDX-License-Identifier: Apache-2.0 */
/* The last reconcile: kept over a restart, separate for each pipeline. */
#include "rowferry/state/reconcile.h"

#include "statefile.h"

START_TEST(the_last_reconcile_is_kept)
{
    struct statefile f = statefile_make();
    struct err err = {0};
    struct reconcile seen;
    bool known = true;
    struct state *s = statefile_open(&f, "articles");
    struct state *other = statefile_open(&f, "others");
    OK(reconcile_read(s, &seen, &known, &err));
    ck_assert(!known);
    OK(reconcile_write(s, &(struct reconcile){.finished_us = 5}, &err));
    OK(reconcile_write(s, &(struct reconcile){7, 9, 11, true}, &err));
    state_close(s);
    s = statefile_open(&f, "articles");
    OK(reconcile_read(s, &seen, &known, &err));
    ck_assert(known && seen.finished_us == 7 && seen.owed_us == 9 && seen.late_us == 11 &&
              seen.flying);
    OK(reconcile_read(other, &seen, &known, &err));
    ck_assert(!known && seen.finished_us == 0 && !seen.flying);
    state_close(other);
    state_close(s);
    statefile_remove(&f);
}
END_TEST

SUITE_MAIN("state/reconcile", the_last_reconcile_is_kept)
