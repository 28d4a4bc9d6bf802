/* SPDX-License-Identifier: Apache-2.0 */
/* Runs small statements on a connection, reads results, quotes, and describes errors. */
#include "rowferry/source/pg/pg.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pg/pg_private.h"
#include "pg/pg_shape.h"
#include "pg/pg_wait.h"
#include "pg/sqlstate.h"
#include "rowferry/base/buf.h"
#include "rowferry/base/embed.h"
#include "rowferry/base/text.h"

#define MESSAGE_MAX_BYTES ((size_t)64 * 1024)
#define OURS "RF" /* prefix of the SQLSTATEs of our own functions */

/* The SQLSTATE is the same as for any missing right, and the message may be translated. So check
 * the name of the server's function. */
static bool pg_is_row_security(const PGresult *result)
{
    const char *function = PQresultErrorField(result, PG_DIAG_SOURCE_FUNCTION);
    return function != NULL && strcmp(function, "check_enable_rls") == 0;
}

/* The primary had it when the session began, or nothing of it would have been asked. */
static bool pg_is_not_replayed(const struct pg *pg, const char *sqlstate, const char *primary)
{
    static const char *const missing[] = {"3F000", "42P01", "42883"}; /* schema, table, function */
    bool lacks = false;
    for (size_t i = 0; i < sizeof(missing) / sizeof(missing[0]); i++) {
        lacks = lacks || strcmp(sqlstate, missing[i]) == 0;
    }
    return pg->in_recovery && lacks && strstr(primary, "rowferry") != NULL;
}

bool pg_is_pooled(const struct pg *pg)
{
    return pg->pooled;
}

const char *pg_role(const struct pg *pg)
{
    return PQuser(pg->conn);
}

int pg_fail(const struct pg *pg, const PGresult *result, struct err *err)
{
    char character[UNTRANSLATABLE_SIZE];
    const char *sqlstate = result != NULL ? PQresultErrorField(result, PG_DIAG_SQLSTATE) : NULL;
    const char *hint = result != NULL ? PQresultErrorField(result, PG_DIAG_MESSAGE_HINT) : NULL;
    const char *primary =
        result != NULL ? PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY) : NULL;
    if (pg->conn == NULL) {
        return err_set(err, ERR_TRANSIENT, "the connection to the source was given up");
    }
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
        struct buf masked;
        buf_init(&masked, MESSAGE_MAX_BYTES);
        sqlstate_push_masked(&masked, primary, pg->password);
        bool later = pg_is_not_replayed(pg, sqlstate, primary);
        err_set(err, later ? ERR_TRANSIENT : sqlstate_class(sqlstate), "%s%s",
                later ? "the standby has not replayed \"source install\" yet: " : "",
                buf_text(&masked));
        buf_release(&masked);
    }
    strncpy(err->sqlstate, sqlstate, sizeof(err->sqlstate) - 1);
    if (pg_is_row_security(result)) {
        err_hint(
            err,
            "role \"%s\" needs bypassrls or the rights of the table's owner; \"rowferry check\" "
            "prints a statement for this server. No policy is enough: one could hide rows "
            "unseen",
            PQuser(pg->conn));
    } else if (strncmp(sqlstate, OURS, strlen(OURS)) == 0 && hint != NULL) {
        err_hint(err, "%s", hint);
    } else if (strcmp(sqlstate, "42501") == 0) {
        err_hint(err, "run the grants that \"rowferry source print\" shows");
    } else if (strcmp(sqlstate, "22021") == 0) {
        err_hint(err, "the database's encoding permits any bytes: convert the text to UTF-8 there");
    } else if (sqlstate_is_untranslatable(err) && sqlstate_character(primary, character)) {
        err_hint(err,
                 "if a row holds it, this finds the row: where strpos(COLUMN::text, "
                 "convert_from('\\x%s', getdatabaseencoding())) > 0",
                 character);
    }
    return err->class;
}

