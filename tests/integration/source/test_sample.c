/* SPDX-License-Identifier: Apache-2.0 */
/* Representative rows: their selection, and SQL's results about their values. */
#include "rowferry/source/sample/sample.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "server.h"
#include "sql.h"
#include "suite.h"

#define MAPPING                                                                                    \
    "{\"properties\":{\"a\":{\"type\":\"keyword\"},\"n\":{\"type\":\"double\"},\"k\":{\"type\":"   \
    "\"integer\"},\"at\":{\"type\":\"date\"},\"t\":{\"type\":\"text\"},\"s\":{\"type\":"           \
    "\"keyword\","                                                                                 \
    "\"ignore_above\":5},\"o\":{\"type\":\"long\"}}}"

struct chosen {
    char *uri;
    PGconn *conn;
    struct mapping mapping;
    struct sample *sample;
    struct err err;
};

#define OK(call) ck_assert_msg((call) == 0, "%s: %s", #call, c->err.message)

static void open_sample(struct chosen *c, const char *sql, const struct listing_options *rows,
                        size_t count, const char *const *named, size_t named_count)
{
    struct pg *pg = NULL;
    c->uri = database_new();
    c->conn = sql_open(c->uri);
    sql_exec(c->conn, "%s", sql);
    OK(mapping_parse(&c->mapping, MAPPING, &c->err));
    struct source_options source = {.uri = c->uri,
                                    .connect_timeout_ms = 10000,
                                    .lock_timeout_ms = 5000,
                                    .application_name = "sample"};
    struct sample_options options = {.rows = rows,
                                     .mapping = &c->mapping,
                                     .document_bytes = 1 << 20,
                                     .count = count,
                                     .named = named,
                                     .named_count = named_count};
    OK(pg_open(&pg, &source, &c->err));
    OK(sample_open(&c->sample, pg, &options, &c->err));
}

static void close_sample(struct chosen *c)
{
    sample_free(c->sample);
    mapping_release(&c->mapping);
    PQfinish(c->conn);
    database_drop(c->uri);
}

/* Two columns form the key; row 7 is by far the longest. */
static const char table_sql[] =
    "create table odd (a text, b integer, n numeric, k integer[], at timestamptz not null, t text, "
    "s "
    "text, o oid, primary key (a, b)); insert into odd select 'x:' || i % 7, i, (500 - i) / 3.0, "
    "array[i % 5, null, i % 3], timestamptz '2024-01-01' + i * interval '1 minute', case when i <> "
    "9 "
    "then 'text ' || i || case when i = 7 then repeat(md5(i::text), 500) else '' end end, case i % "
    "3 "
    "when 0 then 'abc' when 1 then 'abcdefg' end, 4294967295 - i from generate_series(1, 400) i; "
    "analyze odd";

static const struct listing_options rows_of_odd = {.table = "odd"};

static bool has(const struct chosen *c, const char *key)
{
    size_t i;
    return sample_find(c->sample, span_make(key, strlen(key)), &i);
}

START_TEST(the_longest_the_emptiest_both_ends_and_the_named_are_in_it)
{
    struct chosen chosen = {0};
    struct chosen *c = &chosen;
    static const char *const named[] = {"x\\:4:200", "x\\:4:199", "none", "x\\:1:many"};
    size_t row;
    open_sample(c, table_sql, &rows_of_odd, 60, named, 4);
    ck_assert(has(c, "x\\:0:7"));
    ck_assert(has(c, "x\\:4:200"));
    ck_assert(has(c, "x\\:1:400")); /* newest */
    ck_assert(has(c, "x\\:1:1"));   /* oldest */
    ck_assert(!has(c, "none"));
    ck_assert(!has(c, "x\\:1:many"));
    ck_assert(sample_find(c->sample, span_make("x\\:4:200", 8), &row));
    ck_assert_int_eq(sample_stratum(c->sample, row), STRATUM_NAMED);
    ck_assert_int_eq(sample_rows(c->sample), 400);
    ck_assert(sample_rows_exact(c->sample));
    ck_assert_uint_ge(sample_count(c->sample), 60);
    ck_assert_uint_le(sample_count(c->sample), 64);
    close_sample(c);
}
END_TEST

START_TEST(rows_come_once_each_and_as_of_one_moment)
{
    struct chosen chosen = {0};
    struct chosen *c = &chosen;
    struct row row;
    bool end = false;
    size_t count = 0;
    open_sample(c, table_sql, &rows_of_odd, 60, NULL, 0);
    sql_exec(c->conn, "delete from odd");
    OK(sample_begin_rows(c->sample, &c->err));
    while (!end) {
        OK(sample_next_row(c->sample, &row, &end, &c->err));
        count += end ? 0 : 1;
        ck_assert(end || row.values[0].len > 0);
    }
    ck_assert_uint_eq(count, sample_count(c->sample));
    close_sample(c);
}
END_TEST

struct told {
    size_t count;
    int64_t last;
    char first[64];
    char lasts[64];
};

static void tell(void *context, size_t row, int64_t rank, const char *text)
{
    struct told *t = context;
    (void)row;
    ck_assert_int_ge(rank, t->last);
    snprintf(t->count == 0 ? t->first : t->lasts, 64, "%.63s", text);
    t->count++;
    t->last = rank;
}

