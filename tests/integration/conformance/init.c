/* SPDX-License-Identifier: Apache-2.0 */
/* init's proposal for a table loads unchanged on this service. */
#include <stdio.h>

#include "shop.h"
#include "sql.h"

static const char kinds_sql[] =
    "create table customers (id int primary key, name text not null, city text);"
    "create table kinds (id bigint primary key, customer_id int references customers, code "
    "varchar(12), title text, body text, tags text[], seen date, changed timestamptz not null "
    "default now(), good boolean, share float8, amount numeric(9, 0), free numeric, ip inet, net "
    "cidr, span int4range, days daterange, place point, extra jsonb, names jsonb, mixed jsonb, raw "
    "bytea, address xml, uid uuid default gen_random_uuid(), took interval, \"a.b\" int, _x int, "
    "source_id text);"
    "insert into customers select i, 'Customer ' || i, 'Town ' || i % 3 from generate_series(1, 9) "
    "i; insert into kinds (id, customer_id, code, title, body, tags, seen, good, share, amount, "
    "free, ip, net, span, days, place, extra, names, mixed, raw, address, took, \"a.b\", _x, "
    "source_id) select i, 1 + i % 9, 'c' || i, 'Title of ' || i, repeat('Long words. ', 30), "
    "array['a', 'b' || i], date '2024-01-01' + i, i % 2 = 0, i / 3.0, i, i / 7.0, '10.0.0.1', "
    "'10.0.0.0/8', int4range(i, i + 2), daterange('2024-01-01', null), point(i % 90, i % 90), "
    "jsonb_build_object('title', 'A title', 'n', i, 'at', '2024-05-01T10:00:00Z', 'lines', "
    "jsonb_build_array(jsonb_build_object('k', i))), jsonb_build_object('k' || i, 1, 'l' || i, 2), "
    "case when i % 2 = 0 then '1'::jsonb else '\"s\"' end, '\\xff', '<a/>', '1 day', i, i, 's' "
    "from generate_series(1, 300) i; analyze";

/* Creates a database named like the subject's alias, so that the index name begins with it. */
static char *own_database(struct shop *shop)
{
    struct buf uri;
    PGconn *conn = sql_open(shop->uri);
    sql_exec(conn, "create database \"%s\" template template0", shop->subject.alias);
    PQfinish(conn);
    buf_init(&uri, 4096);
    buf_push(&uri, shop->uri, (size_t)(strrchr(shop->uri, '/') - shop->uri) + 1);
    buf_push_text(&uri, shop->subject.alias);
    return buf_detach(&uri);
}

static void set_or_unset(const char *name, const char *value)
{
    ck_assert_int_eq(value != NULL ? setenv(name, value, 1) : unsetenv(name), 0);
}

static void expect_loads(const char *config)
{
    struct program_result result;
    rowferry_expect(0, config, "source", "install", NULL);
    rowferry_expect(0, config, "check", "--all", "--accept-admin", NULL);
    rowferry_run(&result, config, "sync", "--json", "--accept-admin", NULL);
    ck_assert_msg(result.exit_code == 0, "sync: %s%s", result.out, result.err);
    ck_assert_int_eq(program_json_int(&result, "upserts"), 300);
    program_result_release(&result);
    rowferry_expect(0, config, "verify", "--accept-admin", NULL);
}

START_TEST(what_is_proposed_loads_unedited)
{
    struct shop shop;
    shop_open(&shop, 0, NULL, NULL);
    struct subject *s = &shop.subject;
    char *uri = own_database(&shop);
    PGconn *conn = sql_open(uri);
    sql_exec(conn, "%s", kinds_sql);
    set_or_unset("ROWFERRY_USER", s->options.user);
    set_or_unset("ROWFERRY_PASSWORD", s->options.credentials[SERVICE_PASSWORD].value);
    set_or_unset("ROWFERRY_CA_FILE", s->options.ca_file);
    char *config = scratch_path(shop.dir, "proposed.json");
    rowferry_expect(0, NULL, "init", "--source", uri, "--table", "kinds", "--service", s->url, "-o",
                    config, "--with", "customers", NULL);
    expect_loads(config);
    PQfinish(conn);
    database_drop(uri);
    free(config);
    shop_close(&shop);
}
END_TEST

TESTS(init_tests, NULL, what_is_proposed_loads_unedited)
