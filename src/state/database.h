/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Internal access to SQLite: one connection, its statements, its errors.
 *
 * Each statement is prepared once, on first use, and has the pipeline's id as ?1.
 */
#pragma once

#include <sqlite3.h>

#include "rowferry/base/text.h"
#include "rowferry/state/pipeline_row.h"
#include "rowferry/state/store.h"
#include "statements.h"

enum sql_id {
#define STATEMENT(id, text) id,
    STATEMENTS(STATEMENT)
#undef STATEMENT
        SQL_COUNT
};

/* The statements that pipeline_row derives for each of its tables. NEXT is the row of the next
 * generation. */
enum pipeline_row_action {
    PIPELINE_ROW_WRITE,
    PIPELINE_ROW_READ,
    PIPELINE_ROW_DELETE,
    PIPELINE_ROW_DELETE_NEXT,
    PIPELINE_ROW_PROMOTE, /* makes it the pipeline's own */
    PIPELINE_ROW_ACTIONS,
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
    bool examined;             /* a moment ago, or by this process: not to be done again */
    uint64_t letters_revision; /* grows with every change of the dead letters */
    sqlite3_stmt *statements[SQL_COUNT];
    sqlite3_stmt *rows[PIPELINE_ROWS][PIPELINE_ROW_ACTIONS];
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

/* Deletes the rows of the next generation. */
int pipeline_row_delete_next(struct state *live, struct err *err) MUST_CHECK;
/* Deletes the rows that end with the live generation, and makes those of the next one its own. */
int pipeline_row_promote(struct state *live, struct err *err) MUST_CHECK;

/* A value to bind; its text is borrowed until the statement has run. */
struct sql_value {
    enum { SQL_END, SQL_INTEGER, SQL_REAL, SQL_STRING, SQL_SPAN, SQL_EMPTY_BLOB } type;
    int64_t integer;
    double real;
    struct span text; /* STRING: without a length, null is NULL; SPAN: null is "" */
};

#define INTEGER(value)                                                                             \
    {                                                                                              \
        .type = SQL_INTEGER, .integer = (value)                                                    \
    }
#define STRING(value)                                                                              \
    {                                                                                              \
        .type = SQL_STRING, .text = {.data = (value) }                                             \
    }
#define SPAN(value)                                                                                \
    {                                                                                              \
        .type = SQL_SPAN, .text = (value)                                                          \
    }
/* The values of ?2 and the following parameters. */
#define BIND(...) ((const struct sql_value[]){__VA_ARGS__, {.type = SQL_END}})

/* Binds a value to a parameter, counted from 1. */
void sql_bind(sqlite3_stmt *statement, int index, const struct sql_value *value);
/* Prepares the text, unless *statement is prepared, and binds ?1. */
int sql_prepare(struct state *s, sqlite3_stmt **statement, const char *text,
                struct err *err) MUST_CHECK;

/* Runs a statement up to its first row; `values` (BIND, or null for none) are ?2 and so on. Returns
 * 1 for a row, 0 at the end, else the error. Unless it returns a row, the statement is reset. */
int sql_query(struct state *s, enum sql_id id, const struct sql_value *values, sqlite3_stmt **row,
              struct err *err) MUST_CHECK;
/* Steps to the next row, with the same results. */
int sql_step(struct state *s, sqlite3_stmt *statement, struct err *err) MUST_CHECK;
/* Resets a statement after a row has been read. */
void sql_end(sqlite3_stmt *statement);
/* Reads the number in the first column of the first row; 0 if there is no row. */
int sql_number(struct state *s, enum sql_id id, const struct sql_value *values, int64_t *number,
               struct err *err) MUST_CHECK;

/* Steps a statement without result rows. Returns 0 or the error. */
int sql_finish(struct state *s, sqlite3_stmt *statement, struct err *err) MUST_CHECK;
/* Runs a statement without result rows. */
int sql_run(struct state *s, enum sql_id id, const struct sql_value *values,
            struct err *err) MUST_CHECK;
/* The same, but ERR_STATE unless it changed exactly one row, which `what` names. */
int sql_run_one(struct state *s, enum sql_id id, const struct sql_value *values, const char *what,
                struct err *err) MUST_CHECK;

/* Returns a column's text, never null; borrowed until the next step. */
const char *sql_text(sqlite3_stmt *statement, int column);
/* Returns a copy of a column's text, or null if it is NULL. */
char *sql_copy(sqlite3_stmt *statement, int column);

int transaction_begin(struct state *s, struct err *err) MUST_CHECK;
/* Commits if result is 0, else rolls back. Returns result, or the error of the commit. */
int transaction_end(struct state *s, int result, struct err *err) MUST_CHECK;
