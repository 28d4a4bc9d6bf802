/* SPDX-License-Identifier: Apache-2.0 */
/* Streams one statement's rows. */
#include "reader.h"

#include <stdlib.h>

#include "rowferry/base/text.h"

void reader_release(struct reader *r)
{
    PQclear(r->current);
    free(r->values);
    *r = (struct reader){0};
}

int reader_send(struct reader *r, const char *sql, const char *const *params, size_t count,
                struct err *err)
{
    PGconn *conn = r->pg->conn;
    if (PQsendQueryParams(conn, sql, (int)count, NULL, params, NULL, NULL, 0) == 0 ||
        PQsetSingleRowMode(conn) == 0) {
        return pg_fail(r->pg, NULL, err);
    }
    return 0;
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
        switch (PQresultStatus(r->current)) {
        case PGRES_SINGLE_TUPLE:
            borrow(r, row);
            return READER_ROW;
        case PGRES_TUPLES_OK:
        case PGRES_COMMAND_OK:
            break;
        default:
            return r->current == NULL ? READER_END : pg_fail(r->pg, r->current, err);
        }
        PQclear(r->current);
        r->current = NULL;
    }
}
