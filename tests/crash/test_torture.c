/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A sync in which each system call fails once, in each way it can fail, and also each SQLite call
 * and each allocation. It succeeds, or ends with a documented exit code and a reason, and the next
 * sync makes up for it.
 */
#include <errno.h>
#include <sqlite3.h>

#include "boundaries.h"
#include "generations.h"
#include "sql.h"

#define FEWER 2       /* factor for system calls */
#define MUCH_FEWER 10 /* factor for the thousands of allocations */

static void sync_here(struct stage *s)
{
    stage_sync(s, 0);
}

static void ends_equal(struct stage *s)
{
    sync_here(s);
    world_expect_equal(&s->w);
    generations_expect(&s->w, 1, NULL, NULL);
    ck_assert_int_eq(sql_int(s->w.conn, "select count(*) from rowferry.consumer"), 1);
}

static const struct workload incremental = {.name = "incremental",
                                            .words = {"sync"},
                                            .begin = sync_here,
                                            .prepare = stage_change,
                                            .recover = ends_equal};

static const struct fault failures[] = {
    {"once", "system", " read pread write pwrite send recv poll epoll_wait lock getrandom ", EINTR,
     FEWER},
    {"once", "system", " read pread write pwrite fdatasync fsync ftruncate close ", EIO, FEWER},
    {"once", "system", " send recv ", ECONNRESET, FEWER},
    {"once", "system", " connect ", ECONNREFUSED, FEWER},
    {"once", "system", " open fopen socket socketpair eventfd pipe2 ", EMFILE, FEWER},
    {"once", "system", " open fopen unlink rename link stat lstat connect ", EACCES, FEWER},
    {"once", "system", " mmap poll epoll_wait socket fstat ", ENOMEM, FEWER},
    {"once", "system", " pthread_create ", EAGAIN, FEWER},
    {"once", "system", " lock ", ENOLCK, FEWER},
    {"once", "system", " fcntl getsockopt setsockopt getsockname getpeername statfs ", EINVAL,
     FEWER},
};

START_TEST(a_sync_in_which_any_call_fails_once_does_no_harm)
{
    for (size_t i = 0; i < sizeof(failures) / sizeof(failures[0]); i++) {
        boundaries_test(&incremental, &failures[i]);
    }
}
END_TEST

static const struct fault exhausted = {"once", "memory", NULL, ENOMEM, MUCH_FEWER};

START_TEST(a_sync_in_which_any_allocation_fails_once_does_no_harm)
{
    boundaries_test(&incremental, &exhausted);
}
END_TEST

static const struct fault refusals[] = {
    {"once", "sqlite", NULL, SQLITE_IOERR_WRITE, FEWER},
    {"once", "sqlite", NULL, SQLITE_FULL, FEWER},
    {"once", "sqlite", NULL, SQLITE_BUSY, FEWER},
    {"once", "sqlite", NULL, SQLITE_NOMEM, FEWER},
};

START_TEST(a_sync_in_which_any_call_of_sqlite_fails_once_does_no_harm)
{
    for (size_t i = 0; i < sizeof(refusals) / sizeof(refusals[0]); i++) {
        boundaries_test(&incremental, &refusals[i]);
    }
}
END_TEST

CRASH_MAIN("crash/torture", a_sync_in_which_any_call_fails_once_does_no_harm,
           a_sync_in_which_any_call_of_sqlite_fails_once_does_no_harm,
           a_sync_in_which_any_allocation_fails_once_does_no_harm)
