/* SPDX-License-Identifier: Apache-2.0 */
/* Chooses representative rows and reads them. */
#include "rowferry/source/sample/sample.h"

#include <stdlib.h>
#include <string.h>

#include "rowferry/source/catalog/keytext.h"
#include "rows/rowsql.h"
#include "sample/sample_private.h"
#include "sql/sqlquote.h"

#define POOL_LEAST 20000
#define POOL_TIMES 20         /* rows in the pool per wanted row */
#define POOL_ALL_BELOW 100000 /* rows: smaller tables are the pool as a whole */
#define KEYS_MAX_BYTES ((size_t)8 << 20)
#define ANSWER_MAX_BYTES ((uint64_t)1 << 30) /* the sample has the longest rows */

static const char *const stratum_names[] = {"named", "chance", "largest", "smallest",
                                            "nulls", "newest", "oldest",  "rest"};

const char *sample_stratum_name(enum stratum s)
{
    return stratum_names[s];
}

/* --- columns --------------------------------------------------------------------------------- */

/* This role may read only some of the table's columns; the pipeline may need no others. */
static bool sample_is_readable(const struct sample *s, const char *column)
{
    for (size_t i = 0; i < pg_rows(s->readable); i++) {
        if (strcmp(pg_text(s->readable, i, 0), column) == 0) {
            return true;
        }
    }
    return false;
}

/* --- the pool -------------------------------------------------------------------------------- */

/* Pushes the sum, over the table's columns, of an expression: `before`, the column, `behind`. */
static void sample_push_sum(struct sample *s, struct buf *sql, const char *before,
                            const char *behind)
{
    buf_push_literal(sql, "(0");
    for (size_t i = 0; i < s->base->columns.count; i++) {
        const char *name = s->base->columns.items[i].name;
        if (sample_is_readable(s, name)) {
            buf_printf(sql, " + %st.", before);
            sqlquote_identifier(sql, name);
            buf_push_text(sql, behind);
        }
    }
    buf_push_literal(sql, ")");
}

/* Returns the column that orders rows by age: the cursor's, else the first timestamp that is NOT
 * NULL. */
static const char *sample_time_column(const struct sample *s)
{
    if (s->options.rows->cursor != NULL) {
        return s->options.rows->cursor;
    }
    for (size_t i = 0; i < s->base->columns.count; i++) {
        const struct column *c = &s->base->columns.items[i];
        if (c->not_null && sample_is_readable(s, c->name) && c->category != COLUMN_ARRAY &&
            (strcmp(c->type, "timestamptz") == 0 || strcmp(c->type, "timestamp") == 0)) {
            return c->name;
        }
    }
    return NULL;
}

static void sample_push_key_present(struct sample *s, struct buf *sql)
{
    const char *where = s->options.rows->query == NULL ? s->options.rows->where : NULL;
    buf_push_literal(sql, "\n where ");
    keytext_push_columns(sql, s->base, " is not null", " and ");
    if (where != NULL) {
        buf_printf(sql, " and (\n%s\n)", where);
    }
}

static size_t sample_pool_size(const struct sample *s)
{
    size_t wanted = s->options.count * POOL_TIMES;
    return wanted > POOL_LEAST ? wanted : POOL_LEAST;
}

/* Returns the share of the table's blocks, in percent, that yields about one pool; 0: all of
 * them. */
static double sample_pool_share(const struct sample *s)
{
    int64_t rows = s->base->estimated_rows;
    return rows > POOL_ALL_BELOW ? 100 * (double)sample_pool_size(s) / (double)rows : 0;
}

static void sample_push_pool(struct sample *s, struct buf *sql, double share)
{
    const char *time = sample_time_column(s);
    buf_push_literal(sql, "with pool as materialized (select ");
    keytext_push(sql, "t", s->base);
    buf_push_literal(sql, " as k, ");
    sample_push_sum(s, sql, "coalesce(pg_column_size(", "), 0)");
    buf_push_literal(sql, " as size, ");
    sample_push_sum(s, sql, "(", " is null)::integer");
    buf_push_literal(sql, " as nulls, ");
    if (time != NULL) {
        buf_push_literal(sql, "t.");
        sqlquote_identifier(sql, time);
    } else {
        buf_push_literal(sql, "null::timestamptz");
    }
    buf_push_literal(sql, " as at, random() as dice\n  from ");
    query_push_table(sql, s->base);
    if (share > 0) {
        buf_printf(sql, " tablesample system (%.9f)", share > 100 ? 100 : share);
    }
    sample_push_key_present(s, sql);
    buf_printf(sql, "\n limit %zu)\n", sample_pool_size(s) * 5);
}

