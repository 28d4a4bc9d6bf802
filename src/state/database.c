/* SPDX-License-Identifier: Apache-2.0 */
/* Statements, transactions and errors of one SQLite connection. */
#include "database.h"

#include <errno.h>
#include <string.h>

/* The row of the next generation, and the current generation number; ?1 is the pipeline. */
#define NEXT "(select next from rebuild where pipeline = ?1)"
#define CURRENT_GENERATION "(select generation_number from pipeline where id = ?1)"

/* The filter of dead letters. ?6 is the earliest first_us, ?5 the maximum number of rows. */
#define WANTED_LETTERS                                                                             \
    " and first_us <= ?2 and (?3 is null or error_type = ?3 or instr(reason, ?3) > 0)"             \
    " and (?4 is null or key = ?4)"

static const char *const texts[SQL_COUNT] = {
    [SQL_BEGIN] = "begin immediate",
    [SQL_COMMIT] = "commit",
    [SQL_ROLLBACK] = "rollback",
    [SQL_CHECKPOINT_LOAD] =
        "select phase, generation, index_uuid, mapping_fingerprint, table_fingerprint,"
        " source_identity, position, generation_number, clock_ceiling, settled_at_us, documents,"
        " sum = row_sum(id, name, phase, generation, index_uuid, mapping_fingerprint,"
        " table_fingerprint, source_identity, position, generation_number, clock_ceiling,"
        " settled_at_us, documents)"
        " from pipeline where id = ?1",
    [SQL_SETTLE] = "update pipeline set position = coalesce(?2, position),"
                   " documents = documents + ?3, settled_at_us = case when ?2 is null and ?3 = 0"
                   " then settled_at_us else ?4 end where id = ?1",
    [SQL_RAISE_CEILING] =
        "update pipeline set clock_ceiling = max(clock_ceiling, ?2) where id = ?1",
    [SQL_LOWER_CEILING] =
        "update pipeline set clock_ceiling = min(clock_ceiling, ?2) where id = ?1",
    [SQL_BEGIN_GENERATION] =
        "update pipeline set phase = 1, generation = ?2, generation_number = ?3,"
        " mapping_fingerprint = ?4, table_fingerprint = ?5, source_identity = ?6,"
        " index_uuid = null, position = null, documents = 0"
        " where id = ?1 and generation_number < ?3",
    [SQL_SET_UUID] = "update pipeline set index_uuid = ?2 where id = ?1 and phase > 0",
    [SQL_GO_LIVE] = "update pipeline set phase = 2, settled_at_us = ?2 where id = ?1 and phase > 0",
    [SQL_LETTER_ADD] =
        "insert into dead_letter (pipeline, generation_number, key, kind, reason, http_status,"
        " version, first_us, last_us, attempts, error_type)"
        " values (?1, " CURRENT_GENERATION ", ?2, ?3, ?4, ?5, ?6, ?7, ?7, 1, ?8)"
        " on conflict (pipeline, generation_number, key) do update set kind = excluded.kind,"
        " reason = excluded.reason, http_status = excluded.http_status,"
        " error_type = excluded.error_type, version = excluded.version, last_us = "
        "excluded.last_us, attempts = attempts + 1"
        " where excluded.version >= dead_letter.version",
    [SQL_LETTER_CLEAR] = "delete from dead_letter where pipeline = ?1"
                         " and generation_number = " CURRENT_GENERATION " and key = ?2",
    [SQL_LETTERS_ANY] = "select 1 from dead_letter where pipeline = ?1"
                        " and generation_number = " CURRENT_GENERATION " limit 1",
    [SQL_LETTERS_DROP_UNBORN] =
        "delete from dead_letter where pipeline = ?1 and generation_number ="
        " (select generation_number from pipeline where id = ?1 and phase = 1)",
    [SQL_LETTERS_DROP_FORMER] = "delete from dead_letter where pipeline = ?1"
                                " and generation_number <> " CURRENT_GENERATION,
    [SQL_LETTERS_COUNT] = "select count(*) from dead_letter where pipeline = ?1"
                          " and generation_number = " CURRENT_GENERATION,
    [SQL_LETTERS_EACH] =
        "select key, kind, reason, http_status, version, first_us, last_us, attempts, error_type"
        " from dead_letter where pipeline = ?1 and generation_number = " CURRENT_GENERATION
        " and (first_us, key) > (?6, ?7)" WANTED_LETTERS " order by first_us, key limit ?5",
    [SQL_LETTERS_GROUPS] =
        "select error_type, http_status = 0, count(*), min(first_us), max(last_us)"
        " from dead_letter where pipeline = ?1 and generation_number = " CURRENT_GENERATION
        " and first_us >= ?6" WANTED_LETTERS " group by 1, 2 order by 3 desc, 1, 2 limit ?5",
    [SQL_LETTERS_EXPORT] =
        "select json_object('total', (select count(*) from dead_letter where pipeline = ?1"
        " and generation_number = " CURRENT_GENERATION "), 'letters',"
        " (select json_group_array(json(letter)) from (select json_array(key, kind, reason,"
        " http_status, version, first_us, last_us, attempts, error_type) as letter from dead_letter"
        " where pipeline = ?1 and generation_number = " CURRENT_GENERATION
        " order by first_us, key limit ?2)))",
    [SQL_LETTERS_IMPORT] =
        "insert or ignore into dead_letter (pipeline, generation_number, key, kind, reason,"
        " http_status, version, first_us, last_us, attempts, error_type)"
        " select ?1, " CURRENT_GENERATION ", json_extract(value, '$[0]'),"
        " json_extract(value, '$[1]'), json_extract(value, '$[2]'), json_extract(value, '$[3]'),"
        " json_extract(value, '$[4]'), json_extract(value, '$[5]'), json_extract(value, '$[6]'),"
        " json_extract(value, '$[7]'), coalesce(json_extract(value, '$[8]'), '')"
        " from json_each(?2, '$.letters')",
    [SQL_LETTERS_CUT] =
        "select coalesce(json_extract(?2, '$.total'), 0) - (select count(*) from"
        " dead_letter where pipeline = ?1 and generation_number = " CURRENT_GENERATION ")",
    [SQL_TAKE_OVER] = "update pipeline set phase = 2, generation = ?2, generation_number = ?3,"
                      " mapping_fingerprint = ?4, table_fingerprint = ?5, source_identity = ?6,"
                      " index_uuid = ?7, position = ?8, clock_ceiling = max(clock_ceiling, ?9),"
                      " settled_at_us = ?10, documents = 0 where id = ?1",
    [SQL_WORKING_TELL] =
        "insert or replace into working (pipeline, told_us, stage, rows, rows_per_second, share,"
        " remaining_ms, in_flight, batch_bytes, frozen, equal_us, lag_rows, hold_pid, hold_us,"
        " stall, stall_why, stall_us, hold_who)"
        " values (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10,"
        " max(?11, coalesce((select equal_us from working where pipeline = ?1), 0)),"
        " ?12, ?13, ?14, ?15, ?16, ?17, ?18)",
    [SQL_WORKING_LOOK] =
        "select told_us, stage, rows, rows_per_second, share, remaining_ms, in_flight, batch_bytes,"
        " frozen, equal_us, lag_rows, hold_pid, hold_us, stall, stall_why, stall_us,"
        " hold_who from working where pipeline = ?1",
    [SQL_WORKING_FORGET] = "update working set stage = '' where pipeline = ?1",
    [SQL_HALT_NOTE] = "insert or replace into halt (pipeline, deletes, documents, rejected,"
                      " operations, at_us, reason) values (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
    [SQL_HALT_LOOK] = "select deletes, documents, rejected, operations, at_us, reason from halt"
                      " where pipeline = ?1",
    [SQL_HALT_FORGET] = "delete from halt where pipeline = ?1",
    [SQL_PAUSE_BEGIN] = "insert or ignore into pause (pipeline, since_us) values (?1, ?2)",
    [SQL_PAUSE_END] = "delete from pause where pipeline = ?1",
    [SQL_PAUSE_LOOK] = "select since_us from pause where pipeline = ?1",
    [SQL_RECONCILE_NOTE] =
        "insert or replace into reconcile (pipeline, finished_us, owed_us, late_us, flying)"
        " values (?1, ?2, ?3, ?4, ?5)",
    [SQL_RECONCILE_LOOK] =
        "select finished_us, owed_us, late_us, flying from reconcile where pipeline = ?1",
    [SQL_VERIFICATION_NOTE] =
        "insert or replace into verification (pipeline, ended_us, took_ms, rows, documents,"
        " missing, extra, altered, dead_letters, waiting, sent, restored, failed, message)"
        " values (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14)",
    [SQL_VERIFICATION_LOOK] =
        "select ended_us, took_ms, rows, documents, missing, extra, altered, dead_letters, waiting,"
        " sent, restored, failed, message from verification where pipeline = ?1",
    [SQL_COPIED_NOTE] =
        "insert or replace into copied (pipeline, begun_us, reason) values (?1, ?2, ?3)",
    [SQL_COPIED_LOOK] = "select begun_us, reason from copied where pipeline = ?1",
    [SQL_DEFINITION_NOTE] = "insert or ignore into definition (fingerprint, words) values (?2, ?3)",
    [SQL_DEFINITION_LOOK] = "select words from definition where fingerprint = ?2",
    [SQL_DEFINITION_TRIM] =
        "delete from definition where rowid <= (select max(rowid) - 64 from definition)"
        " and fingerprint not in (select mapping_fingerprint from pipeline where"
        " mapping_fingerprint is not null union select table_fingerprint from pipeline"
        " where table_fingerprint is not null)",
    [SQL_EXTEND] = "update pipeline set mapping_fingerprint = ?2, table_fingerprint = ?3"
                   " where id = ?1 and phase = 2",
    [SQL_EXTENDED_NOTE] = "insert or ignore into extended (pipeline, generation, property, at_us)"
                          " select id, generation, ?2, ?3 from pipeline where id = ?1",
    [SQL_EXTENDED_LOOK] =
        "select group_concat(property, ', '), min(at_us) from (select property, at_us"
        " from extended where pipeline = ?1 and generation = ?2 order by property)",
    [SQL_EXTENDED_TRIM] =
        "delete from extended where pipeline = ?1 and generation not in (select generation"
        " from extended where pipeline = ?1 group by generation order by max(at_us) desc limit 16)",
    [SQL_BUILT_NOTE] = "insert or replace into built (pipeline, generation, configuration)"
                       " values (?1, ?2, ?3)",
    [SQL_BUILT_LOOK] = "select configuration from built where pipeline = ?1 and generation = ?2",
    [SQL_REBUILD_LOOK] = "select kind, adopt, begun_us from rebuild where pipeline = ?1",
    [SQL_REBUILD_ENTER] =
        "insert into pipeline (name, generation_number, clock_ceiling)"
        " select ?2, generation_number, clock_ceiling from pipeline where id = ?1",
    [SQL_REBUILD_BACK] =
        "update pipeline set phase = 1, generation = ?3, index_uuid = ?4,"
        " mapping_fingerprint = ?5, table_fingerprint = ?6, source_identity = ?7, position = ?8,"
        " clock_ceiling = max(clock_ceiling, ?9) where name = ?2 and id <> ?1",
    [SQL_REBUILD_BEGIN] = "insert into rebuild (pipeline, next, kind, adopt, begun_us)"
                          " select ?1, id, ?3, ?4, ?5 from pipeline where name = ?2",
    [SQL_REBUILD_FORGET] = "delete from rebuild where pipeline = ?1",
    [SQL_NEXT_DROP_LETTERS] = "delete from dead_letter where pipeline = " NEXT,
    [SQL_NEXT_DROP_WORKING] = "delete from working where pipeline = " NEXT,
    [SQL_NEXT_DROP_HALT] = "delete from halt where pipeline = " NEXT,
    [SQL_NEXT_DROP_RECONCILE] = "delete from reconcile where pipeline = " NEXT,
    [SQL_NEXT_DROP_COPIED] = "delete from copied where pipeline = " NEXT,
    [SQL_NEXT_DROP_BUILT] = "delete from built where pipeline = " NEXT,
    [SQL_NEXT_MOVE_FORMER] = "update or replace former set pipeline = ?1 where pipeline = " NEXT,
    [SQL_NEXT_DROP_PIPELINE] = "delete from pipeline where id = " NEXT,
    [SQL_LIVE_DROP_LETTERS] = "delete from dead_letter where pipeline = ?1",
    [SQL_LIVE_DROP_HALT] = "delete from halt where pipeline = ?1",
    [SQL_LIVE_DROP_RECONCILE] = "delete from reconcile where pipeline = ?1",
    [SQL_LIVE_DROP_COPIED] = "delete from copied where pipeline = ?1",
    [SQL_LIVE_DROP_VERIFICATION] = "delete from verification where pipeline = ?1",
    [SQL_LIVE_DROP_BUILT] = "delete from built where pipeline = ?1",
    [SQL_PROMOTE_BUILT] = "update built set pipeline = ?1 where pipeline = " NEXT,
    [SQL_PROMOTE_LETTERS] =
        "update dead_letter set pipeline = ?1, generation_number = " CURRENT_GENERATION
        " where pipeline = " NEXT,
    [SQL_PROMOTE_RECONCILE] = "update reconcile set pipeline = ?1 where pipeline = " NEXT,
    [SQL_PROMOTE_COPIED] = "update copied set pipeline = ?1 where pipeline = " NEXT,
    [SQL_PROMOTE] =
        "update pipeline set phase = 2, settled_at_us = ?2, generation = n.generation,"
        " index_uuid = n.index_uuid, mapping_fingerprint = n.mapping_fingerprint,"
        " table_fingerprint = n.table_fingerprint, source_identity = n.source_identity,"
        " position = n.position,"
        " generation_number = max(pipeline.generation_number, n.generation_number),"
        " clock_ceiling = max(pipeline.clock_ceiling, n.clock_ceiling), documents = n.documents"
        " from (select p.* from pipeline p where p.id = " NEXT ") n where pipeline.id = ?1",
    [SQL_FORMER_NOTE] =
        "insert or replace into former (pipeline, consumer, left_us) values (?1, ?2, ?3)",
    [SQL_FORMER_LOOK] =
        "select consumer, left_us, (select count(*) from former where pipeline = ?1)"
        " from former where pipeline = ?1 order by left_us, consumer limit 1",
    [SQL_FORMER_LAST] =
        "select consumer, left_us, (select count(*) from former where pipeline = ?1)"
        " from former where pipeline = ?1 and left_us > 0 order by left_us desc, consumer limit 1",
    [SQL_FORMER_MEET] =
        "insert or ignore into former (pipeline, consumer, left_us) values (?1, ?2, ?3)",
    [SQL_FORMER_FORGET] = "delete from former where pipeline = ?1 and consumer = ?2",
    [SQL_RUN_BEGIN] = "insert into run (pipeline, command, started_us) values (?1, ?2, ?3)",
    [SQL_RUN_TRIM] = "delete from run where pipeline = ?1 and id <="
                     " (select id from run where pipeline = ?1 order by id desc limit 1 offset ?2)",
    [SQL_RUN_END] =
        "update run set ended_us = ?3, upserts = ?4, deletes = ?5, rejected = ?6, bytes = ?7,"
        " exit_code = ?8, message = ?9 where pipeline = ?1 and id = ?2",
    [SQL_RUNS_LAST] = "select id, command, started_us, ended_us, upserts, deletes, rejected, bytes,"
                      " exit_code, message from run where pipeline = ?1 order by id desc limit ?2",
    [SQL_REQUEST_FILE] =
        "insert into request (pipeline, command, arguments, filed_us) values (?1, ?2, ?3, ?4)",
    [SQL_REQUEST_TRIM] =
        "delete from request where pipeline = ?1 and state > 1 and answered_us < ?3 and id <="
        " (select id from request where pipeline = ?1 and state > 1 order by id desc limit 1"
        " offset ?2)",
    [SQL_REQUEST_OLDEST] = "select id, command, arguments from request"
                           " where pipeline = ?1 and state = 0 and id > ?2 order by id limit 1",
    [SQL_REQUEST_TAKE] = "update request set state = 1 where pipeline = ?1 and id = ?2",
    [SQL_REQUEST_ANSWER] =
        "update request set state = ?3, answer = ?4, answered_us = ?5,"
        " arguments = case when ?3 > 1 then '' else arguments end where pipeline = ?1 and id = ?2",
    [SQL_REQUEST_LOOK] = "select state, answer from request where pipeline = ?1 and id = ?2",
    [SQL_REQUESTS_REFILE] = "update request set state = 0 where pipeline = ?1 and state = 1",
};

