/* SPDX-License-Identifier: Apache-2.0 */
/* Several reads that see one state of the file, and what an opening reads. */
#include "rowferry/state/pause.h"
#include "statefile.h"

/* Returns SQLite's code of an attempt to write that does not wait. */
static int try_to_write(const struct statefile *f)
{
    sqlite3 *db;
    ck_assert_int_eq(sqlite3_open_v2(f->path, &db, SQLITE_OPEN_READWRITE, NULL), SQLITE_OK);
    int code = sqlite3_exec(db, "begin exclusive; rollback", NULL, NULL, NULL);
    sqlite3_close(db);
    return code;
}

START_TEST(nobody_writes_between_reads_at_once_and_afterwards_anybody)
{
    struct statefile f = statefile_make();
    struct err err;
    struct state *s;
    int64_t paused_us;
    state_close(statefile_open(&f, "articles"));
    OK(state_open_read_only(&s, f.path, "articles", &err));
    OK(pause_read(s, &paused_us, &err));
    ck_assert_int_eq(try_to_write(&f), SQLITE_OK);
    OK(state_read_at_once(s, &err));
    OK(pause_read(s, &paused_us, &err));
    ck_assert_int_eq(try_to_write(&f), SQLITE_BUSY);
    OK(pause_read(s, &paused_us, &err));
    state_close(s);
    ck_assert_int_eq(try_to_write(&f), SQLITE_OK);
    statefile_remove(&f);
}
END_TEST

START_TEST(only_the_first_opening_of_a_process_examines_the_whole_file)
{
    struct statefile f = statefile_make();
    struct err err;
    struct stat at;
    struct state *s;
    state_close(statefile_open(&f, "articles"));
    ck_assert_int_eq(stat(f.path, &at), 0);
    int fd = open(f.path, O_WRONLY | O_CLOEXEC);
    ck_assert_int_eq(pwrite(fd, "damaged", 7, at.st_size - 4096), 7); /* a page of no reader */
    close(fd);
    ck_assert_int_eq(state_open_read_only(&s, f.path, "articles", &err), ERR_STATE);
    OK(state_open_again(&s, f.path, "articles", &err));
    state_close(s);
    statefile_remove(&f);
}
END_TEST

SUITE_MAIN("state/reading", nobody_writes_between_reads_at_once_and_afterwards_anybody,
           only_the_first_opening_of_a_process_examines_the_whole_file)