static void sample_push_stratum(struct buf *sql, enum stratum stratum, const char *where,
                                const char *order, size_t count)
{
    buf_printf(sql,
               "\nunion all (select %d, k, (select count(*) from pool) from pool where %s order by "
               "%s limit %zu)",
               (int)stratum, where, order, count);
}

/* Pushes the first or last rows by key, of the whole table. */
static void sample_push_edge(struct sample *s, struct buf *sql, enum stratum stratum,
                             const char *direction, size_t count)
{
    buf_printf(sql, "\nunion all (select %d, ", (int)stratum);
    keytext_push(sql, "t", s->base);
    buf_push_literal(sql, ", 0 from ");
    query_push_table(sql, s->base);
    sample_push_key_present(s, sql);
    buf_push_literal(sql, "\n order by ");
    keytext_push_columns(sql, s->base, direction, ", ");
    buf_printf(sql, " limit %zu)", count);
}

/* Chooses half of the rows by chance, and the other half from the extremes. */
static void sample_push_choice(struct sample *s, struct buf *sql, double share)
{
    size_t n = s->options.count;
    size_t tenth = n / 10 > 0 ? n / 10 : 1;
    size_t some = n / 20 > 0 ? n / 20 : 1;
    sample_push_pool(s, sql, share);
    buf_printf(sql, "(select %d, k, (select count(*) from pool) from pool order by dice limit %zu)",
               STRATUM_CHANCE, (n + 1) / 2);
    sample_push_stratum(sql, STRATUM_LARGEST, "true", "size desc, k", tenth);
    sample_push_stratum(sql, STRATUM_SMALLEST, "true", "size, k", tenth);
    sample_push_stratum(sql, STRATUM_NULLS, "nulls > 0", "nulls desc, dice desc", tenth);
    sample_push_stratum(sql, STRATUM_NEWEST, "at is not null", "at desc, k", some);
    sample_push_stratum(sql, STRATUM_OLDEST, "at is not null", "at, k", some);
    sample_push_edge(s, sql, STRATUM_NEWEST, " desc", some);
    sample_push_edge(s, sql, STRATUM_OLDEST, "", some);
    sample_push_stratum(sql, STRATUM_REST, "true", "dice", n);
}

static void sample_add_key(struct sample *s, const char *key, enum stratum stratum)
{
    if (keyset_add(&s->keys, span_make(key, strlen(key))) == KEYSET_NEW) {
        s->strata = mem_grow(s->strata, s->keys.count, 1);
        s->strata[s->keys.count - 1] = (unsigned char)stratum;
    }
}

static int sample_choose(struct sample *s, double share, int64_t *pool, struct err *err)
{
    struct buf sql;
    struct pg_result *r = NULL;
    buf_init(&sql, SAMPLE_SQL_BYTES);
    sample_push_choice(s, &sql, share);
    int rc = pg_query(s->pg, &r, "any: int, text, int", buf_text(&sql), NULL, 0, err);
    *pool = 0;
    for (size_t i = 0; rc == 0 && i < pg_rows(r); i++) {
        *pool = pg_int(r, i, 2) > *pool ? pg_int(r, i, 2) : *pool;
        if (s->keys.count < s->options.count + s->options.named_count) {
            sample_add_key(s, pg_text(r, i, 1), (enum stratum)pg_int(r, i, 0));
        }
    }
    pg_result_release(r);
    buf_release(&sql);
    return rc < 0 ? err_context(err, "could not choose rows of %s", s->base->quoted) : 0;
}

/* Random blocks may have too few rows that match the condition. Then the whole table is
 * searched. */
