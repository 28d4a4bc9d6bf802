/* SPDX-License-Identifier: Apache-2.0 */
/* Small statements on a connection: run, read, quote, and say what went wrong. */
#include "rowferry/source/pg.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pg_private.h"
#include "rowferry/base/buf.h"
#include "rowferry/base/embed.h"
#include "rowferry/base/text.h"
#include "sqlstate.h"

#define MESSAGE_MAX_BYTES ((size_t)64 * 1024)

/* The SQLSTATE is that of any missing right, and the message may be in another language. */
static bool is_row_security(const PGresult *result)
{
    const char *function = PQresultErrorField(result, PG_DIAG_SOURCE_FUNCTION);
    return function != NULL && strcmp(function, "check_enable_rls") == 0;
}

int pg_fail(const struct pg *pg, const PGresult *result, struct err *err)
{
    const char *sqlstate = result != NULL ? PQresultErrorField(result, PG_DIAG_SQLSTATE) : NULL;
    const char *primary =
        result != NULL ? PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY) : NULL;
    if (sqlstate == NULL || primary == NULL) {
        struct buf line;
        buf_init(&line, MESSAGE_MAX_BYTES);
        sqlstate_one_line(&line, PQerrorMessage(pg->conn), pg->password);
        err_set(err, ERR_TRANSIENT, "the connection to the source was lost: %s", buf_text(&line));
        buf_release(&line);
        return ERR_TRANSIENT;
    }
    const char *data = sqlstate_data_exception(sqlstate);
    if (data != NULL) {
        err_set(err, sqlstate_class(sqlstate), "the source cannot use a value: %s", data);
        err_detail(err, primary, strlen(primary));
    } else {
        err_set(err, sqlstate_class(sqlstate), "%s", primary);
    }
    strncpy(err->sqlstate, sqlstate, sizeof(err->sqlstate) - 1);
    if (is_row_security(result)) {
        err_hint(err, PG_ROW_SECURITY_REMEDY, PQuser(pg->conn));
    } else if (strcmp(sqlstate, "42501") == 0) {
        err_hint(err, "run the grants that \"rowferry source print\" shows");
    } else if (strcmp(sqlstate, "22021") == 0) {
        err_hint(err, "the database's encoding lets any bytes in: make the text UTF-8 there");
    }
    return err->class;
}

/* Takes the result. */
static int finish(struct pg *pg, PGresult *result, struct pg_result **out, struct err *err)
{
    ExecStatusType status = PQresultStatus(result);
    int rc = 0;
    if (status != PGRES_TUPLES_OK && status != PGRES_COMMAND_OK) {
        rc = pg_fail(pg, result, err);
    }
    if (rc == 0 && out != NULL) {
        *out = (struct pg_result *)(void *)result;
    } else {
        PQclear(result);
    }
    return rc;
}

int pg_query(struct pg *pg, struct pg_result **out, const char *sql, const char *const *params,
             size_t count, struct err *err)
{
    if (out != NULL) {
        *out = NULL;
    }
    return finish(pg, PQexecParams(pg->conn, sql, (int)count, NULL, params, NULL, NULL, 0), out,
                  err);
}

int pg_ask(struct pg *pg, struct pg_result **out, const char *name, const char *const *params,
           size_t count, struct err *err)
{
    return pg_query(pg, out, embedded_text(source_sql, name), params, count, err);
}

/* Once in a session. */
static int prepare(struct pg *pg, const char *name, struct err *err)
{
    int i = 0;
    while (i < PG_PREPARED_MOST && pg->prepared[i] != NULL) {
        if (strcmp(pg->prepared[i++], name) == 0) {
            return 0;
        }
    }
    if (i == PG_PREPARED_MOST) {
        return err_set(err, ERR_INTERNAL, "more texts are prepared than there are places");
    }
    int rc =
        finish(pg, PQprepare(pg->conn, name, embedded_text(source_sql, name), 0, NULL), NULL, err);
    if (rc == 0) {
        pg->prepared[i] = name;
    }
    return rc;
}

int pg_ask_again(struct pg *pg, struct pg_result **out, const char *name, const char *const *params,
                 size_t count, struct err *err)
{
    *out = NULL;
    int rc = prepare(pg, name, err);
    if (rc < 0) {
        return rc;
    }
    return finish(pg, PQexecPrepared(pg->conn, name, (int)count, params, NULL, NULL, 0), out, err);
}

