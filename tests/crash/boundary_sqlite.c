/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The calls of SQLite by the program itself, which boundary.c counts. A failing call is not carried
 * out; the connection reports its code until the next call.
 */
#include "boundary.h"

#include <dlfcn.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <string.h>

static _Thread_local int told __attribute__((tls_model("initial-exec")));

/* Looks functions up by name, so that a program without SQLite does not need to link it. */
#define REAL(name)                                                                                 \
    static __typeof__(&(name)) real;                                                               \
    if (real == NULL) {                                                                            \
        void *symbol_ = dlsym(RTLD_NEXT, #name);                                                   \
        memcpy(&real, &symbol_, sizeof(real));                                                     \
    }

/* Returns true if the call fails, with the code of failures. */
static bool fails(const char *function)
{
    told = boundary_fails(function, CLASS_SQLITE) ? boundary_errno() : SQLITE_OK;
    return told != SQLITE_OK;
}

int sqlite3_open_v2(const char *name, sqlite3 **out, int flags, const char *vfs)
{
    REAL(sqlite3_open_v2)
    if (!fails("sqlite3_open_v2")) {
        return real(name, out, flags, vfs);
    }
    int result = real(":memory:", out, SQLITE_OPEN_READWRITE, NULL); /* must be closed */
    return result == SQLITE_OK ? told : result;
}

int sqlite3_create_function_v2(sqlite3 *db, const char *name, int arguments, int flags,
                               void *context,
                               void (*call)(sqlite3_context *, int, sqlite3_value **),
                               void (*step)(sqlite3_context *, int, sqlite3_value **),
                               void (*end)(sqlite3_context *), void (*drop)(void *))
{
    REAL(sqlite3_create_function_v2)
    return fails("sqlite3_create_function_v2")
               ? told
               : real(db, name, arguments, flags, context, call, step, end, drop);
}

int sqlite3_exec(sqlite3 *db, const char *sql, int (*row)(void *, int, char **, char **),
                 void *context, char **message)
{
    REAL(sqlite3_exec)
    return fails("sqlite3_exec") ? told : real(db, sql, row, context, message);
}

int sqlite3_prepare_v2(sqlite3 *db, const char *sql, int size, sqlite3_stmt **out,
                       const char **tail)
{
    REAL(sqlite3_prepare_v2)
    *out = NULL;
    return fails("sqlite3_prepare_v2") ? told : real(db, sql, size, out, tail);
}

int sqlite3_prepare_v3(sqlite3 *db, const char *sql, int size, unsigned flags, sqlite3_stmt **out,
                       const char **tail)
{
    REAL(sqlite3_prepare_v3)
    *out = NULL;
    return fails("sqlite3_prepare_v3") ? told : real(db, sql, size, flags, out, tail);
}

int sqlite3_step(sqlite3_stmt *statement)
{
    REAL(sqlite3_step)
    return fails("sqlite3_step") ? told : real(statement);
}

/* Returns null as for a text without memory. Other failures do not apply to this function. */
const unsigned char *sqlite3_column_text(sqlite3_stmt *statement, int column)
{
    REAL(sqlite3_column_text)
    bool exhausted = boundary_errno() == SQLITE_NOMEM && fails("sqlite3_column_text");
    return exhausted ? NULL : real(statement, column);
}

char *sqlite3_mprintf(const char *format, ...)
{
    REAL(sqlite3_vmprintf)
    va_list arguments;
    if (boundary_errno() == SQLITE_NOMEM && fails("sqlite3_mprintf")) {
        return NULL;
    }
    va_start(arguments, format);
    char *text = real(format, arguments);
    va_end(arguments);
    return text;
}

int sqlite3_errcode(sqlite3 *db)
{
    REAL(sqlite3_errcode)
    return told != SQLITE_OK ? told & 0xff : real(db);
}

int sqlite3_extended_errcode(sqlite3 *db)
{
    REAL(sqlite3_extended_errcode)
    return told != SQLITE_OK ? told : real(db);
}

const char *sqlite3_errmsg(sqlite3 *db)
{
    REAL(sqlite3_errmsg)
    return told != SQLITE_OK ? "made to fail" : real(db);
}
