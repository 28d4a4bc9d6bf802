/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Internal access to SQLite: one connection, its statements, its errors.
 *
 * Each statement is prepared once, on first use, and has the pipeline's id as ?1. Bound texts must
 * stay valid until the statement has run.
 */
#pragma once

#include <sqlite3.h>

#include "rowferry/base/text.h"
#include "rowferry/state/store.h"

enum sql_id {
    SQL_BEGIN,
    SQL_COMMIT,
    SQL_ROLLBACK,
    SQL_CHECKPOINT_LOAD,
    SQL_SETTLE,
    SQL_RAISE_CEILING,
    SQL_LOWER_CEILING,
    SQL_BEGIN_GENERATION,
    SQL_SET_UUID,
    SQL_GO_LIVE,
    SQL_LETTER_ADD,
    SQL_LETTER_CLEAR,
    SQL_LETTERS_ANY,
    SQL_LETTERS_DROP_UNBORN,
    SQL_LETTERS_DROP_FORMER,
    SQL_LETTERS_COUNT,
    SQL_LETTERS_EACH,
    SQL_LETTERS_GROUPS,
    SQL_LETTERS_EXPORT,
    SQL_LETTERS_IMPORT,
    SQL_LETTERS_CUT,
    SQL_TAKE_OVER,
    SQL_WORKING_TELL,
    SQL_WORKING_LOOK,
    SQL_WORKING_FORGET,
    SQL_HALT_NOTE,
    SQL_HALT_LOOK,
    SQL_HALT_FORGET,
    SQL_PAUSE_BEGIN,
    SQL_PAUSE_END,
    SQL_PAUSE_LOOK,
    SQL_RECONCILE_NOTE,
    SQL_RECONCILE_LOOK,
    SQL_VERIFICATION_NOTE,
    SQL_VERIFICATION_LOOK,
    SQL_COPIED_NOTE,
    SQL_COPIED_LOOK,
    SQL_DEFINITION_NOTE,
    SQL_DEFINITION_LOOK,
    SQL_DEFINITION_TRIM,
    SQL_EXTEND,
    SQL_EXTENDED_NOTE,
    SQL_EXTENDED_LOOK,
    SQL_EXTENDED_TRIM,
    SQL_BUILT_NOTE,
    SQL_BUILT_LOOK,
    SQL_REBUILD_LOOK,
    SQL_REBUILD_ENTER,
    SQL_REBUILD_BACK,
    SQL_REBUILD_BEGIN,
    SQL_REBUILD_FORGET,
    SQL_NEXT_DROP_LETTERS,
    SQL_NEXT_DROP_WORKING,
    SQL_NEXT_DROP_HALT,
    SQL_NEXT_DROP_RECONCILE,
    SQL_NEXT_DROP_COPIED,
    SQL_NEXT_DROP_BUILT,
    SQL_NEXT_MOVE_FORMER,
    SQL_NEXT_DROP_PIPELINE,
    SQL_LIVE_DROP_LETTERS,
    SQL_LIVE_DROP_HALT,
    SQL_LIVE_DROP_RECONCILE,
    SQL_LIVE_DROP_COPIED,
    SQL_LIVE_DROP_VERIFICATION,
    SQL_LIVE_DROP_BUILT,
    SQL_PROMOTE,
    SQL_PROMOTE_LETTERS,
    SQL_PROMOTE_RECONCILE,
    SQL_PROMOTE_COPIED,
    SQL_PROMOTE_BUILT,
    SQL_FORMER_NOTE,
    SQL_FORMER_LOOK,
    SQL_FORMER_LAST,
    SQL_FORMER_MEET,
    SQL_FORMER_FORGET,
    SQL_RUN_BEGIN,
    SQL_RUN_TRIM,
    SQL_RUN_END,
    SQL_RUNS_LAST,
    SQL_REQUEST_FILE,
    SQL_REQUEST_TRIM,
    SQL_REQUEST_OLDEST,
    SQL_REQUEST_TAKE,
    SQL_REQUEST_ANSWER,
    SQL_REQUEST_LOOK,
    SQL_REQUESTS_REFILE,
    SQL_COUNT
};

struct state {
    sqlite3 *db;
    char *path;
    char *pipeline;
    int64_t id;  /* of the pipeline's row; 0: it has none (read-only) */
    int lock_fd; /* -1: no lock file (read-only) */
    bool locked;
    bool read_only;
    bool known;                /* file and row must exist */
    uint64_t letters_revision; /* grows with every change of the dead letters */
    sqlite3_stmt *statements[SQL_COUNT];
};

/* Like state_open, but creates nothing. ERR_STATE if the file or the pipeline's row is missing, for
 * example because it was removed while a process used it. */
int state_open_known(struct state **out, const char *path, const char *pipeline,
                     struct err *err) MUST_CHECK;

/* Fills err from the connection's last error. The only mapping from SQLite's codes to classes. */
int database_error(const struct state *s, struct err *err);
/* ERR_STATE: the file is damaged; adds a hint. */
int database_damaged(const struct state *s, const char *what, struct err *err);
/* ERR_STATE: the file was removed or replaced while it was in use. */
int database_replaced(const struct state *s, struct err *err);

/* Erases the holder's line and releases the lock. */
void lock_release(struct state *s);

/* Returns the statement with the pipeline's id bound; s owns it. */
int sql_statement(struct state *s, enum sql_id id, sqlite3_stmt **out, struct err *err) MUST_CHECK;

/* Parameters are counted from 1; a null text or span is NULL. */
void sql_bind_int(sqlite3_stmt *statement, int index, int64_t value);
void sql_bind_text(sqlite3_stmt *statement, int index, const char *text);
void sql_bind_span(sqlite3_stmt *statement, int index, struct span text);

/* Steps once. Returns 1 for a row, 0 at the end, else the error. Unless it returns a row, the
 * statement is reset. */
int sql_step(struct state *s, sqlite3_stmt *statement, struct err *err) MUST_CHECK;
/* The same for a statement whose only parameter is ?1. */
int sql_step_plain(struct state *s, enum sql_id id, sqlite3_stmt **out, struct err *err) MUST_CHECK;
/* Resets a statement after a row has been read. */
void sql_end(sqlite3_stmt *statement);
/* Runs a statement without result rows. Returns 0 or the error. */
int sql_run(struct state *s, sqlite3_stmt *statement, struct err *err) MUST_CHECK;
/* The same for a statement whose only parameter is ?1. */
int sql_run_plain(struct state *s, enum sql_id id, struct err *err) MUST_CHECK;
/* Like sql_run, but ERR_STATE unless it changed exactly one row, which `what` names. */
int sql_run_one(struct state *s, sqlite3_stmt *statement, const char *what,
                struct err *err) MUST_CHECK;

/* Returns a column's text, never null; borrowed until the next step. */
const char *sql_text(sqlite3_stmt *statement, int column);
/* Returns a copy of a column's text, or null if it is NULL. */
char *sql_copy(sqlite3_stmt *statement, int column);

int transaction_begin(struct state *s, struct err *err) MUST_CHECK;
/* Commits if result is 0, else rolls back. Returns result, or the error of the commit. */
int transaction_end(struct state *s, int result, struct err *err) MUST_CHECK;