int pg_listen(struct pg *pg, const char *capture, struct err *err)
{
    char sql[64];
    snprintf(sql, sizeof(sql), "listen rowferry_%s", capture);
    return pg_script(pg, sql, err);
}

void pg_forget_calls(struct pg *pg)
{
    PGnotify *call;
    while ((call = PQnotifies(pg->conn)) != NULL) {
        PQfreemem(call);
    }
}

int pg_script(struct pg *pg, const char *sql, struct err *err)
{
    return finish(pg, PQexec(pg->conn, sql), NULL, err);
}

/* struct pg_result is libpq's own, under our name. */
static const PGresult *inner(const struct pg_result *r)
{
    return (const PGresult *)(const void *)r;
}

size_t pg_rows(const struct pg_result *r)
{
    return (size_t)PQntuples(inner(r));
}

const char *pg_text(const struct pg_result *r, size_t row, size_t column)
{
    bool null = PQgetisnull(inner(r), (int)row, (int)column) != 0;
    return null ? NULL : PQgetvalue(inner(r), (int)row, (int)column);
}

int64_t pg_int(const struct pg_result *r, size_t row, size_t column)
{
    const char *text = pg_text(r, row, column);
    return text != NULL ? strtoll(text, NULL, 10) : 0;
}

bool pg_true(const struct pg_result *r, size_t row, size_t column)
{
    const char *text = pg_text(r, row, column);
    return text != NULL && text[0] == 't';
}

void pg_result_release(struct pg_result *r)
{
    PQclear((PGresult *)(void *)r);
}

/* Takes what libpq has quoted. */
static int push_quoted(struct pg *pg, struct buf *out, char *quoted, const char *name,
                       struct err *err)
{
    if (quoted == NULL) {
        struct buf line;
        buf_init(&line, MESSAGE_MAX_BYTES);
        sqlstate_one_line(&line, PQerrorMessage(pg->conn), NULL);
        err_set(err, ERR_REJECTED, "cannot quote \"%s\": %s", name, buf_text(&line));
        buf_release(&line);
        return ERR_REJECTED;
    }
    buf_push_text(out, quoted);
    PQfreemem(quoted);
    return 0;
}

int pg_push_identifier(struct pg *pg, struct buf *out, const char *name, struct err *err)
{
    return push_quoted(pg, out, PQescapeIdentifier(pg->conn, name, strlen(name)), name, err);
}

int pg_push_literal(struct pg *pg, struct buf *out, const char *text, struct err *err)
{
    return push_quoted(pg, out, PQescapeLiteral(pg->conn, text, strlen(text)), text, err);
}

void pg_push_array_item(struct buf *out, const char *text)
{
    buf_push_literal(out, "\"");
    for (size_t len = strcspn(text, "\"\\"); text[len] != '\0'; len = strcspn(text, "\"\\")) {
        buf_push(out, text, len);
        buf_push_char(out, '\\');
        buf_push_char(out, text[len]);
        text += len + 1;
    }
    buf_push_text(out, text);
    buf_push_literal(out, "\"");
}

void pg_push_array(struct buf *out, const char *const *items, size_t count)
{
    buf_push_literal(out, "{");
    for (size_t i = 0; i < count; i++) {
        buf_push_text(out, i > 0 ? "," : "");
        pg_push_array_item(out, items[i]);
    }
    buf_push_literal(out, "}");
}

static void copy_text(char *out, size_t size, const char *text)
{
    out[0] = '\0';
    strncat(out, text != NULL ? text : "", size - 1);
}

int pg_identify(struct pg *pg, struct pg_identity *out, struct err *err)
{
    struct pg_result *r = NULL;
    *out = (struct pg_identity){0};
    int rc = pg_ask(pg, &r, "look_server", NULL, 0, err);
    if (rc == 0) {
        copy_text(out->system, sizeof(out->system), pg_text(r, 0, 0));
        copy_text(out->database, sizeof(out->database), pg_text(r, 0, 1));
        out->timeline = (int)pg_int(r, 0, 2);
        out->server_version = (int)pg_int(r, 0, 3);
        out->in_recovery = pg_true(r, 0, 4);
        out->superuser = pg_true(r, 0, 5);
        copy_text(out->role, sizeof(out->role), pg_text(r, 0, 6));
    }
    pg_result_release(r);
    return rc;
}
