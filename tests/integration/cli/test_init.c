/* SPDX-License-Identifier: Apache-2.0 */
/* init on tables of many kinds: its configuration passes check, sync and verify unchanged. */
#include "shops.h"
#include "suite.h"

/* Loads the table with the unedited configuration, which must contain the text. */
static void expect_loads(const char *sql, const char *table, int64_t documents, const char *text)
{
    struct shop s;
    shop_open(&s, sql, NULL);
    shop_init(&s, table, NULL);
    shop_says(&s, text);
    shop_loads(&s, documents);
    shop_close(&s);
}

START_TEST(a_catalogue_of_packages)
{
    struct shop s;
    shop_open(
        &s,
        "create table packages (source_id bigint generated always as identity primary key, "
        "package text not null, version text, section text, installed_size bigint, "
        "maintainer varchar(300), tags text[], description text, essential boolean, first_seen "
        "date, updated_at timestamptz not null default now()); insert into packages (package, "
        "version, section, installed_size, maintainer, tags, description, first_seen) select "
        "'lib-pkg-' || i, i || '.0-1', (array['libs', 'net'])[1 + i % 2], i, 'Maintainer ' || i "
        "|| ' <m@debian.example>', array['role::x', 'use::' || i % 9], repeat('It does much. ', "
        "30), date '2020-01-01' + i from generate_series(1, 3000) i; create index changed on "
        "packages (updated_at, source_id); analyze packages",
        NULL);
    shop_init(&s, "packages", NULL);
    shop_says(&s, "\"section\": { \"type\": \"keyword\", \"ignore_above\": 8191 },");
    shop_says(&s, "// text, 2 different values");
    shop_says(&s, "\"description\": { \"type\": \"text\" },");
    shop_says(&s, "this role may install it");
    shop_says(&s, "//   \"capture\": { \"mode\": \"cursor\", \"column\": \"updated_at\"");
    ck_assert(!shop_has(&s, "no statistics"));
    shop_loads(&s, 3000);
    sql_exec(s.conn, "update packages set installed_size = 0 where source_id <= 10; delete from "
                     "packages where source_id > 2995");
    shop_follows(&s, 15);
    shop_close(&s);
}
END_TEST

START_TEST(a_key_of_several_columns)
{
    expect_loads(
        "create table prices (region text, sku int, price numeric(12,2), currency char(3), "
        "ratio numeric, primary key (region, sku)); insert into prices select (array['eu', "
        "'a:b', 'x\\y'])[1 + i % 3], i, i * 1.25, 'EUR', i / 7.0 from generate_series(1, 300) "
        "i",
        "prices", 300, "\"key\": [\"region\", \"sku\"]");
}
END_TEST

START_TEST(a_partitioned_table)
{
    expect_loads(
        "create table events (id bigint, at timestamptz, kind text, primary key (id, at)) "
        "partition by range (at); create table events_1 partition of events for values from "
        "('2024-01-01') to ('2025-01-01'); create table events_2 partition of events default; "
        "insert into events select i, timestamptz '2024-06-01' + i * interval '1 day', 'kind '"
        " || i % 3 from generate_series(1, 400) i; analyze events_1, events_2",
        "events", 400, "// text, 3 different values");
}
END_TEST

START_TEST(documents_of_jsonb)
{
    struct shop s;
    shop_open(
        &s,
        "create table docs (id uuid primary key default gen_random_uuid(), body jsonb, names "
        "jsonb, list jsonb, raw json, mixed jsonb, nothing jsonb); insert into docs (body, names, "
        "list, raw, mixed) select jsonb_build_object('title', 'A title ' || i, 'n', i, 'at', "
        "'2024-05-01T10:00:00Z', 'flag', i % 2 = 0, 'author', jsonb_build_object('name', 'Ann'), "
        "'comments', jsonb_build_array(jsonb_build_object('by', 'x', 'stars', i % 5)), 'odd', "
        "case when i % 2 = 0 then to_jsonb(i) else '\"s\"' end, 'a.b', 1, '', 2), (select "
        "jsonb_object_agg('k' || i || k, k) from generate_series(1, 5) k), jsonb_build_array('a', "
        "'b' || i), '{\"x\": 1.5}', case i % 3 when 0 then '1'::jsonb when 1 then '\"s\"' else "
        "'{\"a\": 1}' end from generate_series(1, 400) i; update docs set body = body - ''",
        NULL);
    shop_init(&s, "docs", NULL);
    shop_says(&s, "\"comments\": { \"type\": \"nested\", \"dynamic\": false, \"properties\": {");
    shop_says(&s, "\"at\": { \"type\": \"date\", \"ignore_malformed\": true }");
    shop_says(&s, "\"names\": { \"type\": \"flat_object\" }");
    shop_says(&s, "\"mixed\": { \"type\": \"object\", \"enabled\": false }");
    ck_assert(!shop_has(&s, "\"odd\""));
    shop_loads(&s, 400);
    sql_exec(s.conn, "update docs set body = '{\"new\": {\"deep\": [1, {}]}, \"n\": \"text\"}'");
    shop_follows(&s, 400);
    shop_close(&s);
}
END_TEST