static bool pg_is_good(const PGresult *r)
{
    ExecStatusType status = PQresultStatus(r);
    return status == PGRES_TUPLES_OK || status == PGRES_COMMAND_OK;
}

bool pg_is_copy(const PGresult *r)
{
    ExecStatusType status = PQresultStatus(r);
    return status == PGRES_COPY_IN || status == PGRES_COPY_OUT || status == PGRES_COPY_BOTH;
}

/* Replaces the result before (*out) with r; takes both. After an error the rest is read and
 * dropped. */
static int pg_add_result(struct pg *pg, PGresult **out, PGresult *r, bool script, struct err *err)
{
    PGresult *before = *out;
    *out = r;
    int rc = 0;
    if (pg_is_copy(r) || (before != NULL && !script)) {
        rc = pg_give_up(pg, err, "the source answered with %s",
                        pg_is_copy(r) ? "a COPY" : "several results");
    } else if (!pg_is_good(r)) {
        rc = pg_fail(pg, r, err);
    }
    PQclear(before);
    return rc;
}

int pg_finish(struct pg *pg, bool sent, bool script, PGresult **out, struct err *err)
{
    PGresult *r = NULL;
    struct err ignored;
    int rc = sent ? 0 : pg_fail(pg, NULL, err);
    *out = NULL;
    while (sent) {
        int taken = pg_take(pg, &r, rc == 0 ? err : &ignored);
        sent = taken == 0 && r != NULL;
        if (rc == 0) {
            rc = sent ? pg_add_result(pg, out, r, script, err) : taken;
        } else {
            PQclear(r);
        }
        sent = sent && pg->conn != NULL;
    }
    if (rc == 0 && *out == NULL) {
        rc = pg_give_up(pg, err, "the source gave no answer to a statement");
    }
    if (rc < 0) {
        PQclear(*out);
        *out = NULL;
    }
    return rc;
}

/* Checks and takes the result; out may be null if the result is not needed. */
static int pg_check(struct pg *pg, PGresult *r, const char *shape, PGresult **out, struct err *err)
{
    char why[160];
    if (out != NULL && !pg_shape_fits(shape, r, why, sizeof(why))) {
        PQclear(r);
        return pg_give_up(pg, err, "the source's answer does not have the expected form: %s", why);
    }
    if (out != NULL) {
        *out = r;
    } else {
        PQclear(r);
    }
    return 0;
}

/* Takes the result of a guarded statement, which may be an error. */
static int pg_finish_statement(struct pg *pg, PGresult *r, const char *shape, PGresult **out,
                               struct err *err)
{
    if (!pg_is_good(r)) {
        int rc = pg_fail(pg, r, err);
        PQclear(r);
        return rc;
    }
    return pg_check(pg, r, shape, out, err);
}

/* Returns true if a statement may be sent: not while a page is read in pipeline mode. */
static bool pg_may_send(struct pg *pg)
{
    pg_wait_begin(pg, pg->answer.small_bytes);
    return PQpipelineStatus(pg->conn) == PQ_PIPELINE_OFF;
}

static int pg_run(struct pg *pg, bool sent, const char *shape, PGresult **out, struct err *err)
{
    PGresult *r;
    int rc = pg_finish(pg, sent, false, &r, err);
    return rc == 0 ? pg_check(pg, r, shape, out, err) : rc;
}

/* Runs a statement in the open transaction, or in one of its own. */
static int pg_exec_statement(struct pg *pg, PGresult **out, const struct pg_statement *s,
                             struct err *err)
{
    PGresult *r = NULL;
    if (out != NULL) {
        *out = NULL;
    }
    if (PQtransactionStatus(pg->conn) == PQTRANS_IDLE) {
        int rc = pg_run_guarded(pg, &r, s, err);
        return rc == 0 ? pg_finish_statement(pg, r, s->shape, out, err) : rc;
    }
    bool sent = pg_may_send(pg) && PQsendQueryParams(pg->conn, s->sql, (int)s->count, s->types,
                                                     s->params, NULL, NULL, 0) == 1;
    return pg_run(pg, sent, s->shape, out, err);
}

