/* SPDX-License-Identifier: Apache-2.0 */
/* Queries for check, one statement each. */
#include "rowferry/source/catalog/review.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pg/pg_private.h"
#include "rowferry/base/text.h"
#include "sql/sqlquote.h"

#define SQL_MAX_BYTES ((size_t)1 << 20)
#define SAMPLE_OF_ROWS 20 /* times the sample size: larger tables are sampled by blocks */
#define CANCELLED "57014"

static const struct pg_member server_members[] = {
    PG_MEMBER(struct review_server, encoding),
    PG_MEMBER(struct review_server, clock_us),
    PG_MEMBER(struct review_server, sees_others),
    PG_MEMBER(struct review_server, open.pid),
    PG_MEMBER(struct review_server, open.age_ms),
    {.type = PG_SKIP}, /* role, application, state, gid: see below */
    {.type = PG_SKIP},
    {.type = PG_SKIP},
    {.type = PG_SKIP},
    PG_MEMBER(struct review_server, prepared.age_ms),
    PG_MEMBER(struct review_server, prepared.owner),
    PG_MEMBER(struct review_server, server.most),
    PG_MEMBER(struct review_server, server.others),
    PG_MEMBER(struct review_server, database.most),
    PG_MEMBER(struct review_server, database.others),
    PG_MEMBER(struct review_server, role.most),
    PG_MEMBER(struct review_server, role.others),
    PG_MEMBER(struct review_server, database.name),
    PG_MEMBER(struct review_server, role.name),
    {0}};

static void review_read_server(const struct pg_result *r, struct review_server *out)
{
    struct buf gid;
    const char *role = pg_text(r, 0, 5);
    const char *program = pg_text(r, 0, 6);
    const char *state = pg_text(r, 0, 7) != NULL ? pg_text(r, 0, 7) : "";
    pg_read_row(r, 0, 0, server_members, out);
    out->open.idle = strncmp(state, "idle", 4) == 0;
    if (out->open.pid != 0) {
        snprintf(out->open.who, sizeof(out->open.who), "\"%s\" of %s, %s",
                 program != NULL ? program : "", role != NULL ? role : "an unknown role", state);
    }
    if (pg_text(r, 0, 8) != NULL) {
        buf_init(&gid, SQL_MAX_BYTES);
        sqlquote_literal(&gid, pg_text(r, 0, 8));
        size_t len = text_cut(buf_text(&gid), gid.len, sizeof(out->prepared.gid) - 1);
        memcpy(out->prepared.gid, buf_text(&gid), len);
        buf_release(&gid);
    }
}

int review_server(struct pg *pg, struct review_server *out, struct err *err)
{
    struct pg_result *r = NULL;
    *out = (struct review_server){0};
    int rc = pg_ask(pg, &r, "review_server", NULL, 0, err);
    if (rc == 0) {
        review_read_server(r, out);
    }
    pg_result_release(r);
    return rc;
}

static int review_ask_rights(struct pg *pg, const char *name, const char *const *params,
                             size_t count, struct review_rights *out, struct err *err)
{
    struct pg_result *r = NULL;
    *out = (struct review_rights){0};
    int rc = pg_ask(pg, &r, name, params, count, err);
    if (rc == 0 && pg_rows(r) > 0) {
        out->count = pg_rows(r);
        out->items = mem_zero(out->count, sizeof(*out->items));
        for (size_t i = 0; i < out->count; i++) {
            out->items[i].words = text_copy(pg_text(r, i, 0));
            out->items[i].statement = pg_text(r, i, 1) != NULL ? text_copy(pg_text(r, i, 1)) : NULL;
        }
    }
    pg_result_release(r);
    return rc;
}

int review_missing(struct pg *pg, const struct table *t, bool log, struct review_rights *out,
                   struct err *err)
{
    return review_ask_rights(pg, "review_rights", PG_PARAMS(PG_INT(t->oid), log ? "t" : "f"), out,
                             err);
}

int review_surplus(struct pg *pg, const struct table *t, struct review_rights *out, struct err *err)
{
    return review_ask_rights(pg, "review_surplus", PG_PARAMS(PG_INT(t->oid)), out, err);
}

int review_writers(struct pg *pg, const struct table *t, struct review_rights *out, struct err *err)
{
    return review_ask_rights(pg, "review_writers", PG_PARAMS(PG_INT(t->oid)), out, err);
}

int review_bypass(struct pg *pg, const struct table *t, const char *reader,
                  struct review_rights *out, struct err *err)
{
    char managed[PG_SERVICE_BYTES];
    *out = (struct review_rights){0};
    int rc = pg_managed_service(pg, managed, err);
    return rc < 0
               ? rc
               : review_ask_rights(
                     pg, "review_bypass",
                     PG_PARAMS(PG_INT(t->oid), reader, managed[0] != '\0' ? "t" : "f"), out, err);
}

void review_push_bypass(struct pg *pg, const struct table *t, const char *reader, struct buf *out)
{
    struct err ignored;
    struct review_rights ways;
    if (review_bypass(pg, t, reader, &ways, &ignored) < 0 || ways.count == 0) {
        buf_push_text(out, "name a role in source.uri to which it does not apply: one with "
                           "bypassrls, or the owner of the table unless row security is forced");
    }
    for (size_t i = 0; i < ways.count; i++) {
        buf_printf(out, "%slet %s run: %s", i > 0 ? "; if that is impossible, " : "",
                   ways.items[i].words, ways.items[i].statement);
    }
    review_rights_release(&ways);
}

