/* SPDX-License-Identifier: Apache-2.0 */
/* The transaction with the oldest xmin, and since when it holds it. */
#include "catalog/xmin_holders.h"

#include "suite.h"

static const struct hold_row session = {.kind = HOLD_SESSION,
                                        .pid = 4711,
                                        .age_us = 5000000,
                                        .xid = "800",
                                        .name = "psql",
                                        .role = "alice",
                                        .state = "idle in transaction"};
static const struct hold_row slot = {.kind = HOLD_SLOT, .age_us = -1, .xid = "700", .name = "old"};

START_TEST(the_oldest_of_all_kinds_is_named)
{
    struct xmin_holders h = {0};
    struct xmin_holder out = {0};
    struct hold_row prepared = {
        .kind = HOLD_PREPARED, .age_us = 9000000, .xid = "801", .name = "gid", .role = "bob"};
    xmin_holders_take(&h, &session, 1000, &out);
    ck_assert(out.any);
    ck_assert_int_eq(out.pid, 4711);
    ck_assert_int_eq(out.age_us, 5000000);
    ck_assert_str_eq(out.who, "process 4711 (\"psql\" of alice, idle in transaction)");
    xmin_holders_take(&h, &prepared, 1000, &out);
    ck_assert_int_eq(out.pid, 0);
    ck_assert_str_eq(out.who, "the prepared transaction \"gid\" of bob");
    xmin_holders_take(&h, &session, 1000, &out);
    ck_assert_int_eq(out.age_us, 9000000);
}
END_TEST

START_TEST(a_holder_of_unknown_age_is_as_old_as_its_first_sighting)
{
    struct xmin_holders h = {0};
    struct xmin_holder out = {0};
    xmin_holders_take(&h, &slot, 1000, &out);
    ck_assert(out.any);
    ck_assert_int_eq(out.age_us, 0);
    out = (struct xmin_holder){0};
    xmin_holders_take(&h, &slot, 11000, &out);
    ck_assert_int_eq(out.age_us, 10000000);
    ck_assert_str_eq(out.who, "the replication slot \"old\", which is inactive");
    struct hold_row moved = slot;
    moved.xid = "900"; /* its xmin has advanced, so its age starts again */
    out = (struct xmin_holder){0};
    xmin_holders_take(&h, &moved, 21000, &out);
    ck_assert_int_eq(out.age_us, 0);
}
END_TEST

START_TEST(a_session_without_details_is_named_by_its_process)
{
    struct xmin_holders h = {0};
    struct xmin_holder out = {0};
    struct hold_row unseen = session;
    unseen.kind = HOLD_UNSEEN;
    unseen.age_us = -1;
    unseen.state = NULL;
    xmin_holders_take(&h, &unseen, 1000, &out);
    out = (struct xmin_holder){0};
    xmin_holders_take(&h, &unseen, 3000, &out);
    ck_assert_int_eq(out.age_us, 2000000);
    ck_assert_str_eq(out.who, "process 4711 (\"psql\" of alice)");
}
END_TEST

START_TEST(a_standby_is_named_with_the_process_that_serves_it)
{
    struct xmin_holders h = {0};
    struct xmin_holder out = {0};
    struct hold_row standby = {
        .kind = HOLD_STANDBY, .pid = 12, .age_us = -1, .xid = "1", .name = "replica1"};
    xmin_holders_take(&h, &standby, 1000, &out);
    ck_assert_str_eq(out.who, "a reader on the standby \"replica1\" (process 12 serves it)");
}
END_TEST

SUITE_MAIN("source/xmin_holders", the_oldest_of_all_kinds_is_named,
           a_holder_of_unknown_age_is_as_old_as_its_first_sighting,
           a_session_without_details_is_named_by_its_process,
           a_standby_is_named_with_the_process_that_serves_it)