int pg_exec(struct pg *pg, PGresult **out, const char *shape, const char *sql, const Oid *types,
            const char *const *params, size_t count, struct err *err)
{
    const struct pg_statement s = {.sql = sql,
                                   .shape = shape,
                                   .purpose = PG_READS,
                                   .types = types,
                                   .params = params,
                                   .count = count};
    return pg_exec_statement(pg, out, &s, err);
}

/* struct pg_result is libpq's PGresult under our name. */
static PGresult **pg_outer(struct pg_result **out)
{
    return (PGresult **)(void *)out;
}

int pg_query(struct pg *pg, struct pg_result **out, const char *shape, const char *sql,
             const char *const *params, size_t count, struct err *err)
{
    return pg_exec(pg, pg_outer(out), shape, sql, NULL, params, count, err);
}

/* A text of migrations/source as a statement. */
static struct pg_statement pg_named_statement(const char *name, const char *const *params,
                                              size_t count)
{
    const char *sql = embed_text(source_sql, name);
    return (struct pg_statement){.sql = sql,
                                 .shape = pg_shape_of(sql),
                                 .purpose = pg_purpose_of(sql),
                                 .params = params,
                                 .count = count};
}

int pg_ask(struct pg *pg, struct pg_result **out, const char *name, const char *const *params,
           size_t count, struct err *err)
{
    const struct pg_statement s = pg_named_statement(name, params, count);
    if (out != NULL) {
        *out = NULL;
    }
    int rc = s.purpose != PG_READS ? pg_trust_log(pg, err) : 0;
    return rc == 0 ? pg_exec_statement(pg, pg_outer(out), &s, err) : rc;
}

int pg_describe(struct pg *pg, PGresult **out, const char *sql, struct err *err)
{
    *out = NULL;
    bool sent = pg_may_send(pg) && PQsendPrepare(pg->conn, "", sql, 0, NULL) == 1;
    int rc = pg_run(pg, sent, NULL, NULL, err);
    if (rc < 0) {
        return rc;
    }
    sent = pg_may_send(pg) && PQsendDescribePrepared(pg->conn, "") == 1;
    return pg_finish(pg, sent, false, out, err);
}

/* Returns the slot in which the session records the prepared text; null if all are taken. */
static const char **pg_prepared_place(struct pg *pg, const char *name)
{
    for (int i = 0; i < PG_PREPARED_MOST; i++) {
        if (pg->prepared[i] == NULL || strcmp(pg->prepared[i], name) == 0) {
            return &pg->prepared[i];
        }
    }
    return NULL;
}

/* The statement may have been prepared before it failed. */
static void pg_forget_prepared(struct pg *pg, const char *name)
{
    char sql[64];
    struct err ignored;
    snprintf(sql, sizeof(sql), "deallocate \"%s\"", name);
    (void)!pg_script(pg, sql, &ignored);
}

int pg_ask_again(struct pg *pg, struct pg_result **out, const char *name, const char *const *params,
                 size_t count, struct err *err)
{
    PGresult *r = NULL;
    const char **place = pg_prepared_place(pg, name);
    struct pg_statement s = pg_named_statement(name, params, count);
    s.name = place != NULL ? name : NULL;
    s.prepare = place != NULL && *place == NULL;
    *out = NULL;
    int rc = s.purpose != PG_READS ? pg_trust_log(pg, err) : 0;
    rc = rc == 0 ? pg_run_guarded(pg, &r, &s, err) : rc;
    rc = rc == 0 ? pg_finish_statement(pg, r, s.shape, pg_outer(out), err) : rc;
    if (rc == 0 && place != NULL) {
        *place = name;
    } else if (rc < 0 && s.prepare && pg->conn != NULL) {
        pg_forget_prepared(pg, name);
    }
    return rc;
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
    PGresult *r;
    bool sent = pg_may_send(pg) && PQsendQuery(pg->conn, sql) == 1;
    int rc = pg_finish(pg, sent, true, &r, err);
    PQclear(r);
    return rc;
}