static int sample_choose_all(struct sample *s, struct err *err)
{
    int64_t pool = 0;
    double share = sample_pool_share(s);
    int rc = sample_choose(s, share, &pool, err);
    s->table_rows = share > 0 ? (int64_t)((double)pool * 100 / share) : pool;
    s->exact = share <= 0 && pool < (int64_t)sample_pool_size(s) * 5;
    if (rc == 0 && share > 0 && pool < (int64_t)s->options.count) {
        rc = sample_choose(s, 0, &pool, err);
        s->table_rows = pool;
        s->exact = pool < (int64_t)sample_pool_size(s) * 5;
    }
    bool all = s->options.rows->where == NULL || s->options.rows->query != NULL;
    if (!s->exact && (all || share <= 0) && s->base->estimated_rows > 0) {
        s->table_rows = s->base->estimated_rows; /* with a condition, only the pool is known */
    }
    return rc;
}

/* --- opening --------------------------------------------------------------------------------- */

/* A key written by a person may be impossible. So it is tested before the transaction, which an
 * error would abort. */
static int sample_add_named(struct sample *s, const char *key, struct err *err)
{
    bool possible = false;
    int rc = keytext_possible(s->pg, s->base, span_make(key, strlen(key)), &possible, err);
    if (rc == 0 && possible) {
        sample_add_key(s, key, STRATUM_NAMED);
    }
    return rc;
}

/* Looks up the rows that documents are made of, and compiles the plan. */
static int sample_define(struct sample *s, struct err *err)
{
    const struct sample_options *o = &s->options;
    const struct listing_options *r = o->rows;
    int rc = catalog_table(s->pg, &s->rows, r->table, r->key, r->key_count, err);
    if (rc == 0 && r->query != NULL) {
        rc = query_describe_columns(s->pg, s->rows, r->query, err);
    }
    struct plan_input input = {.mapping = o->mapping,
                               .columns = rc == 0 ? &s->rows->columns : NULL,
                               .fields = o->fields,
                               .field_count = o->field_count,
                               .document_bytes = o->document_bytes};
    if (rc == 0) {
        rc = plan_compile(&s->plan, &input, NULL, err);
        rc = rc < 0 ? err_context(err, "table %s", s->base->quoted) : 0;
    }
    return rc;
}

static int sample_look_up(struct sample *s, struct err *err)
{
    const struct listing_options *r = s->options.rows;
    int rc = catalog_table(s->pg, &s->base, r->table, r->key, r->key_count, err);
    if (rc == 0) {
        rc = pg_ask(s->pg, &s->readable, "sample_readable", PG_PARAMS(PG_INT(s->base->oid)), err);
    }
    return rc == 0 ? sample_define(s, err) : rc;
}

static int sample_prepare(struct sample *s, struct err *err)
{
    int rc = sample_look_up(s, err);
    for (size_t i = 0; i < s->options.named_count && rc == 0; i++) {
        rc = sample_add_named(s, s->options.named[i], err);
    }
    if (rc == 0) {
        rc =
            pg_script(s->pg, "begin isolation level repeatable read read only;" PG_GUARD_PATH, err);
    }
    if (rc == 0) {
        rc = sample_choose_all(s, err);
    }
    if (rc == 0) {
        s->chosen = true;
        rc = keyarrays_make(&s->arrays, &s->keys, 0, s->keys.count, s->base->key_count, err);
    }
    return rc;
}

int sample_open(struct sample **out, struct pg *pg, const struct sample_options *options,
                struct err *err)
{
    struct sample *s = mem_zero(1, sizeof(*s));
    s->pg = pg;
    s->pg->answer.small_bytes = ANSWER_MAX_BYTES;
    s->options = *options;
    keyset_init(&s->keys, KEYS_MAX_BYTES);
    int rc = sample_prepare(s, err);
    if (rc < 0) {
        sample_free(s);
        return rc;
    }
    *out = s;
    return 0;
}

int sample_redefine(struct sample *s, const struct sample_options *options, struct err *err)
{
    plan_release(&s->plan);
    catalog_table_free(s->rows);
    s->plan = (struct plan){0};
    s->rows = NULL;
    s->options = *options;
    return sample_define(s, err);
}