static const struct plan_step *step_of(const struct chosen *c, const char *property)
{
    const struct plan *plan = sample_plan(c->sample);
    for (size_t i = 0; i < plan->count; i++) {
        if (strcmp(plan->steps[i].property, property) == 0) {
            return &plan->steps[i];
        }
    }
    ck_abort_msg("no %s", property);
}

static struct told values(struct chosen *c, const char *property)
{
    struct told t = {0};
    OK(sample_values(c->sample, step_of(c, property), tell, &t, &c->err));
    return t;
}

START_TEST(values_come_in_the_services_order)
{
    struct chosen chosen = {0};
    struct chosen *c = &chosen;
    const char *why;
    open_sample(c, table_sql, &rows_of_odd, 1000, NULL, 0);
    ck_assert_uint_eq(sample_count(c->sample), 400);
    struct told t = values(c, "n");
    ck_assert_uint_eq(t.count, 400);
    ck_assert_int_eq(t.last, 400);
    ck_assert_str_eq(t.first, "33.333333333333336");
    t = values(c, "a");
    ck_assert_int_eq(t.last, 7);
    ck_assert_str_eq(t.first, "x:0");
    ck_assert_str_eq(t.lasts, "x:6");
    t = values(c, "k"); /* of each array, without NULL */
    ck_assert_uint_eq(t.count, 800);
    ck_assert_int_eq(t.last, 5);
    t = values(c, "at");
    ck_assert_str_eq(t.first, "2024-01-01T00:01:00.000Z");
    t = values(c, "o");
    ck_assert_str_eq(t.first, "4294966895");
    t = values(c, "s"); /* values longer than ignore_above are not indexed */
    ck_assert_uint_eq(t.count, 133);
    ck_assert_int_eq(t.last, 1);
    ck_assert_int_eq(sample_how(c->sample, step_of(c, "t"), &why), SAMPLE_NOT);
    close_sample(c);
}
END_TEST

START_TEST(a_condition_and_a_query_hold_for_every_question)
{
    struct chosen chosen = {0};
    struct chosen *c = &chosen;
    static const struct listing_options rows = {
        .table = "odd",
        .where = "b <= 20 -- comment",
        .query = "select a, b, n * 2 as n, k, at, t, s, o from public.odd"};
    open_sample(c, table_sql, &rows, 30, NULL, 0);
    struct told t = values(c, "n");
    ck_assert_uint_le(t.count, 20); /* keys are from the table, rows from the query */
    close_sample(c);
    static const struct listing_options some = {.table = "odd", .where = "b <= 20 -- comment"};
    *c = (struct chosen){0};
    open_sample(c, table_sql, &some, 30, NULL, 0);
    ck_assert_uint_eq(sample_count(c->sample), 20);
    ck_assert_int_eq(sample_rows(c->sample), 20);
    ck_assert_uint_eq(values(c, "n").count, 20);
    close_sample(c);
}
END_TEST

START_TEST(a_role_that_may_read_some_columns_is_enough)
{
    struct chosen chosen = {0};
    struct chosen *c = &chosen;
    static const char sql[] =
        "create table odd (a text, b integer primary key, n numeric, k integer[], at timestamptz, "
        "t "
        "text, s text, o oid, secret text, born timestamptz not null default now()); insert into "
        "odd (b) "
        "select generate_series(1, 20); drop role if exists sampler; create role sampler; grant "
        "select (a, b, n, k, at, t, s, o) on odd to sampler; do $$ begin execute format('alter "
        "database %I set role sampler', current_database()); end $$";
    open_sample(c, sql, &rows_of_odd, 30, NULL, 0);
    ck_assert_uint_eq(sample_count(c->sample), 20);
    ck_assert_uint_eq(values(c, "n").count, 0);
    sample_free(c->sample);
    c->sample = NULL;
    sql_exec(c->conn, "reset role; drop owned by sampler; drop role sampler");
    close_sample(c);
}
END_TEST

/* Blocks are sampled: only a small part is read, but rows that match a condition are found. */
START_TEST(a_large_table_is_not_read_as_a_whole)
{
    struct chosen chosen = {0};
    struct chosen *c = &chosen;
    static const char sql[] =
        "create table odd (b integer primary key, a text, n numeric, k integer[], at timestamptz, "
        "t "
        "text, s text, o oid); insert into odd (b, a) select i, 'a' || i % 10 from "
        "generate_series(1, "
        "150000) i; analyze odd";
    open_sample(c, sql, &rows_of_odd, 50, NULL, 0);
    ck_assert(!sample_rows_exact(c->sample));
    ck_assert_int_eq(sample_rows(c->sample), 150000);
    ck_assert_uint_eq(sample_count(c->sample), 50);
    ck_assert(has(c, "150000"));
    close_sample(c);
    static const struct listing_options few = {.table = "odd", .where = "b between 5 and 14"};
    *c = (struct chosen){0};
    open_sample(c, sql, &few, 50, NULL, 0);
    ck_assert_uint_eq(sample_count(c->sample), 10);
    close_sample(c);
}
END_TEST

SUITE_MAIN("source/sample", the_longest_the_emptiest_both_ends_and_the_named_are_in_it,
           rows_come_once_each_and_as_of_one_moment, values_come_in_the_services_order,
           a_condition_and_a_query_hold_for_every_question,
           a_role_that_may_read_some_columns_is_enough, a_large_table_is_not_read_as_a_whole)
