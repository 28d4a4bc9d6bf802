/* SPDX-License-Identifier: Apache-2.0 */
/* Owner of a state file, and files or schema objects that other users have planted. */
#include "trust.h"

#include <grp.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "statefile.h"

#define STRANGER 65534

static void refused(const char *path, bool read_only, const char *message, const char *hint)
{
    struct state *s = NULL;
    struct err err = {0};
    int result = read_only ? state_open_read_only(&s, path, "articles", &err)
                           : state_open(&s, path, "articles", &err);
    ck_assert_msg(result == ERR_STATE, "%d, where this is due: %s", result, message);
    ck_assert_ptr_null(s);
    ck_assert_msg(strstr(err.message, message) != NULL, "%s", err.message);
    ck_assert_msg(strstr(err.hint, hint) != NULL, "%s", err.hint);
}

static void opens(const struct statefile *f, bool read_only)
{
    struct state *s = NULL;
    struct err err = {0};
    OK(read_only ? state_open_read_only(&s, f->path, "articles", &err)
                 : state_open(&s, f->path, "articles", &err));
    ck_assert_ptr_nonnull(s);
    state_close(s);
}

static const char *beside(const struct statefile *f, const char *suffix)
{
    static char path[160];
    snprintf(path, sizeof(path), "%s%s", f->path, suffix);
    return path;
}

static void put(const char *path, mode_t mode)
{
    int fd = open(path, O_WRONLY | O_CREAT, 0600);
    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(fchmod(fd, mode), 0);
    close(fd);
}

START_TEST(a_state_file_of_another_user_is_refused_by_name_and_root_may_read_it)
{
    if (geteuid() != 0) {
        refused("/etc/passwd", false, "belongs to user \"root\" (0)", "run as that user");
        return;
    }
    struct statefile f = statefile_make();
    opens(&f, false);
    ck_assert_int_eq(chown(f.path, STRANGER, STRANGER), 0);
    refused(f.path, false,
            "\" belongs to user \"nobody\" (65534), and this process runs as user "
            "\"root\" (0)",
            "run as that user");
    opens(&f, true);
    ck_assert_int_eq(chown(f.path, 0, 0), 0);
    ck_assert_int_eq(chown(beside(&f, ".lock"), STRANGER, STRANGER), 0);
    refused(f.path, false, ".lock\" belongs to user \"nobody\"", "chown 0 ");
    refused(f.path, true, ".lock\" belongs to user \"nobody\"", "chown 0 ");
    statefile_remove(&f);
}
END_TEST

/* Another user's hot journal would be played back into the file. */
START_TEST(a_journal_that_somebody_else_left_beside_the_file_is_refused)
{
    static const char *const suffixes[] = {"-journal", "-wal", "-shm"};
    for (size_t i = 0; i < sizeof(suffixes) / sizeof(suffixes[0]); i++) {
        struct statefile f = statefile_make();
        put(beside(&f, suffixes[i]), 0666);
        refused(f.path, false, "can be written by other users: its mode is 0666", "chmod 600 ");
        if (geteuid() == 0) {
            ck_assert_int_eq(chmod(beside(&f, suffixes[i]), 0600), 0);
            ck_assert_int_eq(chown(beside(&f, suffixes[i]), STRANGER, STRANGER), 0);
            refused(f.path, false, "belongs to user \"nobody\"", "");
        }
        ck_assert_int_ne(access(f.path, F_OK), 0);
        statefile_remove(&f);
    }
}
END_TEST

START_TEST(a_state_file_that_others_may_write_is_refused)
{
    struct statefile f = statefile_make();
    opens(&f, false);
    ck_assert_int_eq(chmod(f.path, 0602), 0);
    refused(f.path, false, "state #1?.db\" can be written by other users: its mode is 0602",
            "chmod 600 ");
    refused(f.path, true, "can be written by other users", "chmod 600 ");
    ck_assert_int_eq(chmod(f.path, 0644), 0); /* check only warns about this */
    opens(&f, false);
    ck_assert_int_eq(chmod(f.path, 0660), 0); /* as set by Kubernetes' fsGroup */
    opens(&f, false);
    if (geteuid() == 0) {
        ck_assert_int_eq(chown(f.path, 0, STRANGER), 0);
        refused(f.path, false, "its mode is 0660", "chmod 600 ");
        const gid_t groups[] = {STRANGER};
        ck_assert_int_eq(setgroups(1, groups), 0);
        opens(&f, false);
    }
    statefile_remove(&f);
}
END_TEST

START_TEST(a_directory_in_which_others_may_replace_the_file_is_refused)
{
    struct statefile f = statefile_make();
    ck_assert_int_eq(chmod(f.directory, 0777), 0);
    refused(f.path, false, "other users may replace the state file in", "chmod go-w ");
    refused(f.path, true, "other users may replace the state file in", "chmod go-w ");
    ck_assert_int_ne(access(beside(&f, ".lock"), F_OK), 0);
    ck_assert_int_eq(chmod(f.directory, 01777), 0); /* like /tmp */
    opens(&f, false);
    ck_assert_int_eq(chmod(f.directory, 02775), 0);
    opens(&f, true);
    statefile_remove(&f);
}
END_TEST

START_TEST(a_dangling_link_in_place_of_the_file_is_not_followed)
{
    static const char *const suffixes[] = {"", "-journal", "-wal", "-shm", ".lock"};
    for (size_t i = 0; i < sizeof(suffixes) / sizeof(suffixes[0]); i++) {
        struct statefile f = statefile_make();
        char target[160];
        snprintf(target, sizeof(target), "%s/target", f.directory);
        ck_assert_int_eq(symlink(target, beside(&f, suffixes[i])), 0);
        refused(f.path, false, "is a symbolic link", "remove the link");
        refused(f.path, true, "is a symbolic link", "remove the link");
        ck_assert_int_ne(access(target, F_OK), 0);
        statefile_remove(&f);
    }
}
END_TEST

