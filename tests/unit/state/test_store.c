/* SPDX-License-Identifier: Apache-2.0 */
/* Opening a file that is new, existing, damaged, foreign, newer, or in the wrong place. */
#include "rowferry/state/store.h"

#include <errno.h>

#include "rowferry/base/embed.h"
#include "rowferry/state/guard_stop.h"
#include "rowferry/state/pause.h"
#include "rowsum.h"
#include "statefile.h"

static void sql(const char *path, const char *text)
{
    sqlite3 *db;
    ck_assert_int_eq(sqlite3_open(path, &db), SQLITE_OK);
    ck_assert_int_eq(sqlite3_exec(db, text, NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
}

static void refused(const char *path, const char *message, const char *hint)
{
    struct state *s;
    struct err err = {0};
    ck_assert_int_eq(state_open(&s, path, "articles", &err), ERR_STATE);
    ck_assert_ptr_null(s);
    ck_assert_msg(strstr(err.message, message) != NULL, "%s", err.message);
    ck_assert_msg(strstr(err.message, path) != NULL, "%s", err.message);
    ck_assert_msg(strstr(err.hint, hint) != NULL, "%s", err.hint);
}

static size_t read_file(const char *path, unsigned char **bytes)
{
    FILE *file = fopen(path, "rb");
    ck_assert_ptr_nonnull(file);
    *bytes = mem_zero(1 << 20, 1);
    size_t len = fread(*bytes, 1, 1 << 20, file);
    fclose(file);
    return len;
}

static void write_file(const char *path, const void *bytes, size_t len)
{
    FILE *file = fopen(path, "wb");
    ck_assert_ptr_nonnull(file);
    ck_assert_uint_eq(fwrite(bytes, 1, len, file), len);
    fclose(file);
}

START_TEST(a_new_file_is_made_for_its_owner_only_and_opens_again)
{
    struct statefile f = statefile_make();
    umask(0);
    struct err err = {0};
    struct state *s = statefile_open(&f, "articles");
    statefile_begin(s, 1);
    OK(statefile_position(s, "7:7:", 5, &err));
    state_close(s);
    char lock[128];
    snprintf(lock, sizeof(lock), "%s.lock", f.path);
    struct stat info;
    ck_assert_int_eq(stat(f.path, &info), 0);
    ck_assert_uint_eq(info.st_mode & 0777, 0600);
    ck_assert_int_eq(stat(lock, &info), 0);
    ck_assert_uint_eq(info.st_mode & 0777, 0600);

    s = statefile_open(&f, "articles");
    struct checkpoint c;
    OK(checkpoint_load(s, &c, &err));
    ck_assert_str_eq(c.position, "7:7:");
    checkpoint_release(&c);
    state_close(s);
    statefile_remove(&f);
}
END_TEST

START_TEST(a_commit_is_a_full_sync_of_a_rollback_journal)
{
    struct statefile f = statefile_make();
    sql(f.path, "pragma journal_mode = wal");
    struct state *s = statefile_open(&f, "articles");
    sqlite3_stmt *row;
    ck_assert_int_eq(sqlite3_prepare_v2(s->db, "pragma journal_mode", -1, &row, NULL), SQLITE_OK);
    ck_assert_int_eq(sqlite3_step(row), SQLITE_ROW);
    ck_assert_str_eq(sql_text(row, 0), "truncate");
    sqlite3_finalize(row);
    ck_assert_int_eq(sqlite3_prepare_v2(s->db, "pragma synchronous", -1, &row, NULL), SQLITE_OK);
    ck_assert_int_eq(sqlite3_step(row), SQLITE_ROW);
    ck_assert_int_eq(sqlite3_column_int(row, 0), 2);
    sqlite3_finalize(row);
    state_close(s);
    statefile_remove(&f);
}
END_TEST

START_TEST(pipelines_of_one_file_do_not_see_each_other)
{
    struct statefile f = statefile_make();
    struct err err = {0};
    struct state *a = statefile_open(&f, "articles");
    struct state *b = statefile_open(&f, "authors");
    statefile_begin(a, 1);
    OK(statefile_position(a, "a", 1, &err));
    struct checkpoint c;
    OK(checkpoint_load(b, &c, &err));
    ck_assert_int_eq(c.phase, GENERATION_NONE);
    ck_assert_ptr_null(c.position);
    checkpoint_release(&c);
    state_close(a);
    state_close(b);
    statefile_remove(&f);
}
END_TEST

START_TEST(processes_that_meet_a_new_file_all_get_it)
{
    struct statefile f = statefile_make();
    enum { PROCESSES = 8 };
    pid_t pids[PROCESSES];
    for (int i = 0; i < PROCESSES; i++) {
        pids[i] = fork();
        ck_assert_int_ge(pids[i], 0);
        if (pids[i] == 0) {
            struct state *s;
            struct err err = {0};
            int result = state_open(&s, f.path, i % 2 == 0 ? "articles" : "authors", &err);
            state_close(s);
            _exit(result == 0 ? 0 : 1);
        }
    }
    for (int i = 0; i < PROCESSES; i++) {
        int status;
        ck_assert_int_eq(waitpid(pids[i], &status, 0), pids[i]);
        ck_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    }
    statefile_remove(&f);
}
END_TEST

/* A second process opens and creates the file right before one statement of the first. */
static struct {
    const char *path;
    int statement; /* counted down; at 0 the second one opens it */
    bool came;
} meeting;

static int another_comes(unsigned event, void *arg, void *statement, void *text)
{
    (void)event, (void)arg, (void)text;
    if (meeting.path == NULL || meeting.came ||
        sqlite3_txn_state(sqlite3_db_handle(statement), "main") != SQLITE_TXN_NONE ||
        meeting.statement-- > 0) {
        return 0;
    }
    meeting.came = true;
    struct err err = {0};
    struct state *other;
    OK(state_open(&other, meeting.path, "authors", &err));
    state_close(other);
    return 0;
}

static int watch_statements(sqlite3 *db, char **message, const void *api)
{
    (void)message, (void)api;
    return sqlite3_trace_v2(db, SQLITE_TRACE_STMT, another_comes, NULL);
}

START_TEST(a_file_that_another_makes_before_any_statement_is_met)
{
    ck_assert_int_eq(sqlite3_auto_extension((void (*)(void))watch_statements), SQLITE_OK);
    int met = 0;
    do {
        struct statefile f = statefile_make();
        write_file(f.path, "", 0); /* between the first one's open and first commit */
        meeting.path = f.path;
        meeting.statement = met;
        meeting.came = false;
        struct state *s = statefile_open(&f, "articles");
        meeting.path = NULL;
        state_close(s);
        statefile_remove(&f);
        met += meeting.came;
    } while (meeting.came);
    ck_assert_int_ge(met, 2); /* before the version is read, and after it */
    sqlite3_reset_auto_extension();
}
END_TEST

START_TEST(a_zero_length_file_is_a_new_one)
{
    struct statefile f = statefile_make();
    write_file(f.path, "", 0);
    struct err err = {0};
    struct state *s;
    OK(state_open_read_only(&s, f.path, "articles", &err));
    ck_assert_ptr_null(s);
    s = statefile_open(&f, "articles");
    statefile_begin(s, 1);
    state_close(s);
    statefile_remove(&f);
}
END_TEST

START_TEST(a_file_that_is_no_database_says_what_to_do)
{
    struct statefile f = statefile_make();
    char text[2000];
    memset(text, 'x', sizeof(text));
    write_file(f.path, text, sizeof(text));
    refused(f.path, "is damaged: file is not a database", "rename the file");
    write_file(f.path, text, 10);
    refused(f.path, "is damaged: file is not a database", "rename the file");
    statefile_remove(&f);
}
END_TEST

START_TEST(a_foreign_database_is_left_alone)
{
    struct statefile f = statefile_make();
    sql(f.path, "create table mine (a); insert into mine values (1)");
    refused(f.path, "another program's database", "a file of its own");
    sql(f.path, "pragma application_id = 42; pragma user_version = 900");
    refused(f.path, "another program's database", "a file of its own");
    sql(f.path, "select a from mine");
    statefile_remove(&f);
}
END_TEST

START_TEST(nothing_is_left_beside_a_file_that_is_refused)
{
    struct statefile f = statefile_make();
    char lock[128];
    snprintf(lock, sizeof(lock), "%s.lock", f.path);
    write_file(f.path, "nobody:x:65534:65534::/:/bin/false\n", 35);
    refused(f.path, "is damaged: file is not a database", "rename the file");
    ck_assert_int_ne(access(lock, F_OK), 0);
    ck_assert_int_eq(unlink(f.path), 0);
    sql(f.path, "create table mine (a)");
    refused(f.path, "another program's database", "a file of its own");
    ck_assert_int_ne(access(lock, F_OK), 0);
    ck_assert_int_eq(unlink(f.path), 0);
    state_close(statefile_open(&f, "articles"));
    ck_assert_int_eq(unlink(lock), 0);
    state_close(statefile_open(&f, "articles"));
    ck_assert_int_eq(access(lock, F_OK), 0);
    statefile_remove(&f);
}
END_TEST

START_TEST(a_newer_file_is_refused)
{
    struct statefile f = statefile_make();
    state_close(statefile_open(&f, "articles"));
    sql(f.path, "pragma user_version = 77");
    refused(f.path, "a newer version: its schema version is 77, this program knows ",
            "use that version");
    statefile_remove(&f);
}
END_TEST

/* Opens and reads everything. Damage may remain undetected, but must not cause any other error. */
static int probe(const char *path, struct err *err)
{
    struct state *s;
    struct checkpoint c = {0};
    int64_t letters;
    int result = state_open(&s, path, "articles", err);
    if (result == 0) {
        result = checkpoint_load(s, &c, err);
    }
    if (result == 0) {
        result = deadletter_count(s, &letters, err);
    }
    checkpoint_release(&c);
    state_close(s);
    return result;
}

START_TEST(no_damaged_byte_crashes_or_looks_like_another_failure)
{
    struct statefile f = statefile_make();
    struct err err = {0};
    struct state *s = statefile_open(&f, "articles");
    statefile_begin(s, 1);
    OK(statefile_position(s, "7:7:", 5, &err));
    state_close(s);
    unsigned char *bytes;
    size_t len = read_file(f.path, &bytes);
    int found = 0;
    for (size_t at = 0; at < len; at += at < 200 ? 1 : 61) {
        bytes[at] ^= 0xff;
        write_file(f.path, bytes, len);
        int result = probe(f.path, &err);
        ck_assert_msg(result == 0 || result == ERR_STATE, "byte %zu: %s", at, err.message);
        found += result != 0;
        bytes[at] ^= 0xff;
    }
    ck_assert_int_gt(found, 100);
    free(bytes);
    statefile_remove(&f);
}
END_TEST

START_TEST(a_file_cut_short_is_damaged)
{
    struct statefile f = statefile_make();
    state_close(statefile_open(&f, "articles"));
    unsigned char *bytes;
    size_t len = read_file(f.path, &bytes);
    ck_assert_uint_gt(len, 8192);
    for (size_t kept = 4096; kept < len; kept += 4096) {
        write_file(f.path, bytes, kept);
        refused(f.path, "is damaged", "rename the file");
    }
    free(bytes);
    statefile_remove(&f);
}
END_TEST

START_TEST(a_missing_directory_is_named)
{
    struct statefile f = statefile_make();
    char path[160];
    snprintf(path, sizeof(path), "%s/none/state.db", f.directory);
    refused(path, "No such file or directory", "create the directory");
    struct state *s;
    struct err err = {0};
    OK(state_open_read_only(&s, path, "articles", &err));
    ck_assert_ptr_null(s);
    statefile_remove(&f);
}
END_TEST

START_TEST(a_directory_in_place_of_the_file_is_named)
{
    struct statefile f = statefile_make();
    ck_assert_int_eq(mkdir(f.path, 0700), 0);
    refused(f.path, "it is a directory", "state.path");
    statefile_remove(&f);
}
END_TEST

/* Tests a pipe instead of a real device, which could be harmed. */
START_TEST(a_device_in_place_of_the_file_is_refused_and_keeps_its_mode)
{
    struct statefile f = statefile_make();
    struct stat at;
    ck_assert_int_eq(mkfifo(f.path, 0666), 0);
    ck_assert_int_eq(chmod(f.path, 0666), 0);
    refused(f.path, "other special file", "state.path");
    ck_assert_int_eq(stat(f.path, &at), 0);
    ck_assert_int_eq(at.st_mode & 0777, 0666);
    char lock[128];
    snprintf(lock, sizeof(lock), "%s.lock", f.path);
    ck_assert_int_ne(access(lock, F_OK), 0);
    statefile_remove(&f);
}
END_TEST

/* Opens the file in a process without root privileges. Returns 0 if its message differs. */
static int told_without_privileges(const char *path, const char *message)
{
    pid_t child = fork();
    ck_assert_int_ge(child, 0);
    if (child == 0) {
        struct state *s;
        struct err err = {0};
        if (geteuid() == 0 && setuid(65534) != 0) {
            _exit(0);
        }
        int result = state_open(&s, path, "articles", &err);
        _exit(result == ERR_STATE && strstr(err.message, message) != NULL ? 1 : 0);
    }
    int status;
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 0;
}

START_TEST(a_read_only_file_or_directory_is_named)
{
    struct statefile f = statefile_make();
    state_close(statefile_open(&f, "articles"));
    char lock[128];
    snprintf(lock, sizeof(lock), "%s.lock", f.path);
    ck_assert_int_eq(chmod(f.directory, 0555), 0);
    ck_assert_int_eq(chmod(f.path, 0444), 0);
    ck_assert_int_eq(chmod(lock, 0600), 0);
    if (geteuid() == 0) {
        char command[256];
        snprintf(command, sizeof(command), "chown -R 65534 '%s'", f.directory);
        ck_assert_int_eq(system(command), 0);
    }
    ck_assert(told_without_privileges(f.path, "state #1?.db\": it is read-only"));
    ck_assert_int_eq(unlink(lock) == 0 || errno == EACCES, 1);
    ck_assert_int_eq(chmod(lock, 0444) == 0 || errno == ENOENT, 1);
    ck_assert(told_without_privileges(f.path, "state #1?.db.lock\": Permission denied"));
    ck_assert_int_eq(chmod(f.directory, 0700), 0);
    statefile_remove(&f);
}
END_TEST

START_TEST(a_file_that_goes_away_while_it_is_open_is_named)
{
    struct statefile f = statefile_make();
    struct err err = {0};
    struct state *s = statefile_open(&f, "articles");
    ck_assert_int_eq(unlink(f.path), 0);
    ck_assert_int_eq(statefile_position(s, "9", 1, &err), ERR_STATE);
    ck_assert_msg(strstr(err.message, "was removed or replaced") != NULL, "%s", err.message);
    state_close(statefile_open(&f, "articles"));
    ck_assert_int_eq(statefile_position(s, "9", 1, &err), ERR_STATE);
    ck_assert_msg(strstr(err.message, "was removed or replaced") != NULL, "%s", err.message);
    state_close(s);
    statefile_remove(&f);
}
END_TEST

/* Creates a file like the program's version that ended with this migration. */
static void make_older(const char *path, size_t form)
{
    char stamp[96];
    sqlite3 *db;
    ck_assert_int_eq(sqlite3_open(path, &db), SQLITE_OK);
    ck_assert_int_eq(rowsum_register(db), SQLITE_OK);
    for (size_t i = 0; i < form; i++) {
        ck_assert_int_eq(sqlite3_exec(db, state_sql[i].text, NULL, NULL, NULL), SQLITE_OK);
    }
    snprintf(stamp, sizeof(stamp), "pragma application_id = 1919907686; pragma user_version = %zu;",
             form);
    ck_assert_int_eq(sqlite3_exec(db, stamp, NULL, NULL, NULL), SQLITE_OK);
    ck_assert_int_eq(
        sqlite3_exec(db, "insert into pipeline (name) values ('articles')", NULL, NULL, NULL),
        SQLITE_OK);
    sqlite3_close(db);
}

START_TEST(after_an_upgrade_status_reads_the_file_of_before_and_leaves_it_alone)
{
    for (size_t form = 1; state_sql[form].name != NULL; form++) {
        struct statefile f = statefile_make_in_memory();
        struct err err = {0};
        struct state *s;
        struct guard_stop halt;
        bool known;
        int64_t paused_us;
        unsigned char *before;
        unsigned char *after;
        make_older(f.path, form);
        size_t len = read_file(f.path, &before);
        OK(state_open_read_only(&s, f.path, "articles", &err));
        OK(guard_stop_read(s, &halt, &known, &err));
        OK(pause_read(s, &paused_us, &err));
        ck_assert_int_eq(statefile_position(s, "9", 1, &err), ERR_STATE);
        state_close(s);
        ck_assert_uint_eq(read_file(f.path, &after), len);
        ck_assert_mem_eq(before, after, len);
        state_close(statefile_open(&f, "articles")); /* like the next sync */
        free(before);
        free(after);
        statefile_remove(&f);
    }
}
END_TEST

START_TEST(reading_for_status_neither_creates_nor_changes)
{
    struct statefile f = statefile_make();
    struct err err = {0};
    struct state *s;
    OK(state_open_read_only(&s, f.path, "articles", &err));
    ck_assert_ptr_null(s);
    ck_assert_int_ne(access(f.path, F_OK), 0);
    state_close(statefile_open(&f, "articles"));
    OK(state_open_read_only(&s, f.path, "articles", &err));
    ck_assert_int_eq(statefile_position(s, "9", 1, &err), ERR_STATE);
    ck_assert_ptr_nonnull(strstr(err.message, "cannot write state file"));
    state_close(s);
    OK(state_open_read_only(&s, f.path, "another", &err));
    struct checkpoint c;
    OK(checkpoint_load(s, &c, &err));
    ck_assert_int_eq(c.phase, GENERATION_NONE);
    state_close(s);
    statefile_remove(&f);
}
END_TEST

SUITE_MAIN("state/store", a_new_file_is_made_for_its_owner_only_and_opens_again,
           a_commit_is_a_full_sync_of_a_rollback_journal,
           pipelines_of_one_file_do_not_see_each_other, processes_that_meet_a_new_file_all_get_it,
           a_file_that_another_makes_before_any_statement_is_met, a_zero_length_file_is_a_new_one,
           a_file_that_is_no_database_says_what_to_do, a_foreign_database_is_left_alone,
           nothing_is_left_beside_a_file_that_is_refused, a_newer_file_is_refused,
           no_damaged_byte_crashes_or_looks_like_another_failure, a_file_cut_short_is_damaged,
           a_missing_directory_is_named, a_directory_in_place_of_the_file_is_named,
           a_device_in_place_of_the_file_is_refused_and_keeps_its_mode,
           a_read_only_file_or_directory_is_named, a_file_that_goes_away_while_it_is_open_is_named,
           after_an_upgrade_status_reads_the_file_of_before_and_leaves_it_alone,
           reading_for_status_neither_creates_nor_changes)