int database_damaged(const struct state *s, const char *what, struct err *err)
{
    err_set(err, ERR_STATE, "state file \"%s\" is damaged: %s", s->path, what);
    return err_hint(err, "keep the file aside under another name: the next sync goes on from "
                         "where the source knows the pipeline, else builds the index anew");
}

int database_replaced(const struct state *s, struct err *err)
{
    err_set(err, ERR_STATE, "state file \"%s\" was removed or replaced while it was worked with",
            s->path);
    return err_hint(err, "let nobody do that, and run again: the next sync goes on from where the "
                         "source knows the pipeline");
}

static int database_no_room(const struct state *s, const char *reason, struct err *err)
{
    err_set(err, ERR_TRANSIENT, "could not write state file \"%s\": %s", s->path, reason);
    return err_hint(err, "make room on its disk and run again: nothing that was settled is lost");
}

/* Reports the system's error for the file, because SQLite only reports that it failed. */
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
    err_set(err, ERR_STATE, "could not read or write \"%s\": %s", s->path, reason);
    return err_hint(err, "look at its disk, or set state.path to a file on another");
}

static int database_cannot_open(const struct state *s, struct err *err)
{
    int cause = sqlite3_system_errno(s->db);
    bool later = cause == EMFILE || cause == ENFILE;
    err_set(err, later ? ERR_TRANSIENT : ERR_STATE, "could not open state file \"%s\": %s", s->path,
            cause != 0 ? strerror(cause) : sqlite3_errmsg(s->db));
    return err_hint(err, later ? "run again later"
                               : "let this user read and write the file and its folder, or set "
                                 "state.path");
}