int pg_query_plain(struct pg *pg, struct pg_result **out, const char *shape, const char *sql,
                   struct err *err)
{
    PGresult *r;
    bool sent = pg_may_send(pg) && PQsendQuery(pg->conn, sql) == 1;
    int rc = pg_finish(pg, sent, true, &r, err);
    return rc == 0 ? pg_check(pg, r, shape, pg_outer(out), err) : rc;
}

static const PGresult *pg_inner(const struct pg_result *r)
{
    return (const PGresult *)(const void *)r;
}

size_t pg_rows(const struct pg_result *r)
{
    return (size_t)PQntuples(pg_inner(r));
}

const char *pg_text(const struct pg_result *r, size_t row, size_t column)
{
    bool null = PQgetisnull(pg_inner(r), (int)row, (int)column) != 0;
    return null ? NULL : PQgetvalue(pg_inner(r), (int)row, (int)column);
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

const char *pg_int_text(char out[PG_INT_BYTES], int64_t value)
{
    snprintf(out, PG_INT_BYTES, "%" PRId64, value);
    return out;
}

static void pg_read_integer(char *out, size_t size, int64_t value)
{
    const uint32_t narrow = (uint32_t)value;
    memcpy(out, size == sizeof(narrow) ? (const void *)&narrow : (const void *)&value, size);
}

void pg_read_row(const struct pg_result *r, size_t row, size_t column,
                 const struct pg_member *members, void *out)
{
    for (const struct pg_member *m = members; m->type != PG_END; m++, column++) {
        char *at = (char *)out + m->offset;
        const char *text = pg_text(r, row, column);
        const char *copy = text != NULL && m->type == PG_COPY ? text_copy(text) : NULL;
        bool set = pg_true(r, row, column);
        size_t len = text != NULL ? strlen(text) : 0;
        switch (m->type) {
        case PG_INTEGER:
            pg_read_integer(at, m->size, pg_int(r, row, column));
            break;
        case PG_BOOL:
            memcpy(at, &set, sizeof(set));
            break;
        case PG_LETTER:
            *at = text != NULL ? *text : '\0';
            break;
        case PG_COPY:
            memcpy(at, &copy, sizeof(copy));
            break;
        case PG_CHARS:
            len = text_cut(text, len, m->size - 1);
            memcpy(at, text != NULL ? text : "", len);
            at[len] = '\0';
            break;
        case PG_SKIP:
        case PG_END:
            break;
        }
    }
}

int pg_ask_row(struct pg *pg, const char *name, const char *const *params, size_t count,
               const struct pg_member *members, void *out, struct err *err)
{
    struct pg_result *r = NULL;
    int rc = pg_ask(pg, &r, name, params, count, err);
    if (rc == 0) {
        pg_read_row(r, 0, 0, members, out);
    }
    pg_result_release(r);
    return rc;
}

static const struct pg_member single_bool[] = {{PG_BOOL, 0, sizeof(bool)}, {0}};

int pg_ask_bool(struct pg *pg, const char *name, const char *const *params, size_t count, bool *out,
                struct err *err)
{
    *out = false;
    return pg_ask_row(pg, name, params, count, single_bool, out, err);
}

int pg_query_bool(struct pg *pg, const char *sql, const char *const *params, size_t count,
                  bool *out, struct err *err)
{
    struct pg_result *r = NULL;
    int rc = pg_query(pg, &r, "one: bool", sql, params, count, err);
    *out = rc == 0 && pg_true(r, 0, 0);
    pg_result_release(r);
    return rc;
}
