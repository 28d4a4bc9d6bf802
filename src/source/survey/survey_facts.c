/* SPDX-License-Identifier: Apache-2.0 */
/* Facts about columns: the planner's statistics, and a sample of their values. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pg/template.h"
#include "rowferry/base/embed.h"
#include "rowferry/base/text.h"
#include "sql/sqlquote.h"
#include "survey/survey_private.h"

#define SAMPLE_VALUES 2000
#define SPREAD_ROWS 50000 /* larger tables are sampled at random blocks */
#define SHAPE_ROWS_MOST 2000
#define SAMPLE_TIMEOUT "set statement_timeout = '5s'"
#define SAMPLES_MOST_MS 30000 /* for all columns; a slow view yields fewer samples */

/* SQL expressions to count in the values of a type; constants if a value shows nothing beyond its
 * type. */
struct survey_probe {
    const char *types; /* of a column, or of an array's elements */
    const char *words, *unfit, *least, *flat;
};

static const struct survey_probe probes[] = {
    {" text varchar bpchar citext name ", "left(v::text, 500) like '% %'", "false", "0", "false"},
    {" date timestamp timestamptz ", "false", "v::text ~ 'infinity|BC$|^[0-9]{5}'", "0", "false"},
    {" float4 float8 numeric ", "false", "v::text in ('NaN', 'Infinity', '-Infinity')", "0",
     "false"},
    {" inet ", "false", "masklen(v) < case family(v) when 4 then 32 else 128 end", "0", "false"},
    {" point ", "false", "not ((v)[0] between -180 and 180 and (v)[1] between -90 and 90) ", "0",
     "false"},
    {" vector halfvec ", "false", "false", "cardinality(string_to_array(v::text, ','))",
     "v::text !~ '[1-9]'"},
};

/* For a list of numbers as a whole. */
static const struct survey_probe list_probe = {
    NULL, "false", "false",
    "case when array_ndims(v) = 1 and array_position(v, null) is null then cardinality(v) else 0 "
    "end",
    "v::text !~ '[1-9]'"};

static const struct survey_probe *survey_facts_probe_of(const struct column *c)
{
    char type[80];
    snprintf(type, sizeof(type), " %.60s ", c->type);
    for (size_t i = 0; i < sizeof(probes) / sizeof(probes[0]); i++) {
        if (c->category == 'b' && strstr(probes[i].types, type) != NULL) {
            return &probes[i];
        }
    }
    return NULL;
}

/* --- samples --------------------------------------------------------------------------------- */

/* Reads random blocks of a large table, else the first rows. */
static void survey_facts_push_source(struct buf *out, const struct table *t)
{
    query_push_source(out, t);
    if (t->query == NULL && t->estimated_rows > SPREAD_ROWS) {
        buf_printf(out, " tablesample system (%.6f)",
                   100.0 * 10 * SAMPLE_VALUES / (double)t->estimated_rows);
    }
}

/* If the query is refused, the column has no sample. A lost connection is noticed by the next
 * query. */
static struct pg_result *survey_facts_ask_sample(struct pg *pg, const char *shape,
                                                 const struct buf *sql)
{
    struct err ignored;
    struct pg_result *r = NULL;
    return !sql->failed && pg_query(pg, &r, shape, buf_text(sql), NULL, 0, &ignored) == 0 ? r
                                                                                          : NULL;
}

static void survey_facts_sample_values(struct pg *pg, const struct table *t, const char *value,
                                       const struct survey_probe *p, struct column_facts *f)
{
    static const struct pg_member members[] = {
        PG_MEMBER(struct column_facts, sampled), PG_MEMBER(struct column_facts, words),
        PG_MEMBER(struct column_facts, unfit),   PG_MEMBER(struct column_facts, longest),
        PG_MEMBER(struct column_facts, least),   PG_MEMBER(struct column_facts, most),
        PG_MEMBER(struct column_facts, flat),    {0}};
    struct buf sql;
    buf_init(&sql, SURVEY_TEXT_BYTES);
    buf_printf(&sql,
               "select count(v), count(*) filter (where %s), count(*) filter (where %s), "
               "max(octet_length(v::text)), min(%s), max(%s), count(*) filter (where %s) "
               "from (select %s as v from ",
               p->words, p->unfit, p->least, p->least, p->flat, value);
    survey_facts_push_source(&sql, t);
    buf_printf(&sql, " limit %d) s", SAMPLE_VALUES);
    struct pg_result *r =
        survey_facts_ask_sample(pg, "one: int, int, int, int?, int?, int?, int", &sql);
    if (r != NULL) {
        pg_read_row(r, 0, 0, members, f);
    }
    pg_result_release(r);
    buf_release(&sql);
}

/* --- shapes of JSON -------------------------------------------------------------------------- */

static void survey_facts_fill_shape(struct shape *s, const struct pg_result *r, size_t row)
{
    static const struct pg_member members[] = {
        PG_MEMBER(struct shape, objects),  PG_MEMBER(struct shape, listed),
        PG_MEMBER(struct shape, strings),  PG_MEMBER(struct shape, numbers),
        PG_MEMBER(struct shape, booleans), PG_MEMBER(struct shape, whole),
        PG_MEMBER(struct shape, dates),    PG_MEMBER(struct shape, words),
        PG_MEMBER(struct shape, longest),  {0}};
    s->name = text_copy(pg_text(r, row, 1) != NULL ? pg_text(r, row, 1) : "");
    pg_read_row(r, row, 2, members, s);
}

