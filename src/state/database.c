/* SPDX-License-Identifier: Apache-2.0 */
/* Statements, transactions and errors of one SQLite connection. */
#include "database.h"

#include <errno.h>
#include <string.h>

static const char *const texts[SQL_COUNT] = {
#define STATEMENT(id, text) [id] = (text),
    STATEMENTS(STATEMENT)
#undef STATEMENT
};

int database_damaged(const struct state *s, const char *what, struct err *err)
{
    err_set(err, ERR_STATE, "state file \"%s\" is damaged: %s", s->path, what);
    return err_hint(err, "rename the file: the next sync continues from the "
                         "position that the source keeps, else rebuilds the index");
}

int database_replaced(const struct state *s, struct err *err)
{
    err_set(err, ERR_STATE, "state file \"%s\" was removed or replaced while it was in use",
            s->path);
    return err_hint(err, "leave the file in its place, and run again: the next sync continues from "
                         "the position that the source keeps");
}

static int database_no_room(const struct state *s, const char *reason, struct err *err)
{
    err_set(err, ERR_TRANSIENT, "could not write state file \"%s\": %s", s->path, reason);
    return err_hint(err, "free space on its disk and run again: nothing that was settled is lost");
}

static int database_not_opened(const struct state *s, bool later, const char *reason,
                               struct err *err)
{
    err_set(err, later ? ERR_TRANSIENT : ERR_STATE, "could not open state file \"%s\": %s", s->path,
            reason);
    return err_hint(
        err, later ? "run again later"
                   : "let this user read and write the file and its folder, or set state.path");
}

/* Reports the system's error for the file, because SQLite only reports that it failed. SQLite opens
 * a journal to read only, if no descriptor was free to open it for writing and one has become free
 * since; the first write then fails with EBADF. */
static int database_failed_io(const struct state *s, struct err *err)
{
    int cause = sqlite3_system_errno(s->db);
    const char *reason = cause != 0 ? strerror(cause) : sqlite3_errmsg(s->db);
    if (cause == ENOSPC || cause == EDQUOT || cause == EFBIG) {
        return database_no_room(s, reason, err);
    }
    if (cause == ENOENT) {
        return database_replaced(s, err);
    }
    if (cause == EBADF) {
        return database_not_opened(s, true, strerror(EMFILE), err);
    }
    err_set(err, ERR_STATE, "could not read or write \"%s\": %s", s->path, reason);
    return err_hint(err, "check its disk, or set state.path to a file on another one");
}

static int database_cannot_open(const struct state *s, struct err *err)
{
    int cause = sqlite3_system_errno(s->db);
    return database_not_opened(s, cause == EMFILE || cause == ENFILE,
                               cause != 0 ? strerror(cause) : sqlite3_errmsg(s->db), err);
}

static int database_cannot_write(const struct state *s, struct err *err)
{
    err_set(err, ERR_STATE, "cannot write state file \"%s\": %s", s->path, sqlite3_errmsg(s->db));
    return err_hint(err, "let this user write the file and its folder; if it already may, the file "
                         "is damaged: rename it");
}

static int database_in_use(const struct state *s, struct err *err)
{
    err_set(err, ERR_TRANSIENT, "could not use state file \"%s\": it is busy", s->path);
    return err_hint(err, "another program holds it open: end that one, or run again later");
}

/* Only the file's own user may roll its journal back. */
static int database_unfinished(const struct state *s, struct err *err)
{
    err_set(err, ERR_STATE,
            "state file \"%s\" of another user was left in the middle of a transaction", s->path);
    return err_hint(err,
                    "run any command as that user, which repairs it: sudo -u USER rowferry status");
}

static int database_classify(const struct state *s, int code, struct err *err)
{
    if (code == SQLITE_READONLY_DBMOVED) {
        return database_replaced(s, err);
    }
    if (code == SQLITE_READONLY_ROLLBACK || code == SQLITE_READONLY_RECOVERY) {
        return database_unfinished(s, err);
    }
    switch (code & 0xff) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
        return database_in_use(s, err);
    case SQLITE_FULL:
        return database_no_room(s, "no space left", err);
    case SQLITE_NOMEM:
        return err_set(err, ERR_TRANSIENT, "could not use state file \"%s\": out of memory",
                       s->path);
    case SQLITE_IOERR:
        return database_failed_io(s, err);
    case SQLITE_CANTOPEN:
        return database_cannot_open(s, err);
    case SQLITE_READONLY:
    case SQLITE_PERM:
    case SQLITE_AUTH:
        return database_cannot_write(s, err);
    case SQLITE_ERROR: /* the statements are fixed, so one of their tables or columns is missing */
    case SQLITE_CONSTRAINT: /* they violate a constraint only if another program changed a row */
    case SQLITE_MISMATCH:
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
        return database_damaged(s, sqlite3_errmsg(s->db), err);
    default:
        return err_set(err, ERR_INTERNAL, "state file \"%s\": %s", s->path, sqlite3_errmsg(s->db));
    }
}

int database_error(const struct state *s, struct err *err)
{
    int code = sqlite3_extended_errcode(s->db);
    int class = database_classify(s, code, err);
    if (err != NULL) {
        err->sqlite_code = code;
    }
    return class;
}

/* The results of binding are ignored. A number or a borrowed text needs no memory, and the
 * parameters are those of the statements. */
