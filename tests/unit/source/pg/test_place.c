/* SPDX-License-Identifier: Apache-2.0 */
/* The place of a source, for people. */
#include <stdlib.h>

#include "rowferry/base/buf.h"
#include "rowferry/source/pg/pg.h"
#include "suite.h"

static void expect(const char *uri, const char *place)
{
    struct buf out;
    buf_init(&out, 1024);
    pg_place(uri, &out);
    ck_assert_str_eq(buf_text(&out), place);
    buf_release(&out);
}

START_TEST(database_and_host_are_named_and_no_role)
{
    expect("postgresql://ferry@db.example/shop", "shop on db.example");
    expect("postgresql://ferry@db.example:5433/shop?sslmode=verify-full&sslpassword=secret",
           "shop on db.example:5433");
    expect("host=a,b port=5432 dbname='my shop' user=ferry passfile=/secret", "my shop on a,b");
    expect("hostaddr=192.0.2.7 dbname=shop user=ferry", "shop on 192.0.2.7");
    expect("host=/run/pg dbname=shop user=ferry", "shop on /run/pg");
}
END_TEST

START_TEST(the_environment_counts_as_for_a_connection)
{
    ck_assert_int_eq(setenv("PGHOST", "db.env", 1), 0);
    ck_assert_int_eq(setenv("PGPORT", "6000", 1), 0);
    expect("postgresql://ferry@/shop", "shop on db.env:6000");
    ck_assert_int_eq(unsetenv("PGHOST"), 0);
    ck_assert_int_eq(unsetenv("PGPORT"), 0);
}
END_TEST

SUITE_MAIN("source/place", database_and_host_are_named_and_no_role,
           the_environment_counts_as_for_a_connection)