#define ORDERS                                                                                     \
    "create table customers (id int primary key, name text not null, photo bytea, seen "           \
    "timestamptz "                                                                                 \
    "default now()); create table orders (id bigint primary key, customer_id int references "      \
    "customers, note text, total numeric(10,2)); create table lines (order_id bigint not null "    \
    "references orders, line int, x text, amounts int[], extra jsonb, valid daterange, primary "   \
    "key (order_id, line)); create table remarks (\"the order\" bigint references orders, "        \
    "\"text\" "                                                                                    \
    "text); insert into customers select i, 'Customer ' || i from generate_series(1, 20) i; "      \
    "insert "                                                                                      \
    "into orders select i, nullif(i % 20, 0), 'note ' || i, i * 1.5 from generate_series(1, 100) " \
    "i; "                                                                                          \
    "insert into lines select i, k, 'sku' || k, array[k], '{\"a\": [1]}', "                        \
    "daterange('2024-01-01', "                                                                     \
    "null) from generate_series(1, 90) i, generate_series(1, 3) k; insert into remarks select i, " \
    "'well' from generate_series(1, 50) i; "

static void await_statistics(PGconn *conn, int64_t changes)
{
    static const char seen[] = "select coalesce(sum(n_tup_ins + n_tup_upd), 0)::bigint "
                               "from pg_stat_user_tables where relname = 'visits'";
    struct deadline deadline = deadline_after(WAIT_MS);
    while (sql_int(conn, seen) < changes) {
        ck_assert(deadline_wait(&deadline));
    }
}

START_TEST(rows_that_are_only_added_suit_a_data_stream)
{
    static const char *const stream[] = {"--kind", "data_stream", "--force", NULL};
    struct program_result r;
    struct shop s;
    shop_open(&s,
              "create table visits (id bigint primary key, path text, at timestamptz not null); "
              "insert into visits select i, '/page/' || i, timestamptz '2026-01-01' + i * interval "
              "'1 s' from generate_series(1, 1200) i; analyze visits",
              NULL);
    await_statistics(s.conn, 1200);
    shop_init(&s, "visits", NULL);
    shop_says(&s, "// Rows were only added: 1,200 inserts, no update and no delete in ");
    shop_says(&s, "// which init writes with --kind data_stream.");
    shop_runs(&s, "source", "install");
    rowferry_run(&r, s.config, "check", "--all", NULL);
    ck_assert_msg(strstr(r.out, "\"kind\": \"data_stream\" with \"fields\": {\"@timestamp\": "
                                "\"at\"}") != NULL,
                  "%s", r.out);
    program_result_release(&r);
    shop_init(&s, "visits", stream);
    shop_says(&s, "\"kind\": \"data_stream\"");
    shop_says(&s, "\"@timestamp\": \"at\"");
    shop_loads(&s, 1200);
    sql_exec(s.conn, "update visits set path = '/' where id <= 20");
    await_statistics(s.conn, 1220);
    static const char *const again[] = {"--force", NULL};
    shop_init(&s, "visits", again);
    ck_assert(!shop_has(&s, "Rows were only added"));
    shop_close(&s);
}
END_TEST