static int database_cannot_write(const struct state *s, struct err *err)
{
    err_set(err, ERR_STATE, "cannot write state file \"%s\": %s", s->path, sqlite3_errmsg(s->db));
    return err_hint(err, "let this user write the file and its folder; where it may already, the "
                         "file is damaged: keep it aside under another name");
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
                    "run any command as that user, which mends it: sudo -u USER rowferry status");
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

int sql_statement(struct state *s, enum sql_id id, sqlite3_stmt **out, struct err *err)
{
    sqlite3_stmt **slot = &s->statements[id];
    if (*slot == NULL && sqlite3_prepare_v3(s->db, texts[id], -1, SQLITE_PREPARE_PERSISTENT, slot,
                                            NULL) != SQLITE_OK) {
        return database_error(s, err);
    }
    if (sqlite3_bind_parameter_count(*slot) > 0) {
        sqlite3_bind_int64(*slot, 1, s->id);
    }
    *out = *slot;
    return 0;
}

/* The results of binding are ignored. A number or a borrowed text needs no memory, and the
 * parameters are those of the table above. */
void sql_bind_int(sqlite3_stmt *statement, int index, int64_t value)
{
    sqlite3_bind_int64(statement, index, value);
}

void sql_bind_text(sqlite3_stmt *statement, int index, const char *text)
{
    sqlite3_bind_text(statement, index, text, -1, SQLITE_STATIC);
}

