/* SPDX-License-Identifier: Apache-2.0 */
/* Streams the rows of a page's statements. */
#include "rows/reader.h"

#include <stdlib.h>
#include <string.h>

#include "pg/pg_wait.h"
#include "rowferry/base/text.h"

#define DRAIN_MOST 100000 /* results: several pages */

void reader_release(struct reader *r)
{
    PQclear(r->current);
    free(r->values);
    *r = (struct reader){0};
}

static bool reader_queue(struct reader *r, struct reader_form form, const char *sql,
                         const char *const *params, size_t count)
{
    PGconn *conn = r->pg->conn;
    if (r->sent == READER_AHEAD) {
        return false;
    }
    if (r->sent == 0) {
        r->rows = 0;
        pg_wait_begin(r->pg, 0);
    }
    r->forms[r->sent] = form;
    return (PQpipelineStatus(conn) == PQ_PIPELINE_ON || PQenterPipelineMode(conn) == 1) &&
           PQsendQueryParams(conn, sql, (int)count, NULL, params, NULL, NULL, 0) == 1 &&
           (r->sent++ > 0 || PQsetSingleRowMode(conn) == 1);
}

int reader_send(struct reader *r, struct reader_form form, const char *sql,
                const char *const *params, size_t count, struct err *err)
{
    bool sent = reader_queue(r, form, sql, params, count) && PQsendFlushRequest(r->pg->conn) == 1;
    return sent ? pg_flush(r->pg, err) : pg_fail(r->pg, NULL, err);
}

int reader_commit(struct reader *r, struct err *err)
{
    bool sent = reader_queue(r, (struct reader_form){0}, "commit", NULL, 0) &&
                PQpipelineSync(r->pg->conn) == 1;
    r->ending = true;
    return sent ? pg_flush(r->pg, err) : pg_fail(r->pg, NULL, err);
}

static int reader_borrow(struct reader *r, struct row *row, struct err *err)
{
    int count = PQnfields(r->current);
    const struct reader_form *form = &r->forms[0];
    if (r->sent == 0 || count == 0 || (size_t)count != form->columns ||
        (form->most_rows > 0 && r->rows == form->most_rows)) {
        return pg_give_up(r->pg, err,
                          "the source's answer has more rows or other columns than its "
                          "question");
    }
    r->rows++;
    if ((size_t)count > r->capacity) {
        r->capacity = (size_t)count;
        r->values = mem_grow(r->values, r->capacity, sizeof(*r->values));
    }
    for (int i = 0; i < count; i++) {
        r->values[i] =
            (struct value){PQgetvalue(r->current, 0, i), (size_t)PQgetlength(r->current, 0, i),
                           PQgetisnull(r->current, 0, i) != 0};
    }
    *row = (struct row){.values = r->values, .count = (size_t)count};
    return READER_ROW;
}

/* Returns 1 if the caller must be informed, 0 for the last statement of a page, whose end is that
 * of the page. Single-row mode of the next statement must be requested before its first row
 * arrives. */
static int reader_end_statement(struct reader *r, struct err *err)
{
    if (r->sent == 0) {
        return pg_give_up(r->pg, err, "the source answered more statements than it was asked");
    }
    r->sent--;
    r->rows = 0;
    memmove(r->forms, r->forms + 1, r->sent * sizeof(r->forms[0]));
    if (r->sent > 0 && PQsetSingleRowMode(r->pg->conn) == 0) {
        return pg_fail(r->pg, NULL, err);
    }
    return r->sent > 0 || !r->ending;
}

/* Handles a result that is not a row. Returns 0 to continue. */
static int reader_end_result(struct reader *r, struct err *err)
{
    if (r->current == NULL) {
        int rc = reader_end_statement(r, err);
        return rc == 1 ? READER_END : rc;
    }
    ExecStatusType status = PQresultStatus(r->current);
    if (pg_is_copy(r->current)) {
        return pg_give_up(r->pg, err, "the source answered with a COPY");
    }
    if (status == PGRES_PIPELINE_SYNC) {
        r->ending = false;
        return PQexitPipelineMode(r->pg->conn) == 1 ? READER_END : pg_fail(r->pg, NULL, err);
    }
    return status == PGRES_TUPLES_OK || status == PGRES_COMMAND_OK
               ? 0
               : pg_fail(r->pg, r->current, err);
}

int reader_next(struct reader *r, struct row *row, struct err *err)
{
    PQclear(r->current);
    r->current = NULL;
    for (;;) {
        int rc = pg_hear(r->pg, err);
        if (rc <= 0) {
            return rc < 0 ? rc : READER_WAIT;
        }
        r->current = PQgetResult(r->pg->conn);
        if (PQresultStatus(r->current) == PGRES_SINGLE_TUPLE) {
            return reader_borrow(r, row, err);
        }
        rc = reader_end_result(r, err);
        PQclear(r->current);
        r->current = NULL;
        if (rc != 0) {
            return rc;
        }
    }
}

/* Reads to the end of the page. */
static int reader_drain(struct pg *pg, struct err *err)
{
    bool ended = false;
    for (int count = 0; !ended; count++) {
        PGresult *r;
        int rc = pg_take(pg, &r, err);
        if (rc == 0 && count == DRAIN_MOST) {
            rc = pg_give_up(pg, err, "the source's answer to a page does not end");
        }
        if (rc == 0 && r == NULL && PQstatus(pg->conn) != CONNECTION_OK) {
            rc = pg_fail(pg, NULL, err);
        }
        ended = PQresultStatus(r) == PGRES_PIPELINE_SYNC;
        PQclear(r);
        if (rc < 0) {
            return rc;
        }
    }
    return PQexitPipelineMode(pg->conn) == 1 ? 0 : pg_fail(pg, NULL, err);
}

int reader_give_up(struct reader *r, struct err *err)
{
    struct pg *pg = r->pg;
    bool sent = r->ending || PQpipelineSync(pg->conn) == 1;
    reader_release(r);
    r->pg = pg;
    int rc = sent ? reader_drain(pg, err) : pg_fail(pg, NULL, err);
    return rc == 0 ? pg_script(pg, "rollback", err) : rc;
}
