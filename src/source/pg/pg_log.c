/* SPDX-License-Identifier: Apache-2.0 */
/* Transactions of one statement, and the check before the change log is read. */
#include <string.h>

#include "pg/pg_private.h"
#include "pg/pg_shape.h"
#include "pg/pg_wait.h"
#include "rowferry/base/embed.h"

#define RESULTS_MOST 32 /* six statements, each followed by a null */

enum pg_purpose pg_purpose_of(const char *sql)
{
    static const char *const writes[] = {"insert into rowferry.",  "update rowferry.",
                                         "delete from rowferry.",  "rowferry.prune(",
                                         "rowferry.join_members(", "rowferry.leave("};
    for (size_t i = 0; i < sizeof(writes) / sizeof(*writes); i++) {
        if (strstr(sql, writes[i]) != NULL) {
            return PG_WRITES_LOG;
        }
    }
    bool reads = strstr(sql, " rowferry.") != NULL || strstr(sql, "(rowferry.") != NULL;
    return reads ? PG_READS_LOG : PG_READS;
}

int pg_trust_log(struct pg *pg, struct err *err)
{
    struct pg_result *r = NULL;
    if (pg->log_trusted) {
        return 0;
    }
    const char *sql = embed_text(source_sql, "look_log");
    int rc = pg_query(pg, &r, pg_shape_of(sql), sql, NULL, 0, err);
    const char *fault = rc == 0 && pg_rows(r) > 0 ? pg_text(r, 0, 0) : NULL;
    if (fault != NULL) {
        err_set(err, ERR_REJECTED, "cannot trust the schema \"rowferry\" of the source: %s", fault);
        rc = err_hint(err,
                      "connect as its owner or its reader, or let its owner remove what is named; "
                      "keep the rest, which other pipelines may read (docs/rights.md)");
    }
    pg->log_trusted = rc == 0 && pg_rows(r) > 0; /* a standby may get the schema later */
    pg_result_release(r);
    return rc;
}

static bool pg_log_send(struct pg *pg, const char *sql)
{
    return PQsendQueryParams(pg->conn, sql, 0, NULL, NULL, NULL, NULL, 0) == 1;
}

static bool pg_log_send_statement(struct pg *pg, const struct pg_statement *s)
{
    if (s->name == NULL) {
        return PQsendQueryParams(pg->conn, s->sql, (int)s->count, s->types, s->params, NULL, NULL,
                                 0) == 1;
    }
    return (!s->prepare || PQsendPrepare(pg->conn, s->name, s->sql, 0, NULL) == 1) &&
           PQsendQueryPrepared(pg->conn, s->name, (int)s->count, s->params, NULL, NULL, 0) == 1;
}

/* Keeps the relevant result: the first error, else the only one that has rows. */
static PGresult *pg_log_better(PGresult *kept, PGresult *next)
{
    bool failed = kept != NULL && PQresultStatus(kept) == PGRES_FATAL_ERROR;
    bool worth = kept == NULL || PQresultStatus(next) == PGRES_FATAL_ERROR ||
                 (PQresultStatus(next) == PGRES_TUPLES_OK && !failed);
    PQclear(worth ? kept : next);
    return worth ? next : kept;
}

/* Reads to the end of the pipeline. A null ends each statement, the sync result ends the
 * pipeline. */
static int pg_log_collect(struct pg *pg, PGresult **kept, struct err *err)
{
    *kept = NULL;
    for (int nulls = 0, count = 0; nulls < 2; count++) {
        PGresult *r;
        int rc = pg_take(pg, &r, err);
        if (rc == 0 && (count == RESULTS_MOST || pg_is_copy(r))) {
            rc = pg_give_up(pg, err, "the source answered with %s",
                            count == RESULTS_MOST ? "too many results" : "a COPY");
        }
        if (rc < 0 || PQresultStatus(r) == PGRES_PIPELINE_SYNC) {
            PQclear(r);
            return rc;
        }
        nulls = r == NULL ? nulls + 1 : 0;
        *kept = r != NULL ? pg_log_better(*kept, r) : *kept;
    }
    return 0;
}

int pg_run_guarded(struct pg *pg, PGresult **out, const struct pg_statement *s, struct err *err)
{
    static const char *const begins[] = {
        [PG_READS] = "begin isolation level read committed read only",
        [PG_READS_LOG] = "begin isolation level read committed read only",
        [PG_WRITES_LOG] = "begin isolation level read committed read write"};
    struct err ignored;
    *out = NULL;
    pg_wait_begin(pg, pg->answer.small_bytes);
    bool sent = PQenterPipelineMode(pg->conn) == 1 && pg_log_send(pg, begins[s->purpose]) &&
                pg_log_send(pg, PG_GUARD_PATH) &&
                pg_log_send(pg, s->purpose == PG_READS ? PG_GUARD_ROWS_END : PG_GUARD_ROWS) &&
                pg_log_send_statement(pg, s) && pg_log_send(pg, "commit") &&
                PQpipelineSync(pg->conn) == 1;
    if (!sent) {
        return pg_fail(pg, NULL, err);
    }
    int rc = pg_log_collect(pg, out, err);
    if (rc == 0 && PQexitPipelineMode(pg->conn) != 1) {
        rc = pg_fail(pg, NULL, err);
    }
    if (rc < 0) {
        PQclear(*out);
        *out = NULL;
        return rc;
    }
    if (PQtransactionStatus(pg->conn) != PQTRANS_IDLE) {
        (void)!pg_script(pg, "rollback", &ignored);
    }
    return 0;
}
