/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The room's own view of SQLite: one connection, its statements, its errors.
 *
 * Every statement is prepared once, on first use, and has the pipeline's id as ?1. Bound texts are
 * borrowed until the statement has run.
 */
#ifndef ROWFERRY_STATE_DATABASE_H
#define ROWFERRY_STATE_DATABASE_H

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
    int lock_fd; /* -1: there is no lock file (read-only) */
    bool locked;
    bool read_only;
    bool known;                /* file and row have to be there */
    uint64_t letters_revision; /* grows with every change of the dead letters */
    sqlite3_stmt *statements[SQL_COUNT];
};

/* As state_open, but nothing is created or entered: ERR_STATE where the file or the pipeline's row
 * in it is gone, as after a removal under a process that works with it. */
int state_open_known(struct state **out, const char *path, const char *pipeline,
                     struct err *err) MUST_CHECK;

/* Fills err from the connection's last error: the one table from SQLite's codes to classes. */
int database_error(const struct state *s, struct err *err);
/* ERR_STATE: the file is damaged, with what to do. */
int database_damaged(const struct state *s, const char *what, struct err *err);
/* ERR_STATE: somebody took the file away, or put another one there, while it was worked with. */
int database_replaced(const struct state *s, struct err *err);

/* Wipes the holder's line and lets the lock go. */
void lock_release(struct state *s);

/* The statement with the pipeline's id bound, owned by s. */
int sql_statement(struct state *s, enum sql_id id, sqlite3_stmt **out, struct err *err) MUST_CHECK;

/* Parameters are counted from 1; a null text or span is NULL. */
void sql_bind_int(sqlite3_stmt *statement, int index, int64_t value);
void sql_bind_text(sqlite3_stmt *statement, int index, const char *text);
void sql_bind_span(sqlite3_stmt *statement, int index, struct span text);

/* Steps once: 1 a row, 0 the end, else the error. After anything but a row it is reset. */
int sql_step(struct state *s, sqlite3_stmt *statement, struct err *err) MUST_CHECK;
/* The same for a statement that has no parameters but ?1. */
int sql_step_plain(struct state *s, enum sql_id id, sqlite3_stmt **out, struct err *err) MUST_CHECK;
/* Ends a statement of which a row was looked at. */
void sql_end(sqlite3_stmt *statement);
/* Runs a statement without rows; returns 0 or the error. */
int sql_run(struct state *s, sqlite3_stmt *statement, struct err *err) MUST_CHECK;
/* The same for a statement that has no parameters but ?1. */
int sql_run_plain(struct state *s, enum sql_id id, struct err *err) MUST_CHECK;
/* As sql_run; ERR_STATE where it did not change exactly one row, which `what` names. */
int sql_run_one(struct state *s, sqlite3_stmt *statement, const char *what,
                struct err *err) MUST_CHECK;

/* A column's text, never null; borrowed until the next step. */
const char *sql_text(sqlite3_stmt *statement, int column);
/* A column's text as a copy, null where it is NULL. */
char *sql_copy(sqlite3_stmt *statement, int column);

int transaction_begin(struct state *s, struct err *err) MUST_CHECK;
/* Commits where result is 0, else rolls back; returns result or the commit's own error. */
int transaction_end(struct state *s, int result, struct err *err) MUST_CHECK;

#endif
