/* SPDX-License-Identifier: Apache-2.0 */
/* Opens the state file: checks owner and integrity, applies migrations, adds the pipeline's row. */
#include "rowferry/state/store.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "database.h"
#include "rowferry/base/buf.h"
#include "rowferry/base/embed.h"
#include "rowsum.h"
#include "trust.h"

#define APPLICATION_ID 0x726f7766 /* "rowf" */
#define BUSY_MS 10000
#define PATH_MAX_BYTES 16384
#define FREE_MAX_BYTES (4 << 20)
#define CHECK_MAX_BYTES 67108864 /* a larger file is not checked at each start */

/* Returns the number of the last migration. */
static int64_t store_newest_form(void)
{
    int64_t form = 0;
    while (state_sql[form].name != NULL) {
        form++;
    }
    return form;
}

static int store_cannot_use(const char *path, int cause, struct err *err)
{
    bool full = cause == ENOSPC || cause == EDQUOT;
    bool later = full || cause == EMFILE || cause == ENFILE;
    err_set(err, later ? ERR_TRANSIENT : ERR_STATE, "could not open \"%s\": %s", path,
            strerror(cause));
    return err_hint(err, cause == ENOENT ? "create the directory, or set state.path"
                         : full          ? "free space on its disk and run again"
                         : later         ? "run again later"
                                 : "let this user read and write its folder, or set state.path");
}

static char *store_lock_path(const char *path)
{
    struct buf text;
    buf_init(&text, PATH_MAX_BYTES);
    buf_printf(&text, "%s.lock", path);
    return buf_detach(&text);
}

static int store_open_lock(struct state *s, struct err *err)
{
    char *path = store_lock_path(s->path);
    int flags = s->read_only ? O_RDONLY : O_RDWR | O_CREAT;
    s->lock_fd = open(path, flags | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600);
    int result = s->lock_fd >= 0 ? trust_lock(s->lock_fd, path, s->read_only, err)
                 : !s->read_only ? store_cannot_use(path, errno, err)
                                 : 0;
    free(path);
    return result;
}

static void store_push_escaped(struct buf *out, const char *path)
{
    for (; *path != '\0'; path++) {
        if (strchr("?#%", *path) != NULL) {
            buf_printf(out, "%%%02X", (unsigned)(unsigned char)*path);
        } else {
            buf_push_char(out, *path);
        }
    }
}

/* Returns the URI of the database. A new file gets the mode of the lock file (0600). Creating it
 * here with open() and closing it would drop the locks of this process's other connections. */
static char *store_database_uri(const char *path, bool read_only)
{
    struct buf uri;
    buf_init(&uri, PATH_MAX_BYTES);
    buf_push_text(&uri, path[0] == '/' ? "file://" : "file:");
    store_push_escaped(&uri, path);
    if (!read_only) {
        buf_push_text(&uri, "?modeof=");
        store_push_escaped(&uri, path);
        buf_push_text(&uri, ".lock");
    }
    return buf_detach(&uri);
}

static int store_execute(struct state *s, const char *sql, struct err *err)
{
    return sqlite3_exec(s->db, sql, NULL, NULL, NULL) == SQLITE_OK ? 0 : database_error(s, err);
}

/* Runs the statement up to its first row. The caller finalizes it, also if this fails. */
static int store_first_row(struct state *s, const char *sql, sqlite3_stmt **row, struct err *err)
{
    *row = NULL;
    return sqlite3_prepare_v2(s->db, sql, -1, row, NULL) == SQLITE_OK &&
                   sqlite3_step(*row) == SQLITE_ROW
               ? 0
               : database_error(s, err);
}

