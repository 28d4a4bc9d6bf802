/* SPDX-License-Identifier: Apache-2.0 */
/* Several reads that see one state of the file. */
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

SUITE_MAIN("state/reading", nobody_writes_between_reads_at_once_and_afterwards_anybody)