void sample_free(struct sample *s)
{
    if (s == NULL) {
        return;
    }
    if (s->chosen) {
        keyarrays_release(&s->arrays);
    }
    pg_result_release(s->row);
    pg_result_release(s->readable);
    plan_release(&s->plan);
    catalog_table_free(s->base);
    catalog_table_free(s->rows);
    keyset_release(&s->keys);
    free(s->values);
    free(s->strata);
    pg_close(s->pg);
    free(s);
}

/* --- the chosen keys ------------------------------------------------------------------------- */

size_t sample_count(const struct sample *s)
{
    return s->keys.count;
}

struct span sample_key(const struct sample *s, size_t i)
{
    return keyset_get(&s->keys, i);
}

enum stratum sample_stratum(const struct sample *s, size_t i)
{
    return (enum stratum)s->strata[i];
}

bool sample_find(const struct sample *s, struct span key, size_t *i)
{
    return keyset_place(&s->keys, key, i);
}

const char *sample_table(const struct sample *s)
{
    return s->base->quoted;
}

const struct plan *sample_plan(const struct sample *s)
{
    return &s->plan;
}

int64_t sample_rows(const struct sample *s)
{
    return s->table_rows;
}

bool sample_rows_exact(const struct sample *s)
{
    return s->exact;
}

/* --- rows ------------------------------------------------------------------------------------ */

int sample_push_rows(struct sample *s, struct buf *sql, size_t first, size_t count, struct err *err)
{
    struct rowsql rows = {0};
    struct rowsql_input in = {.table = s->rows,
                              .columns = (const char *const *)s->plan.columns + first,
                              .column_count = count,
                              .where = s->options.rows->where,
                              .zones = (const char *const *)s->plan.zones + first};
    int rc = rowsql_build(&rows, &in, err);
    if (rc == 0) {
        buf_push_text(sql, rows.again);
    }
    rowsql_release(&rows);
    return rc;
}

int sample_ask(struct sample *s, struct pg_result **r, const char *shape, const struct buf *sql,
               struct err *err)
{
    if (sql->failed) {
        return err_set(err, ERR_REJECTED, "the statement that asks %s would be too long",
                       s->base->quoted);
    }
    return pg_query(s->pg, r, shape, buf_text(sql), s->arrays.params, s->arrays.count, err);
}

int sample_begin_rows(struct sample *s, struct err *err)
{
    struct buf sql;
    int rc = s->values != NULL ? pg_script(s->pg, "close sampled", err) : 0;
    buf_init(&sql, SAMPLE_SQL_BYTES);
    buf_push_literal(&sql, "declare sampled no scroll cursor for\n");
    if (rc == 0) {
        rc = sample_push_rows(s, &sql, 0, s->plan.column_count, err);
    }
    if (rc == 0) {
        rc = sample_ask(s, NULL, NULL, &sql, err);
    }
    buf_release(&sql);
    free(s->values);
    s->values = mem_zero(s->plan.column_count + 1, sizeof(*s->values));
    return rc < 0 ? err_context(err, "could not read rows of %s", s->base->quoted) : 0;
}

/* Fetches one row at a time, because the longest rows are among them. */
int sample_next_row(struct sample *s, struct row *row, bool *end, struct err *err)
{
    pg_result_release(s->row);
    s->row = NULL;
    int rc = pg_query(s->pg, &s->row, "maybe: text?*", "fetch 1 from sampled", NULL, 0, err);
    if (rc < 0) {
        return err_context(err, "could not read rows of %s", s->base->quoted);
    }
    *end = pg_rows(s->row) == 0;
    const PGresult *r = (const PGresult *)(const void *)s->row;
    if (!*end && (size_t)PQnfields(r) != s->plan.column_count + 1) {
        return err_set(err, ERR_TRANSIENT,
                       "the source's answer has other columns than its question");
    }
    for (size_t i = 0; !*end && i <= s->plan.column_count; i++) {
        s->values[i] = (struct value){PQgetvalue(r, 0, (int)i), (size_t)PQgetlength(r, 0, (int)i),
                                      PQgetisnull(r, 0, (int)i) != 0};
    }
    *row = (struct row){.values = s->values, .count = s->plan.column_count + 1};
    return 0;
}
