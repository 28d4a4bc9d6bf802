/* SPDX-License-Identifier: Apache-2.0 */
/* A table, a configuration for the subject, and runs of the program. */
#include "shop.h"

#include <stdio.h>
#include <string.h>

#include "compare.h"
#include "sql.h"

#define SYNC_MS 115000

#define PROPERTIES                                                                                 \
    "\"title\":{\"type\":\"text\"},\"price\":{\"type\":\"double\"},\"tags\":{\"type\":"            \
    "\"keyword\"},\"extra\":{\"type\":\"object\",\"enabled\":false},\"published\":{\"type\":"      \
    "\"boolean\"},\"updated_at\":{\"type\":\"date\"},\"rank\":{\"type\":\"long\"}"

static const char table_sql[] =
    "create table articles (source_id bigint primary key, title text, price numeric(12, 4), "
    "tags text[], extra jsonb, published boolean, updated_at timestamptz not null default "
    "'2024-03-10 07:04:56.123456+00', rank text, v float4[]);"
    "insert into articles select i, 'title \"' || i || E'\\u00e9\\U0001f600', i * 1.0625, "
    "array['a', 'b' || i, E'line\\nbreak'], jsonb_build_object('n', i, 't', repeat('x', (i %% "
    "50)::int)), "
    "i %% 2 = 0, timestamptz '2024-03-10 07:04:56.123456+00' + i * interval '1 second' "
    "from generate_series(1, %ld) i";

static void push_auth(struct buf *text, const struct shop *shop)
{
    const struct service_options *o = &shop->subject.options;
    if (o->user != NULL) {
        free(scratch_write(shop->dir, "password", o->credentials[SERVICE_PASSWORD].value));
        buf_printf(text,
                   ", \"auth\": {\"user\": \"%s\", \"password\": {\"file\": \"%s/password\"}}",
                   o->user, shop->dir);
    }
    if (o->ca_file != NULL) {
        buf_printf(text, ", \"tls\": {\"ca_file\": \"%s\"}", o->ca_file);
    }
}

void shop_configure(struct shop *shop, const char *more, const char *settings)
{
    struct buf text;
    buf_init(&text, 64 << 10);
    buf_printf(
        &text,
        "{\"accept_admin\": %s, \"source\": {\"uri\": \"%s\"}, \"service\": {\"url\": \"%s\"",
        shop->strict ? "false" : "true", shop->uri, shop->subject.url);
    push_auth(&text, shop);
    buf_printf(
        &text,
        "}, \"state\": {\"path\": \"%s/state.db\"}, \"limits\": {\"retry_budget\": \"100s\"},\n"
        "\"pipelines\": [{\"name\": \"articles\", \"from\": {\"table\": \"public.articles\"%s},\n"
        "\"to\": {\"index\": \"%s\"%s, \"settings\": {%s},\n"
        "\"mappings\": {\"properties\": {" PROPERTIES "%s}}}%s%s}]}\n",
        shop->dir, shop->from != NULL ? shop->from : "", shop->subject.alias,
        shop->to != NULL ? shop->to : "", settings != NULL ? settings : "",
        more != NULL ? more : "", shop->members != NULL ? ", " : "",
        shop->members != NULL ? shop->members : "");
    free(shop->config);
    shop->config = scratch_write(shop->dir, "rowferry.json", buf_text(&text));
    buf_release(&text);
}

void shop_open(struct shop *shop, long rows, const char *more, const char *settings)
{
    *shop = (struct shop){0};
    subject_enter(&shop->subject);
    shop->dir = scratch_new();
    shop->uri = database_new();
    shop->conn = sql_open(shop->uri);
    sql_exec(shop->conn, table_sql, rows);
    shop_configure(shop, more, settings);
    rowferry_expect(0, shop->config, "source", "install", NULL);
}

void shop_close(struct shop *shop)
{
    PQfinish(shop->conn);
    database_drop(shop->uri);
    subject_leave(&shop->subject);
    scratch_remove(shop->dir);
    free(shop->config);
}

static void run_sync(struct shop *shop, int exit_code, const char *text,
                     struct program_result *result)
{
    struct program program;
    rowferry_start(&program, shop->config, "sync", "--json", NULL);
    program_finish(&program, SYNC_MS, result);
    ck_assert_msg(result->exit_code == exit_code, "sync ended with %d instead of %d:\n%s%s",
                  result->exit_code, exit_code, result->out, result->err);
    ck_assert_msg(text == NULL || strstr(result->err, text) != NULL, "no \"%s\" in:\n%s", text,
                  result->err);
}

void shop_sync(struct shop *shop, int exit_code, const char *text)
{
    struct program_result result;
    run_sync(shop, exit_code, text, &result);
    program_result_release(&result);
}

void shop_sync_counts(struct shop *shop, int64_t upserts, int64_t deletes)
{
    struct program_result result;
    run_sync(shop, 0, NULL, &result);
    ck_assert_int_eq(program_json_int(&result, "upserts"), upserts);
    ck_assert_int_eq(program_json_int(&result, "deletes"), deletes);
    program_result_release(&result);
}

void shop_expect_equal(struct shop *shop)
{
    shop_expect_equal_by(shop, "source_id");
}

void shop_expect_equal_by(struct shop *shop, const char *key)
{
    char *query = compare_table("articles", key);
    expect_equal(sql_int(shop->conn, "select count(*) from articles"), shop->conn, query,
                 shop->subject.url, shop->subject.alias, shop->subject.authorization);
    free(query);
}

char *shop_generation(struct shop *shop)
{
    struct subject *s = &shop->subject;
    enum alias_kind kind;
    struct index_info info;
    OK(index_resolve(s->service, s->alias, &kind, &info, &s->err));
    ck_assert_int_eq(kind, ALIAS_ONE);
    return text_copy(info.name);
}