START_TEST(a_view)
{
    struct shop s;
    shop_open(&s,
              ORDERS
              "create view inner_view as select o.id as number, o.total, c.name as customer, "
              "(select count(*) from lines l where l.order_id = o.id) as lines from orders o "
              "left join customers c on c.id = o.customer_id; create view bills as select "
              "number as bill, total, customer, lines, jsonb_build_object('name', customer) as "
              "buyer from inner_view where total > 3",
              NULL);
    shop_init(&s, "bills", NULL);
    shop_says(&s, "\"table\": \"public.orders\"");
    shop_says(&s, "select v.bill as id, v.total, v.customer, v.lines, v.buyer from public.bills v");
    shop_says(&s, "\"buyer\": { \"type\": \"object\", \"dynamic\": false, \"properties\": {");
    shop_loads(&s, 98);
    sql_exec(s.conn, "update customers set name = 'Other' where id = 1");
    shop_follows(&s, 5);
    sql_exec(s.conn,
             "insert into lines values (5, 9), (95, 9); update orders set total = 1 where id "
             "= 7");
    shop_follows(&s, 3);
    shop_close(&s);
}
END_TEST

START_TEST(a_view_over_tables_that_no_foreign_key_joins)
{
    struct shop s;
    shop_open(
        &s,
        "create table rates (code text primary key, rate numeric); create table sales (id int "
        "primary key, code text, amount int); insert into rates values ('a', 2); insert into "
        "sales select i, 'a', i from generate_series(1, 30) i; create view worth as select "
        "s.id, s.amount * r.rate as worth from sales s join rates r using (code)",
        NULL);
    shop_init(&s, "worth", NULL);
    shop_says(&s, "no foreign key leads from public.rates to the table");
    shop_loads(&s, 30);
    sql_exec(s.conn, "update rates set rate = 3");
    shop_follows(&s, 30);
    shop_close(&s);
}
END_TEST

START_TEST(parents_and_children)
{
    struct shop s;
    static const char *const with[] = {"customers", "lines", "remarks", NULL};
    shop_open(&s, ORDERS "analyze orders, lines", NULL);
    shop_init(&s, "orders", with);
    shop_says(&s, "\"customer\": { \"type\": \"object\", \"properties\": {");
    shop_says(&s, "\"lines\": { \"type\": \"nested\", \"properties\": {");
    shop_says(&s, "{ \"table\": \"public.lines\", \"key\": [\"order_id\"],");
    shop_says(&s, "// Costly: no index of public.remarks begins with \"the order\"");
    ck_assert(!shop_has(&s, "no index of public.lines"));
    ck_assert(!shop_has(&s, "photo"));
    shop_loads(&s, 100);
    sql_exec(s.conn, "update customers set name = 'Other' where id = 1");
    shop_follows(&s, 5);
    sql_exec(s.conn, "delete from lines where order_id = 4; update remarks set \"the order\" = 60 "
                     "where \"the order\" = 50");
    shop_follows(&s, 3);
    shop_close(&s);
}
END_TEST

START_TEST(a_wide_table)
{
    expect_loads(
        "do $$ declare s text := ''; begin for i in 1..600 loop s := s || format(', column_%s "
        "%s', i, (array['text', 'int', 'numeric(10,2)', 'timestamptz', 'boolean'])[1 + i % "
        "5]); end loop; execute 'create table wide (id int primary key' || s || ')'; execute "
        "'insert into wide (id, column_5, column_598) select i, ''t'', now() from "
        "generate_series(1, 100) i'; end $$",
        "wide", 100, "\"column_600\"");
}
END_TEST

START_TEST(a_table_with_more_fields_than_a_service_takes_by_default)
{
    expect_loads(
        "do $$ declare s text := ''; begin for i in 1..1100 loop s := s || format(', c%s int', "
        "i); end loop; execute 'create table wide (id int primary key' || s || ')'; insert "
        "into wide (id, c1100) values (1, 2); end $$",
        "wide", 1, "\"index.mapping.total_fields.limit\": 4000");
}
END_TEST

START_TEST(a_table_without_timestamps_statistics_or_rows)
{
    expect_loads("create table plain (id int primary key, title text)", "plain", 0,
                 "no statistics: both ways");
}
END_TEST

