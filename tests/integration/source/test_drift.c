/* SPDX-License-Identifier: Apache-2.0 */
/* Changes of column types: reading stops if documents would be wrong. */
#include "notes.h"

#define TYPES                                                                                      \
    "create type mood as enum ('sad', 'glad');"                                                    \
    "create type place as (city text, mood mood);"                                                 \
    "create domain town as place;"                                                                 \
    "create type road as (ends town[], name text);"
#define NOTE "create table note (id bigint primary key, body road, plain text, other mood)"

static struct walk made_of_types(void)
{
    struct walk w = notes();
    walk_new(&w, TYPES NOTE);
    sql_exec(w.db, "insert into note values (1, row(array[row('Rom', 'glad')::place], 'Via'))");
    walk_start(&w);
    walk_copy(&w);
    walk_drain(&w);
    return w;
}

/* Expects that reading stops, also after a resume. */
static void stops(struct walk *w, const char *message)
{
    struct err err = {0};
    ck_assert_int_eq(walk_try(w, &err), ERR_STATE);
    ck_assert_msg(strstr(err.message, message) != NULL, "%s", err.message);
    must(w->capture->ops->resume(w->capture, w->position, &err), &err);
    ck_assert_int_eq(walk_try(w, &err), ERR_STATE);
    ck_assert_msg(strstr(err.message, message) != NULL, "%s", err.message);
    walk_free(w);
}

START_TEST(a_field_that_a_composite_gets_stops_reading)
{
    struct walk w = made_of_types();
    sql_exec(w.db, "alter type place add attribute zip text");
    stops(&w, "field \"zip\" in the types of \"public\".\"note\" is new");
}
END_TEST

START_TEST(a_field_of_another_name_stops_reading)
{
    struct walk w = made_of_types();
    sql_exec(w.db, "alter type place rename attribute city to village");
    stops(&w, "field \"city\" in the types of \"public\".\"note\" is gone");
}
END_TEST

START_TEST(a_field_of_the_outer_composite_stops_reading)
{
    struct walk w = made_of_types();
    sql_exec(w.db, "alter type road rename attribute name to title");
    stops(&w, "field \"name\" in the types of \"public\".\"note\" is gone");
}
END_TEST

START_TEST(a_label_of_another_name_stops_reading)
{
    struct walk w = made_of_types();
    sql_exec(w.db, "alter type mood rename value 'glad' to 'happy'");
    stops(&w, "label \"glad\" in the types of \"public\".\"note\" was renamed");
}
END_TEST

START_TEST(a_label_that_is_new_does_no_harm)
{
    struct walk w = made_of_types();
    struct err err = {0};
    sql_exec(w.db, "alter type mood add value 'blue' before 'sad'");
    sql_exec(w.db, "insert into note values (2, row(array[row('Rom', 'blue')::place], 'Via'))");
    ck_assert_uint_eq(walk_drain(&w), 1);
    must(w.capture->ops->resume(w.capture, w.position, &err), &err);
    sql_exec(w.db, "alter type mood rename value 'glad' to 'happy'");
    stops(&w, "label \"glad\"");
}
END_TEST

START_TEST(types_of_columns_that_are_not_read_may_change)
{
    static const char *const plain[] = {"plain"};
    struct walk w = notes();
    w.columns = plain;
    walk_new(&w, TYPES NOTE);
    walk_start(&w);
    walk_copy(&w);
    sql_exec(w.db, "alter type mood rename value 'glad' to 'happy'");
    sql_exec(w.db, "insert into note (id) values (1)");
    ck_assert_uint_eq(walk_drain(&w), 1);
    walk_free(&w);
}
END_TEST

SUITE_MAIN("source/drift", a_field_that_a_composite_gets_stops_reading,
           a_field_of_another_name_stops_reading, a_field_of_the_outer_composite_stops_reading,
           a_label_of_another_name_stops_reading, a_label_that_is_new_does_no_harm,
           types_of_columns_that_are_not_read_may_change)
