/* SPDX-License-Identifier: Apache-2.0 */
/* Streams the rows of a page's statements. */
#include "reader.h"

#include <stdlib.h>

#include "rowferry/base/text.h"

void reader_release(struct reader *r)
{
    PQclear(r->current);
    free(r->values);
    *r = (struct reader){0};
}

static bool queue(struct reader *r, const char *sql, const char *const *params, size_t count)
{
    PGconn *conn = r->pg->conn;
    return (PQpipelineStatus(conn) == PQ_PIPELINE_ON || PQenterPipelineMode(conn) == 1) &&
           PQsendQueryParams(conn, sql, (int)count, NULL, params, NULL, NULL, 0) == 1 &&
           (r->sent++ > 0 || PQsetSingleRowMode(conn) == 1);
}

int reader_send(struct reader *r, const char *sql, const char *const *params, size_t count,
                struct err *err)
{
    bool sent = queue(r, sql, params, count) && PQsendFlushRequest(r->pg->conn) == 1 &&
                PQflush(r->pg->conn) == 0;
    return sent ? 0 : pg_fail(r->pg, NULL, err);
}

int reader_commit(struct reader *r, struct err *err)
{
    bool sent = queue(r, "commit", NULL, 0) && PQpipelineSync(r->pg->conn) == 1;
    r->ending = true;
    return sent ? 0 : pg_fail(r->pg, NULL, err);
}

static void borrow(struct reader *r, struct row *row)
{
    int count = PQnfields(r->current);
    if ((size_t)count > r->capacity) {
        r->capacity = (size_t)count;
        r->values = mem_grow(r->values, r->capacity, sizeof(*r->values));
    }
    for (int i = 0; i < count; i++) {
        r->values[i] =
            (struct value){PQgetvalue(r->current, 0, i), (size_t)PQgetlength(r->current, 0, i),
                           PQgetisnull(r->current, 0, i) != 0};
    }
    *row = (struct row){r->values, (size_t)count};
}

/* True where a result can be taken without waiting. */
static int ready(struct reader *r, struct err *err)
{
    PGconn *conn = r->pg->conn;
    if (PQisBusy(conn) == 0) {
        return 1;
    }
    if (PQconsumeInput(conn) == 0) {
        return pg_fail(r->pg, NULL, err);
    }
    return PQisBusy(conn) == 0;
}

/* 1 where the statement's end is one for the caller, too: behind the last of a page stands the
 * page's own. The next one's rows have to be asked for one by one before any of them arrives. */
static int end_statement(struct reader *r, struct err *err)
{
    r->sent--;
    if (r->sent > 0 && PQsetSingleRowMode(r->pg->conn) == 0) {
        return pg_fail(r->pg, NULL, err);
    }
    return r->sent > 0 || !r->ending;
}

static int end_page(struct reader *r, struct err *err)
{
    r->ending = false;
    return PQexitPipelineMode(r->pg->conn) == 1 ? READER_END : pg_fail(r->pg, NULL, err);
}

/* What follows a result that is no row; 0 to go on. */
static int end_result(struct reader *r, struct err *err)
{
    if (r->current == NULL) {
        int rc = end_statement(r, err);
        return rc == 1 ? READER_END : rc;
    }
    ExecStatusType status = PQresultStatus(r->current);
    if (status == PGRES_PIPELINE_SYNC) {
        return end_page(r, err);
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
        int rc = ready(r, err);
        if (rc <= 0) {
            return rc < 0 ? rc : READER_WAIT;
        }
        r->current = PQgetResult(r->pg->conn);
        if (PQresultStatus(r->current) == PGRES_SINGLE_TUPLE) {
            borrow(r, row);
            return READER_ROW;
        }
        rc = end_result(r, err);
        PQclear(r->current);
        r->current = NULL;
        if (rc != 0) {
            return rc;
        }
    }
}

static bool drain(PGconn *conn)
{
    bool ended = false;
    while (!ended && PQstatus(conn) == CONNECTION_OK) {
        PGresult *r = PQgetResult(conn);
        ended = PQresultStatus(r) == PGRES_PIPELINE_SYNC;
        PQclear(r);
    }
    return ended;
}

int reader_give_up(struct reader *r, struct err *err)
{
    PGconn *conn = r->pg->conn;
    struct pg *pg = r->pg;
    bool done =
        (r->ending || PQpipelineSync(conn) == 1) && drain(conn) && PQexitPipelineMode(conn) == 1;
    reader_release(r);
    r->pg = pg;
    return done ? pg_script(pg, "rollback", err) : pg_fail(pg, NULL, err);
}