static int store_connect_database(struct state *s, struct err *err)
{
    char *path = trust_path(s->path);
    bool foreign = s->read_only && trust_is_foreign(path);
    int flags = (foreign ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE) | SQLITE_OPEN_URI |
                SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_NOFOLLOW;
    char *uri = store_database_uri(path, s->read_only);
    /* read-only also opens for writing: after a crash the journal must be rolled back */
    int creates = s->read_only || s->known ? 0 : SQLITE_OPEN_CREATE;
    int code = sqlite3_open_v2(uri, &s->db, flags | creates, NULL);
    free(uri);
    free(path);
    if (code != SQLITE_OK) {
        return database_error(s, err);
    }
    if (trust_connection(s->db) != SQLITE_OK || rowsum_register(s->db) != SQLITE_OK) {
        return database_error(s, err);
    }
    sqlite3_extended_result_codes(s->db, 1);
    sqlite3_busy_timeout(s->db, BUSY_MS);
    if (!s->read_only && sqlite3_db_readonly(s->db, "main") == 1) {
        err_set(err, ERR_STATE, "cannot write state file \"%s\": it is read-only", s->path);
        return err_hint(err, "let this user write the file, or set state.path");
    }
    return store_execute(s,
                         s->read_only
                             ? "pragma query_only = on; pragma cell_size_check = on"
                             : "pragma journal_mode = truncate; pragma synchronous = full;pragma "
                               "cell_size_check = on; pragma foreign_keys = on",
                         err);
}

struct form {
    int64_t application;
    int64_t form;
    int64_t objects; /* tables and indices: 0 in a new file */
};

/* A single statement reads a consistent state, even while another process applies migrations. */
static int store_read_form(struct state *s, struct form *out, struct err *err)
{
    static const char sql[] = "select application_id, user_version, (select count(*) from "
                              "sqlite_schema) from pragma_application_id, pragma_user_version";
    sqlite3_stmt *row;
    int result = store_first_row(s, sql, &row, err);
    *out = (struct form){0};
    if (result == 0) {
        out->application = sqlite3_column_int64(row, 0);
        out->form = sqlite3_column_int64(row, 1);
        out->objects = sqlite3_column_int64(row, 2);
    }
    sqlite3_finalize(row);
    return result;
}

static bool store_is_new(const struct form *form)
{
    return form->application == 0 && form->form == 0 && form->objects == 0;
}

/* Checks that the file belongs to this program, in this or an earlier version, and has no other
 * triggers. */
static int store_check_form(const struct state *s, const struct form *form, struct err *err)
{
    if (form->application != APPLICATION_ID) {
        err_set(err, ERR_STATE, "file \"%s\" is not a state file: it is another program's database",
                s->path);
        return err_hint(err, "set state.path to a file of its own");
    }
    if (form->form < 1) {
        return database_damaged(s, "it has no schema version", err);
    }
    if (form->form > store_newest_form()) {
        err_set(err, ERR_STATE,
                "state file \"%s\" was written by a newer version: its schema version is %lld, "
                "this program knows %lld",
                s->path, (long long)form->form, (long long)store_newest_form());
        return err_hint(
            err, "use that version, or rename the file: the next sync "
                 "continues from the position that the source keeps, else rebuilds the index");
    }
    return trust_schema(s, err);
}

/* Deleted rows leave free pages in the file. If most of a large file is free, it is rewritten
 * without them; otherwise it would keep its size after a million dead letters. If that fails
 * because another process uses it or the disk is full, it is done at a later start. */
static void store_give_room_back(struct state *s, int64_t bytes, int64_t free_bytes)
{
    if (!s->read_only && free_bytes > FREE_MAX_BYTES && free_bytes > bytes / 2) {
        (void)sqlite3_exec(s->db, "vacuum", NULL, NULL, NULL);
    }
}

/* SQLite reports "ok" for an intact file, else the first error. */
static int store_check_whole(struct state *s, struct err *err)
{
    sqlite3_stmt *row;
    int result = store_first_row(s,
                                 "select page_count * page_size, freelist_count * page_size from "
                                 "pragma_page_count, pragma_page_size, pragma_freelist_count",
                                 &row, err);
    int64_t bytes = result == 0 ? sqlite3_column_int64(row, 0) : 0;
    int64_t free_bytes = result == 0 ? sqlite3_column_int64(row, 1) : 0;
    sqlite3_finalize(row);
    if (result == 0 && bytes <= CHECK_MAX_BYTES) {
        result = store_first_row(s, "pragma quick_check(1)", &row, err);
        if (result == 0 && strcmp(sql_text(row, 0), "ok") != 0) {
            result = database_damaged(s, sql_text(row, 0), err);
        }
        sqlite3_finalize(row);
    }
    if (result == 0) {
        store_give_room_back(s, bytes, free_bytes);
    }
    return result;
}