void sql_bind(sqlite3_stmt *statement, int index, const struct sql_value *value)
{
    switch (value->type) {
    case SQL_INTEGER:
        sqlite3_bind_int64(statement, index, value->integer);
        break;
    case SQL_REAL:
        sqlite3_bind_double(statement, index, value->real);
        break;
    case SQL_STRING:
        sqlite3_bind_text(statement, index, value->text.data, -1, SQLITE_STATIC);
        break;
    case SQL_SPAN:
        sqlite3_bind_text64(statement, index, value->text.data != NULL ? value->text.data : "",
                            value->text.len, SQLITE_STATIC, SQLITE_UTF8);
        break;
    case SQL_EMPTY_BLOB:
        sqlite3_bind_zeroblob(statement, index, 0);
        break;
    case SQL_END:
        break;
    }
}

int sql_prepare(struct state *s, sqlite3_stmt **statement, const char *text, struct err *err)
{
    if (*statement == NULL && sqlite3_prepare_v3(s->db, text, -1, SQLITE_PREPARE_PERSISTENT,
                                                 statement, NULL) != SQLITE_OK) {
        return database_error(s, err);
    }
    if (sqlite3_bind_parameter_count(*statement) > 0) {
        sqlite3_bind_int64(*statement, 1, s->id);
    }
    return 0;
}

static int sql_prepare_with(struct state *s, enum sql_id id, const struct sql_value *values,
                            struct err *err)
{
    int result = sql_prepare(s, &s->statements[id], texts[id], err);
    for (int i = 0; result == 0 && values != NULL && values[i].type != SQL_END; i++) {
        sql_bind(s->statements[id], i + 2, &values[i]);
    }
    return result;
}

void sql_end(sqlite3_stmt *statement)
{
    sqlite3_reset(statement);
    sqlite3_clear_bindings(statement);
}

int sql_step(struct state *s, sqlite3_stmt *statement, struct err *err)
{
    int code = sqlite3_step(statement);
    if (code == SQLITE_ROW) {
        return 1;
    }
    int result = code == SQLITE_DONE ? 0 : database_error(s, err);
    sql_end(statement);
    return result;
}

int sql_query(struct state *s, enum sql_id id, const struct sql_value *values, sqlite3_stmt **row,
              struct err *err)
{
    int result = sql_prepare_with(s, id, values, err);
    *row = s->statements[id];
    return result == 0 ? sql_step(s, *row, err) : result;
}

int sql_number(struct state *s, enum sql_id id, const struct sql_value *values, int64_t *number,
               struct err *err)
{
    sqlite3_stmt *row;
    int result = sql_query(s, id, values, &row, err);
    *number = result > 0 ? sqlite3_column_int64(row, 0) : 0;
    if (result > 0) {
        sql_end(row);
        result = 0;
    }
    return result;
}

int sql_finish(struct state *s, sqlite3_stmt *statement, struct err *err)
{
    int result = sql_step(s, statement, err);
    if (result > 0) {
        sql_end(statement);
        return err_set(err, ERR_INTERNAL, "state file \"%s\": statement returned an unexpected row",
                       s->path);
    }
    return result;
}

int sql_run(struct state *s, enum sql_id id, const struct sql_value *values, struct err *err)
{
    int result = sql_prepare_with(s, id, values, err);
    return result == 0 ? sql_finish(s, s->statements[id], err) : result;
}

int sql_run_one(struct state *s, enum sql_id id, const struct sql_value *values, const char *what,
                struct err *err)
{
    int result = sql_run(s, id, values, err);
    if (result == 0 && sqlite3_changes(s->db) != 1) {
        return err_set(err, ERR_STATE, "state file \"%s\" has no %s of pipeline \"%s\"", s->path,
                       what, s->pipeline);
    }
    return result;
}

/* Returns null only if the column is NULL, never for lack of memory, which would make a position
 * look absent. */
static const char *database_text_of(sqlite3_stmt *statement, int column)
{
    if (sqlite3_column_type(statement, column) == SQLITE_NULL) {
        return NULL;
    }
    const unsigned char *text = sqlite3_column_text(statement, column);
    if (text == NULL) {
        mem_exhausted();
    }
    return (const char *)text;
}

const char *sql_text(sqlite3_stmt *statement, int column)
{
    const char *text = database_text_of(statement, column);
    return text != NULL ? text : "";
}

char *sql_copy(sqlite3_stmt *statement, int column)
{
    const char *text = database_text_of(statement, column);
    return text != NULL ? text_copy(text) : NULL;
}

/* SQLite may have rolled back by itself, for example on a full disk. */
static void database_roll_back(struct state *s)
{
    struct err ignored;
    if (sqlite3_get_autocommit(s->db) == 0) {
        int rc = sql_run(s, SQL_ROLLBACK, NULL, &ignored);
        (void)rc;
    }
}

/* An error may occur after the transaction has begun, so roll back. */
int transaction_begin(struct state *s, struct err *err)
{
    int rc = sql_run(s, SQL_BEGIN, NULL, err);
    if (rc != 0) {
        database_roll_back(s);
    }
    return rc;
}

int transaction_end(struct state *s, int result, struct err *err)
{
    if (result == 0) {
        result = sql_run(s, SQL_COMMIT, NULL, err);
    }
    if (result != 0) {
        database_roll_back(s);
    }
    return result;
}