/* Adds the rows from *row on as members of `into`, as long as their depth is `depth`. */
static void survey_facts_take_members(struct shape *into, const struct pg_result *r, size_t *row,
                                      int64_t depth)
{
    while (*row < pg_rows(r) && pg_int(r, *row, 0) == depth) {
        into->members = mem_grow(into->members, into->member_count + 1, sizeof(*into->members));
        struct shape *member = &into->members[into->member_count++];
        *member = (struct shape){0};
        survey_facts_fill_shape(member, r, (*row)++);
        survey_facts_take_members(member, r, row, depth + 1);
    }
}

static void survey_facts_sample_shape(struct pg *pg, const struct table *t, const char *value,
                                      struct column_facts *f)
{
    struct buf sql;
    struct buf source;
    buf_init(&sql, SURVEY_TEXT_BYTES);
    buf_init(&source, SURVEY_TEXT_BYTES);
    survey_facts_push_source(&source, t);
    const struct placeholder places[] = {{"column", value}, {"source", buf_text(&source)}, {0}};
    template_fill(&sql, embed_text(source_sql, "survey_shape"), places);
    struct pg_result *r = survey_facts_ask_sample(pg, "any: int, text?, int*", &sql);
    if (r != NULL && pg_rows(r) > 0 && pg_rows(r) <= SHAPE_ROWS_MOST) {
        size_t row = 1;
        f->shape = mem_zero(1, sizeof(*f->shape));
        survey_facts_fill_shape(f->shape, r, 0);
        f->shape->cut = pg_rows(r) >= SHAPE_ROWS_MOST;
        survey_facts_take_members(f->shape, r, &row, 1);
    }
    pg_result_release(r);
    buf_release(&source);
    buf_release(&sql);
}

/* --- all columns ----------------------------------------------------------------------------- */

static void survey_facts_sample_array(struct pg *pg, const struct table *t, const char *value,
                                      const struct column *c, struct column_facts *f)
{
    struct buf unnested;
    const struct survey_probe *p = survey_facts_probe_of(&c->parts[0]);
    if (p == NULL) {
        return;
    }
    buf_init(&unnested, SURVEY_TEXT_BYTES);
    buf_printf(&unnested, "unnest(%s)", value);
    survey_facts_sample_values(pg, t, buf_text(&unnested), p, f);
    buf_release(&unnested);
    if (p == &probes[2] && f->unfit == 0) {
        survey_facts_sample_values(pg, t, value, &list_probe, f);
    }
}

static void survey_facts_sample_column(struct pg *pg, const struct table *t, const struct column *c,
                                       struct column_facts *f)
{
    struct buf value;
    bool json = strcmp(c->type, "json") == 0 || strcmp(c->type, "jsonb") == 0;
    buf_init(&value, SURVEY_TEXT_BYTES);
    buf_push_literal(&value, "t.");
    sqlquote_identifier(&value, c->name);
    if (json && c->category == 'b') {
        survey_facts_sample_shape(pg, t, buf_text(&value), f);
    } else if (column_is_array(c)) {
        survey_facts_sample_array(pg, t, buf_text(&value), c, f);
    } else if (survey_facts_probe_of(c) != NULL) {
        survey_facts_sample_values(pg, t, buf_text(&value), survey_facts_probe_of(c), f);
    }
    buf_release(&value);
}

static void survey_facts_take_statistics(const struct pg_result *r, const struct columns *columns,
                                         struct column_facts *out, bool *analysed)
{
    for (size_t i = 0; i < pg_rows(r); i++) {
        for (size_t k = 0; k < columns->count; k++) {
            if (strcmp(columns->items[k].name, pg_text(r, i, 0)) == 0) {
                out[k].analysed = true;
                out[k].width = (double)pg_int(r, i, 1);
                out[k].distinct = strtod(pg_text(r, i, 2), NULL);
                *analysed = true;
            }
        }
    }
}

int survey_facts(struct pg *pg, const struct table *t, const struct columns *columns,
                 struct column_facts *out, bool *analysed, struct err *err)
{
    struct pg_result *r = NULL;
    *analysed = false; /* the planner has no statistics for a query */
    int rc =
        t->query == NULL ? pg_ask(pg, &r, "survey_statistics", PG_PARAMS(PG_INT(t->oid)), err) : 0;
    survey_facts_take_statistics(r, columns, out, analysed);
    pg_result_release(r);
    rc = rc == 0 ? pg_script(pg, SAMPLE_TIMEOUT, err) : rc;
    int64_t end_ms = pg_now_ms() + SAMPLES_MOST_MS;
    for (size_t i = 0; i < columns->count && rc == 0 && pg_now_ms() < end_ms; i++) {
        survey_facts_sample_column(pg, t, &columns->items[i], &out[i]);
    }
    return rc;
}
