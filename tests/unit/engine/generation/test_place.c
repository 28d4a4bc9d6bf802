/* SPDX-License-Identifier: Apache-2.0 */
/* Which server may write an index that names another place. */
#include "generation/place.h"

#include <stdio.h>

#include "suite.h"

#define FIRST "2026-11-27T10:00:00.000001Z"
#define LATER "2026-11-28T10:00:00.000001Z"
#define LAST "2026-11-29T10:00:00.000001Z"
#define HERE "1 " FIRST " 10.0.0.7:5432 shop on db1.example"

static enum place_verdict with(const char *index, const char *own, const char *last, bool lost)
{
    struct written_place row = {.lost = lost};
    snprintf(row.place, sizeof(row.place), "%s", last != NULL ? last : "");
    return place_judge(index, own, &row);
}

static void expect(enum place_verdict verdict, const char *index, const char *own)
{
    ck_assert_msg(with(index, own, NULL, false) == verdict, "%s, %s", index, own);
}

START_TEST(one_agreeing_mark_is_enough)
{
    expect(PLACE_SAME, HERE, HERE);
    expect(PLACE_MOVED, "", HERE); /* of an older version */
    expect(PLACE_MOVED, HERE, "1 " FIRST " - shop on tunnel:15432");
    expect(PLACE_MOVED, HERE, "1 " LATER " 10.0.0.7:5432 shop on db2.example");
    expect(PLACE_MOVED, HERE, "1 " LATER " 10.0.0.8:5432 shop on db1.example");
    expect(PLACE_MOVED, HERE, "2 " LATER " 10.0.0.8:5432 shop on db2.example"); /* promoted */
    expect(PLACE_MOVED, "2 " FIRST " - shop on db1.example", "1 " LATER " - shop on db1.example");
}
END_TEST

START_TEST(if_no_mark_agrees_it_may_be_a_copy)
{
    expect(PLACE_OTHER, HERE, "1 " LATER " 10.0.0.8:5432 shop on db2.example");
    expect(PLACE_OTHER, HERE, "0 " LATER " 10.0.0.8:5432 shop on db2.example");
    expect(PLACE_OTHER, "0 " FIRST " - shop on db1", "3 " LATER " - shop on db2");
    expect(PLACE_OTHER, "2 " FIRST " - shop on db1", "1 " LATER " - shop on db2");
    expect(PLACE_OTHER, "1 " FIRST " - shop on db1", "1 " LATER " - shop on db1:5433");
}
END_TEST

START_TEST(a_server_that_still_runs_does_not_take_back_what_another_has_taken)
{
    static const char taken[] = "1 " LATER " - shop on db1.example";
    static const char again[] = "1 " LAST " - shop on db1.example";
    ck_assert_int_eq(with(taken, HERE, HERE, false), PLACE_TAKEN);
    ck_assert_int_eq(with("2 " LATER " - shop on db2", HERE, HERE, false), PLACE_TAKEN);
    ck_assert_int_eq(with(taken, again, taken, true), PLACE_TAKEN); /* not after a restart either */
    ck_assert_int_eq(with(taken, again, HERE, false), PLACE_MOVED); /* written on another host */
    ck_assert_int_eq(with(HERE, taken, HERE, false), PLACE_MOVED);
    ck_assert_int_eq(with(taken, taken, taken, true), PLACE_SAME);
    ck_assert_int_eq(with("2 " FIRST " - shop on db2", taken, taken, false), PLACE_TAKEN);
}
END_TEST

START_TEST(an_index_that_was_put_back_belongs_to_the_server_that_still_runs)
{
    static const char now[] = "1 " LATER " - shop on db1.example";
    ck_assert_int_eq(with(HERE, now, now, false), PLACE_MOVED);
    ck_assert_int_eq(with("1 " LAST " - shop on db0", "2 " LATER " - shop on db1",
                          "2 " LATER " - shop on db1", false),
                     PLACE_MOVED);
}
END_TEST

SUITE_MAIN("engine/place", one_agreeing_mark_is_enough, if_no_mark_agrees_it_may_be_a_copy,
           a_server_that_still_runs_does_not_take_back_what_another_has_taken,
           an_index_that_was_put_back_belongs_to_the_server_that_still_runs)