void review_rights_release(struct review_rights *r)
{
    for (size_t i = 0; i < r->count; i++) {
        free(r->items[i].words);
        free(r->items[i].statement);
    }
    free(r->items);
    *r = (struct review_rights){0};
}

int review_changes(struct pg *pg, const struct table *t, struct review_changes *out,
                   struct err *err)
{
    static const struct pg_member members[] = {PG_MEMBER(struct review_changes, inserts),
                                               PG_MEMBER(struct review_changes, updates),
                                               PG_MEMBER(struct review_changes, deletes),
                                               PG_MEMBER(struct review_changes, seconds),
                                               {0}};
    *out = (struct review_changes){0};
    return pg_ask_row(pg, "review_changes", PG_PARAMS(PG_INT(t->oid)), members, out, err);
}

const struct column *review_time_column(const struct columns *columns)
{
    static const char *const types[] = {"timestamptz", "timestamp"};
    for (size_t k = 0; k < sizeof(types) / sizeof(types[0]); k++) {
        for (size_t i = 0; i < columns->count; i++) {
            const struct column *c = &columns->items[i];
            if (c->not_null && c->category == 'b' && strcmp(c->type, types[k]) == 0) {
                return c;
            }
        }
    }
    return NULL;
}

const struct column *review_stream_time(const struct columns *columns,
                                        const struct review_changes *seen)
{
    bool only_added = seen->inserts >= REVIEW_STREAM_ROWS && seen->updates + seen->deletes == 0;
    return only_added ? review_time_column(columns) : NULL;
}

/* Returns true if a column has a user-defined type: its owner may have defined a cast to json,
 * which would run with our rights. */
static bool review_any_is_users(const struct table *t, const struct review_wanted *wanted)
{
    bool any = false;
    for (size_t i = 0; i < wanted->column_count; i++) {
        const struct column *c = row_columns_find(&t->columns, wanted->columns[i]);
        any = any || c == NULL || catalog_is_users(c);
    }
    return any;
}

/* percent: share of random blocks; 0: the first rows. */
static void review_push_sample(struct buf *sql, const struct table *t,
                               const struct review_wanted *wanted, double percent)
{
    buf_push_literal(sql, "select count(*), coalesce(avg(octet_length(d)), 0)::bigint, "
                          "coalesce(max(octet_length(d)), 0)::bigint from (select ");
    buf_push_text(sql, review_any_is_users(t, wanted) ? "r::text" : "row_to_json(r.*)::text");
    buf_push_literal(sql, " as d from (select ");
    for (size_t i = 0; i < wanted->column_count; i++) {
        buf_push_text(sql, i > 0 ? ", t." : "t.");
        sqlquote_identifier(sql, wanted->columns[i]);
    }
    buf_push_literal(sql, " from ");
    query_push_source(sql, t);
    if (percent > 0) {
        buf_printf(sql, " tablesample system (%.6f)", percent);
    }
    buf_printf(sql, " limit %zu) r) s", wanted->most);
}

static int review_sample_rows(struct pg *pg, const struct table *t,
                              const struct review_wanted *wanted, double percent,
                              struct review_sample *out, struct err *err)
{
    static const struct pg_member members[] = {PG_MEMBER(struct review_sample, rows),
                                               PG_MEMBER(struct review_sample, average_bytes),
                                               PG_MEMBER(struct review_sample, largest_bytes),
                                               {0}};
    struct buf sql;
    struct pg_result *r = NULL;
    buf_init(&sql, SQL_MAX_BYTES);
    review_push_sample(&sql, t, wanted, percent);
    int rc = pg_query(pg, &r, "one: int?, int?, int?", buf_text(&sql), NULL, 0, err);
    if (rc == 0) {
        pg_read_row(r, 0, 0, members, out);
    }
    pg_result_release(r);
    buf_release(&sql);
    return rc;
}

/* If the estimate is far off, the block sample may be empty. Then the first rows are read. */
static int review_sample_twice(struct pg *pg, const struct table *t,
                               const struct review_wanted *wanted, struct review_sample *out,
                               struct err *err)
{
    double percent = 0;
    if (t->query == NULL && t->is_heap &&
        t->estimated_rows > (int64_t)(SAMPLE_OF_ROWS * wanted->most)) {
        percent = 200.0 * (double)wanted->most / (double)t->estimated_rows;
    }
    int rc = review_sample_rows(pg, t, wanted, percent, out, err);
    return rc == 0 && out->rows == 0 && percent > 0 ? review_sample_rows(pg, t, wanted, 0, out, err)
                                                    : rc;
}

/* Limited by a timeout, because a query may need a long time for its first row. */
int review_sample(struct pg *pg, const struct table *t, const struct review_wanted *wanted,
                  struct review_sample *out, struct err *err)
{
    struct err ignored;
    *out = (struct review_sample){0};
    if (wanted->column_count == 0) {
        return 0;
    }
    int rc = pg_script(pg, "begin read only;" PG_GUARD_PATH "; set local statement_timeout = '10s'",
                       err);
    if (rc < 0) {
        return rc;
    }
    rc = review_sample_twice(pg, t, wanted, out, err);
    if (rc < 0 && strcmp(err->sqlstate, CANCELLED) == 0) {
        *out = (struct review_sample){.late = true};
        rc = 0;
    }
    int ended = pg_script(pg, "rollback", rc < 0 ? &ignored : err);
    return rc < 0 ? rc : ended;
}
