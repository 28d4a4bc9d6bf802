/* SPDX-License-Identifier: Apache-2.0 */
/* A process that has no descriptor left: what needs the state file waits, and nothing is lost. */
#include <errno.h>
#include <stdlib.h>

#include "statefile.h"

typedef int open_call(const char *, int, int);

static sqlite3_vfs *vfs;
static open_call *real_open;
static int journals_opened;

/* The first descriptor is missing, and the second is there: another thread has closed one. */
static int open_when_one_becomes_free(const char *path, int flags, int mode)
{
    size_t len = strlen(path);
    const char ending[] = "-journal";
    bool journal = len >= sizeof(ending) && strcmp(path + len - strlen(ending), ending) == 0;
    if (journal && (flags & O_CREAT) != 0 && ++journals_opened == 1) {
        int fd = real_open(path, flags, mode);
        ck_assert_int_ge(fd, 0);
        close(fd);
        errno = EMFILE;
        return -1;
    }
    return real_open(path, flags, mode);
}

static void replace_open(sqlite3_syscall_ptr call)
{
    ck_assert_int_eq(vfs->xSetSystemCall(vfs, "open", call), SQLITE_OK);
}

START_TEST(a_journal_that_was_opened_to_read_only_is_written_later)
{
    struct statefile f = statefile_make();
    struct state *s = statefile_open(&f, "articles");
    statefile_begin(s, 1);
    vfs = sqlite3_vfs_find(NULL);
    real_open = (open_call *)vfs->xGetSystemCall(vfs, "open");
    journals_opened = 0;

    replace_open((sqlite3_syscall_ptr)open_when_one_becomes_free);
    struct err err = {0};
    ck_assert_int_eq(statefile_position(s, "1", 1, &err), ERR_TRANSIENT);
    ck_assert_int_eq(journals_opened, 1);
    ck_assert_int_eq(err.sqlite_code, SQLITE_IOERR_WRITE);
    ck_assert_msg(strstr(err.message, "Too many open files") != NULL, "%s", err.message);
    ck_assert_msg(strstr(err.message, f.path) != NULL, "%s", err.message);
    OK(statefile_position(s, "2", 1, &err));
    ck_assert_int_eq(journals_opened, 2);
    replace_open((sqlite3_syscall_ptr)real_open);

    state_close(s);
    statefile_remove(&f);
}
END_TEST

SUITE_MAIN("state/few_descriptors", a_journal_that_was_opened_to_read_only_is_written_later)