static int store_apply_migrations(struct state *s, int64_t from, struct err *err)
{
    for (int64_t form = from; form < store_newest_form(); form++) {
        int result = store_execute(s, state_sql[form].text, err);
        if (result != 0) {
            return result;
        }
    }
    char stamp[96];
    snprintf(stamp, sizeof(stamp), "pragma application_id = %d; pragma user_version = %lld",
             APPLICATION_ID, (long long)store_newest_form());
    return store_execute(s, stamp, err);
}

/* Checks the version again inside the transaction, because two processes may open a new file. */
static int store_migrate(struct state *s, struct err *err)
{
    int result = transaction_begin(s, err);
    if (result != 0) {
        return result;
    }
    struct form form;
    result = store_read_form(s, &form, err);
    if (result == 0 && !store_is_new(&form)) {
        result = store_check_form(s, &form, err);
    }
    if (result == 0 && form.form < store_newest_form()) {
        result = store_apply_migrations(s, form.form, err);
    }
    return transaction_end(s, result, err);
}

/* sqlite3_backup reports errors on its destination. */
static int store_copy_to_memory(struct state *s, struct err *err)
{
    sqlite3 *file = s->db;
    s->db = NULL;
    int code =
        sqlite3_open_v2(":memory:", &s->db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL);
    if (code == SQLITE_OK) {
        sqlite3_backup *backup = sqlite3_backup_init(s->db, "main", file, "main");
        if (backup != NULL) {
            (void)sqlite3_backup_step(backup, -1);
            (void)sqlite3_backup_finish(backup);
        }
        code = sqlite3_errcode(s->db);
    }
    sqlite3_close(file);
    if (code == SQLITE_OK) {
        code = trust_connection(s->db);
    }
    return code == SQLITE_OK && rowsum_register(s->db) == SQLITE_OK ? 0 : database_error(s, err);
}

/* A reader does not migrate the file, but its statements need the newest version, also after an
 * upgrade. So it reads a migrated copy. */
static int store_read_as_newest(struct state *s, struct err *err)
{
    struct form form;
    int result = store_copy_to_memory(s, err);
    if (result == 0) {
        result = store_read_form(s, &form, err);
    }
    if (result == 0 && form.form < store_newest_form()) { /* else a sync was faster */
        result = store_apply_migrations(s, form.form, err);
    }
    return result == 0 ? store_execute(s, "pragma query_only = on", err) : result;
}

static int store_find_pipeline(struct state *s, struct err *err)
{
    return sql_number(s, SQL_PIPELINE_FIND, BIND(STRING(s->pipeline)), &s->id, err);
}

static int store_enter_pipeline(struct state *s, struct err *err)
{
    int result = store_find_pipeline(s, err);
    if (result != 0 || s->id != 0 || s->read_only) {
        return result;
    }
    if (s->known) {
        return database_replaced(s, err); /* it was written a moment ago and is missing now */
    }
    result = sql_run(s, SQL_PIPELINE_ADD, BIND(STRING(s->pipeline)), err);
    return result == 0 ? store_find_pipeline(s, err) : result;
}

/* Uses a separate connection that is closed again. SQLite knows about it, so closing it does not
 * drop other connections' locks. */
static int store_look_at_form(const struct state *s, struct err *err)
{
    struct state reader = {.path = s->path, .read_only = true};
    struct form form;
    int result = store_connect_database(&reader, err);
    if (result == 0) {
        result = store_read_form(&reader, &form, err);
    }
    if (result == 0 && !store_is_new(&form)) {
        result = store_check_form(&reader, &form, err);
    }
    sqlite3_close(reader.db);
    return result;
}

/* Leaves nothing beside another program's file: the lock file is created only after this check. */
static int store_expect_ours(const struct state *s, struct err *err)
{
    struct stat at;
    char *lock = store_lock_path(s->path);
    bool locked = access(lock, F_OK) == 0;
    free(lock);
    bool nothing = stat(s->path, &at) != 0 || at.st_size == 0;
    return s->read_only || locked || nothing ? 0 : store_look_at_form(s, err);
}

