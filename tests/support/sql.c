/* SPDX-License-Identifier: Apache-2.0 */
/* SQL in tests. */
#include "sql.h"

#include <check.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "rowferry/base/text.h"

PGconn *sql_open(const char *uri)
{
    PGconn *conn = PQconnectdb(uri);
    ck_assert_msg(PQstatus(conn) == CONNECTION_OK, "%s", PQerrorMessage(conn));
    PGresult *quiet = PQexec(conn, "set client_min_messages = warning; set timezone = utc");
    PQclear(quiet);
    return conn;
}

static PGresult *run(PGconn *conn, const char *format, va_list arguments)
{
    char *sql = NULL;
    ck_assert_int_ge(vasprintf(&sql, format, arguments), 0);
    PGresult *result = PQexec(conn, sql);
    ExecStatusType status = PQresultStatus(result);
    ck_assert_msg(status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK, "%s%s",
                  PQerrorMessage(conn), sql);
    free(sql);
    return result;
}

void sql_exec(PGconn *conn, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    PQclear(run(conn, format, arguments));
    va_end(arguments);
}

static char *first(PGresult *result)
{
    char *text = NULL;
    if (PQntuples(result) > 0 && !PQgetisnull(result, 0, 0)) {
        text = text_copy(PQgetvalue(result, 0, 0));
    }
    PQclear(result);
    return text;
}

char *sql_text(PGconn *conn, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    char *text = first(run(conn, format, arguments));
    va_end(arguments);
    return text;
}

int64_t sql_int(PGconn *conn, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    char *text = first(run(conn, format, arguments));
    va_end(arguments);
    ck_assert_msg(text != NULL, "no number: %s", format);
    int64_t number = strtoll(text, NULL, 10);
    free(text);
    return number;
}