void sql_bind_span(sqlite3_stmt *statement, int index, struct span text)
{
    sqlite3_bind_text64(statement, index, text.data != NULL ? text.data : "", text.len,
                        SQLITE_STATIC, SQLITE_UTF8);
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

int sql_run(struct state *s, sqlite3_stmt *statement, struct err *err)
{
    int result = sql_step(s, statement, err);
    if (result > 0) {
        sql_end(statement);
        return err_set(err, ERR_INTERNAL, "state file \"%s\": a row where none is due", s->path);
    }
    return result;
}

int sql_run_plain(struct state *s, enum sql_id id, struct err *err)
{
    sqlite3_stmt *statement = NULL;
    int result = sql_statement(s, id, &statement, err);
    return result == 0 ? sql_run(s, statement, err) : result;
}

int sql_step_plain(struct state *s, enum sql_id id, sqlite3_stmt **out, struct err *err)
{
    int result = sql_statement(s, id, out, err);
    return result == 0 ? sql_step(s, *out, err) : result;
}

int sql_run_one(struct state *s, sqlite3_stmt *statement, const char *what, struct err *err)
{
    int result = sql_run(s, statement, err);
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
        int rc = sql_run_plain(s, SQL_ROLLBACK, &ignored);
        (void)rc;
    }
}

/* An error may occur after the transaction has begun, so roll back. */
int transaction_begin(struct state *s, struct err *err)
{
    int rc = sql_run_plain(s, SQL_BEGIN, err);
    if (rc != 0) {
        database_roll_back(s);
    }
    return rc;
}

int transaction_end(struct state *s, int result, struct err *err)
{
    if (result == 0) {
        result = sql_run_plain(s, SQL_COMMIT, err);
    }
    if (result != 0) {
        database_roll_back(s);
    }
    return result;
}