START_TEST(names_that_need_quotes)
{
    struct shop s;
    shop_open(
        &s,
        "create table \"Odd.Table \"\"x\"\"\" (\"Key Column\" text primary key, \"select\" int, "
        "\"a.b\" text, a_b int, \"_id\" int, source_id text, \"with \"\"quotes\"\"\" date, "
        "\"Größe\" real); insert into \"Odd.Table \"\"x\"\"\" select 'k: ' || i, i, 'x', i, i, "
        "'s', "
        "'2024-01-01', 1.5 from generate_series(1, 50) i; create table \"order\" (id int "
        "primary key, \"Odd Key\" text references \"Odd.Table \"\"x\"\"\"); insert into "
        "\"order\" select i, 'k: ' || i from generate_series(1, 20) i",
        NULL);
    static const char *const with[] = {"order", NULL};
    shop_init(&s, "public.\"Odd.Table \"\"x\"\"\"", with);
    shop_says(&s, "\"a_b_2\": \"a_b\"");
    shop_says(&s, "\"column_source_id\": \"source_id\"");
    shop_says(&s, "-odd-table-x\"");
    shop_loads(&s, 50);
    sql_exec(s.conn, "delete from \"order\" where id = 3");
    shop_follows(&s, 1);
    shop_close(&s);
}
END_TEST

START_TEST(types_of_all_kinds)
{
    struct shop s;
    shop_open(
        &s,
        "create type address as (street text, zip int); create type mood as enum ('good', 'bad');"
        "create table kinds (code text not null unique, a int[], emb float8[], r int4range, tr "
        "tstzrange, ip inet, net cidr, ips inet, mac macaddr, p point, poly polygon, t time, iv "
        "interval, addr address, addrs address[], b bytea, ts tsvector, m money, mo mood, bits "
        "bit(3), ch char(5), nan float8, inf timestamptz, nums numeric[], flags bool[]); insert "
        "into kinds select 'c' || i, array[i, null, 2], (select array_agg(sin(i + k)) from "
        "generate_series(1, 16) k), int4range(i, i + 5), tstzrange(now(), null), '10.0.0.1', "
        "'10.0.0.0/8', '10.1.0.0/16', '08:00:2b:01:02:03', point(i, i), '((0,0),(1,1),(1,0))', "
        "'10:00', '1 day', row('s', i)::address, array[row('s', i)::address], '\\xff', "
        "to_tsvector('simple', 'a b'), 3, 'good', '101', 'ab', case i when 3 then 'NaN'::float8 "
        "else 1 "
        "end, case i when 4 then 'infinity'::timestamptz else now() end, array[1.5], "
        "array[true] from generate_series(1, 50) i",
        NULL);
    shop_init(&s, "kinds", NULL);
    shop_says(&s, "the unique index kinds_code_key identifies a row");
    shop_says(&s, "\"emb\": { \"type\": \"knn_vector\", \"dimension\": 16 }");
    shop_says(&s, "\"index.knn\": true");
    shop_says(&s, "\"ip\": { \"type\": \"ip\" }");
    shop_says(&s, "\"ips\": { \"type\": \"ip_range\" }");
    shop_says(&s, "\"addrs\": { \"type\": \"nested\"");
    shop_says(&s, "// \"b\": { \"type\": \"binary\" }");
    shop_loads(&s, 50);
    shop_close(&s);
}
END_TEST

START_TEST(the_same_for_elasticsearch)
{
    static const char *const elasticsearch[] = {"--product", "elasticsearch", NULL};
    struct shop s;
    shop_open(
        &s,
        "create table notes (id int primary key, emb float4[], extra jsonb); insert into notes "
        "select i, (select array_agg(i + k) from generate_series(1, 8) k), jsonb_build_object('k' "
        "|| i || 'x', 1, i || 'y', 2) from generate_series(1, 200) i",
        elasticsearch);
    shop_init(&s, "notes", NULL);
    shop_says(&s, "\"emb\": { \"type\": \"dense_vector\", \"dims\": 8 }");
    shop_says(&s, "\"extra\": { \"type\": \"flattened\" }");
    ck_assert(!shop_has(&s, "knn"));
    shop_loads(&s, 200);
    shop_close(&s);
}
END_TEST

SUITE_MAIN("cli/init", a_catalogue_of_packages, a_key_of_several_columns, a_partitioned_table,
           documents_of_jsonb, rows_that_are_only_added_suit_a_data_stream, a_view,
           a_view_over_tables_that_no_foreign_key_joins, parents_and_children, a_wide_table,
           a_table_with_more_fields_than_a_service_takes_by_default,
           a_table_without_timestamps_statistics_or_rows, names_that_need_quotes,
           types_of_all_kinds, the_same_for_elasticsearch)
