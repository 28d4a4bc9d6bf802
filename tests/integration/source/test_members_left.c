/* SPDX-License-Identifier: Apache-2.0 */
/* Members that left: the index must be reconciled, and reading continues. */
#include "events.h"

START_TEST(a_detached_partition_has_the_index_reconciled)
{
    struct walk w = following(EVENTS);
    sql_exec(w.db, "alter table event detach partition event_b;"
                   "update event set body = 'x' where id = 3");
    walk_page(&w);
    ck_assert(w.judged && w.left);
    sql_exec(w.db, "drop table event_c"); /* during the reconcile */
    must_leave(&w);
    ck_assert_uint_eq(w.rows, 1);
    must_follow(&w,
                "delete from mirror where split_part(content, '|', 1) in ('b', 'c');"
                "update event set body = 'y' where id = 4",
                1);
    walk_free(&w);
}
END_TEST

START_TEST(a_partition_that_left_while_another_joined_hides_neither)
{
    struct walk w = following(EVENTS);
    sql_exec(w.db, "alter table event detach partition event_b;"
                   "create table event_e partition of event for values in ('e');"
                   "insert into event_e values (41, 'e', 'new')");
    struct err err = {0};
    int rc = walk_try(&w, &err);
    ck_assert_int_eq(rc, 0);
    ck_assert(w.judged && w.left);
    sql_exec(w.db, "delete from mirror where split_part(content, '|', 1) = 'b'");
    ck_assert_int_eq(walk_try(&w, &err), ERR_TRANSIENT);
    ck_assert_msg(strstr(err.message, "has just become part of") != NULL, "%s", err.message);
    walk_again(&w);
    ck_assert(walk_drain(&w) > 0);
    ck_assert_int_eq(walk_differences(&w, EVENTS_QUERY), 0);
    walk_free(&w);
}
END_TEST

START_TEST(a_dropped_partition_has_the_index_reconciled_by_the_next_sync)
{
    struct walk w = following(EVENTS);
    struct err err = {0};
    walk_close(&w);
    sql_exec(w.db, "drop table event_c");
    walk_open(&w);
    must(w.capture->ops->resume(w.capture, w.position, &err), &err);
    must_leave(&w);
    walk_free(&w);
}
END_TEST

SUITE_MAIN("source/members_left", a_detached_partition_has_the_index_reconciled,
           a_partition_that_left_while_another_joined_hides_neither,
           a_dropped_partition_has_the_index_reconciled_by_the_next_sync)