/* SQLite refuses all links in a path, but systemd's DynamicUser= makes the directory a link. */
START_TEST(a_directory_that_is_a_link_leads_to_its_file)
{
    struct statefile f = statefile_make();
    struct statefile through = f;
    snprintf(through.path, sizeof(through.path), "%s-link", f.directory);
    ck_assert_int_eq(symlink(f.directory, through.path), 0);
    snprintf(through.path, sizeof(through.path), "%s-link/state #1?.db", f.directory);
    opens(&through, false);
    opens(&f, false);
    ck_assert_int_eq(chdir(f.directory), 0);
    snprintf(through.path, sizeof(through.path), "state #1?.db");
    opens(&through, true);
    snprintf(through.path, sizeof(through.path), "%s-link", f.directory);
    ck_assert_int_eq(unlink(through.path), 0);
    statefile_remove(&f);
}
END_TEST

static void sql(const char *path, const char *text)
{
    sqlite3 *db;
    ck_assert_int_eq(sqlite3_open(path, &db), SQLITE_OK);
    ck_assert_int_eq(sqlite3_exec(db, text, NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
}

START_TEST(a_planted_trigger_or_view_is_refused_by_name)
{
    static const char *const planted[][2] = {
        {"create trigger sly after update on pipeline begin delete from dead_letter; end",
         "has the trigger \"sly\", which is not rowferry's"},
        {"create view sly as select 1", "has the view \"sly\", which is not rowferry's"},
        {"drop trigger pipeline_changed; create trigger pipeline_changed after update on pipeline "
         "begin delete from dead_letter; end",
         "has the trigger \"pipeline_changed\", which is not rowferry's"},
    };
    for (size_t i = 0; i < sizeof(planted) / sizeof(planted[0]); i++) {
        struct statefile f = statefile_make();
        opens(&f, false);
        sql(f.path, planted[i][0]);
        refused(f.path, false, planted[i][1], "keep it under another name");
        refused(f.path, true, planted[i][1], "keep it under another name");
        statefile_remove(&f);
    }
}
END_TEST

START_TEST(a_connection_refuses_what_a_state_file_never_needs)
{
    static const char *const never[] = {
        "pragma writable_schema = on; update sqlite_schema set sql = sql where 0",
        "create view v as select 1; select * from v",
        "select load_extension('x')",
        "select \"text\"",
    };
    struct statefile f = statefile_make();
    struct state *s = statefile_open(&f, "articles");
    for (size_t i = 0; i < sizeof(never) / sizeof(never[0]); i++) {
        ck_assert_msg(sqlite3_exec(s->db, never[i], NULL, NULL, NULL) != SQLITE_OK, "%s", never[i]);
    }
    state_close(s);
    statefile_remove(&f);
}
END_TEST

/* A process dies during a transaction that has reached the file, and leaves its journal. */
static void leave_journal(const char *path)
{
    pid_t child = fork();
    ck_assert_int_ge(child, 0);
    if (child == 0) {
        sqlite3 *db = NULL;
        if (sqlite3_open(path, &db) == SQLITE_OK) {
            sqlite3_exec(db,
                         "pragma journal_mode = truncate; pragma cache_size = 1; begin;"
                         "create table filler (x); insert into filler with recursive n(i) as "
                         "(select 1 union all select i + 1 from n where i < 500) "
                         "select randomblob(4000) from n",
                         NULL, NULL, NULL);
        }
        _exit(0);
    }
    ck_assert_int_eq(waitpid(child, NULL, 0), child);
}

/* Rolling a journal back deletes the files that it names, with the privileges of the process. */
START_TEST(root_does_not_roll_back_the_journal_of_another_user)
{
    if (geteuid() != 0) {
        return;
    }
    struct statefile f = statefile_make();
    struct stat before;
    struct stat after;
    struct state *s = NULL;
    struct err err = {0};
    opens(&f, false);
    leave_journal(f.path);
    ck_assert_int_eq(chown(f.path, STRANGER, STRANGER), 0);
    ck_assert_int_eq(chown(beside(&f, ".lock"), STRANGER, STRANGER), 0);
    ck_assert_int_eq(chown(beside(&f, "-journal"), STRANGER, STRANGER), 0);
    ck_assert_int_eq(stat(beside(&f, "-journal"), &before), 0);
    ck_assert_int_gt(before.st_size, 0);
    ck_assert_int_lt(state_open_read_only(&s, f.path, "articles", &err), 0);
    ck_assert_int_eq(stat(beside(&f, "-journal"), &after), 0);
    ck_assert_int_eq(before.st_size, after.st_size);
    ck_assert_msg(strstr(err.hint, "as that user") != NULL, "%s (%s)", err.message, err.hint);
    statefile_remove(&f);
}
END_TEST

SUITE_MAIN("state/trust", a_state_file_of_another_user_is_refused_by_name_and_root_may_read_it,
           root_does_not_roll_back_the_journal_of_another_user,
           a_journal_that_somebody_else_left_beside_the_file_is_refused,
           a_state_file_that_others_may_write_is_refused,
           a_directory_in_which_others_may_replace_the_file_is_refused,
           a_dangling_link_in_place_of_the_file_is_not_followed,
           a_directory_that_is_a_link_leads_to_its_file,
           a_planted_trigger_or_view_is_refused_by_name,
           a_connection_refuses_what_a_state_file_never_needs)