/* Returns 1 if it is ready, 0 if it is read-only and still empty. */
static int store_open_state(struct state *s, struct err *err)
{
    struct form form;
    int result = trust_files(s->path, s->read_only, err);
    if (result == 0) {
        result = store_expect_ours(s, err);
    }
    if (result == 0) {
        result = store_open_lock(s, err);
    }
    if (result == 0) {
        result = store_connect_database(s, err);
    }
    if (result == 0) {
        result = store_read_form(s, &form, err);
    }
    if (result == 0 && store_is_new(&form)) {
        if (s->read_only) {
            return 0;
        }
        result = s->known ? database_replaced(s, err) : store_migrate(s, err);
    } else if (result == 0) {
        result = store_check_form(s, &form, err);
        if (result == 0 && !s->examined) {
            result = store_check_whole(s, err);
        }
        if (result == 0 && form.form < store_newest_form()) {
            result = s->read_only ? store_read_as_newest(s, err) : store_migrate(s, err);
        }
    }
    if (result == 0) {
        result = store_enter_pipeline(s, err);
    }
    return result == 0 ? 1 : result;
}

static struct state *store_new_state(const char *path, const char *pipeline, bool read_only)
{
    struct state *s = mem_zero(1, sizeof(*s));
    s->path = text_copy(path);
    s->pipeline = text_copy(pipeline);
    s->read_only = read_only;
    s->lock_fd = -1;
    return s;
}

static int store_open_to_write(struct state **out, const char *path, const char *pipeline,
                               bool known, struct err *err)
{
    struct stat ignored;
    *out = NULL;
    struct state *s = store_new_state(path, pipeline, false);
    s->known = known;
    bool gone = known && stat(path, &ignored) != 0 && errno == ENOENT;
    int result = gone ? database_replaced(s, err) : store_open_state(s, err);
    if (result < 0) {
        state_close(s);
        return result;
    }
    *out = s;
    return 0;
}

int state_open(struct state **out, const char *path, const char *pipeline, struct err *err)
{
    return store_open_to_write(out, path, pipeline, false, err);
}

int state_open_known(struct state **out, const char *path, const char *pipeline, struct err *err)
{
    return store_open_to_write(out, path, pipeline, true, err);
}

static int store_open_to_read(struct state **out, const char *path, const char *pipeline,
                              bool examined, struct err *err)
{
    *out = NULL;
    struct stat ignored;
    int result = trust_files(path, true, err);
    if (result == 0 && stat(path, &ignored) != 0) {
        return errno == ENOENT ? 0 : store_cannot_use(path, errno, err);
    }
    if (result < 0) {
        return result;
    }
    struct state *s = store_new_state(path, pipeline, true);
    s->examined = examined;
    result = store_open_state(s, err);
    if (result <= 0) {
        state_close(s);
        return result;
    }
    *out = s;
    return 0;
}

int state_open_read_only(struct state **out, const char *path, const char *pipeline,
                         struct err *err)
{
    return store_open_to_read(out, path, pipeline, false, err);
}

int state_open_again(struct state **out, const char *path, const char *pipeline, struct err *err)
{
    return store_open_to_read(out, path, pipeline, true, err);
}

int state_read_at_once(struct state *s, struct err *err)
{
    return store_execute(s, "begin", err);
}

void state_close(struct state *s)
{
    if (s == NULL) {
        return;
    }
    for (size_t i = 0; i < SQL_COUNT; i++) {
        sqlite3_finalize(s->statements[i]);
    }
    for (size_t i = 0; i < sizeof(s->rows) / sizeof(s->rows[0][0]); i++) {
        sqlite3_finalize(s->rows[i / PIPELINE_ROW_ACTIONS][i % PIPELINE_ROW_ACTIONS]);
    }
    sqlite3_close(s->db);
    if (s->lock_fd >= 0) {
        lock_release(s);
        close(s->lock_fd);
    }
    free(s->path);
    free(s->pipeline);
    free(s);
}
