/* SPDX-License-Identifier: Apache-2.0 */
/* Schemas and tables whose names need quotes in SQL, from check to uninstall. */
#include <stdlib.h>
#include <string.h>

#include "compare.h"
#include "rowferry/base/buf.h"
#include "sql.h"
#include "suite.h"
#include "world.h"

#define TABLES                                                                                     \
    "create schema \"shop.eu\"; create schema \"Odd\";"                                            \
    "create table \"shop.eu\".\"Weird \"\"Post\"\".1\" (id bigint primary key, title text);"       \
    "create table \"Odd\".\"Remark.s\" (id int primary key, post_id bigint not null, body text);"  \
    "insert into \"shop.eu\".\"Weird \"\"Post\"\".1\" select i, 'post ' || i "                     \
    "from generate_series(1, 50) i;"                                                               \
    "insert into \"Odd\".\"Remark.s\" select i, i, 'remark ' || i from generate_series(1, 50) i"

#define ROOT "\\\"shop.eu\\\".\\\"Weird \\\"\\\"Post\\\"\\\".1\\\""
#define REMARKS "\\\"Odd\\\".\\\"Remark.s\\\""

static const char documents[] =
    "select p.id::text, jsonb_build_object('source_id', p.id::text, 'title', p.title, 'body', "
    "r.body) from \"shop.eu\".\"Weird \"\"Post\"\".1\" p join \"Odd\".\"Remark.s\" r "
    "on r.post_id = p.id";

static void configure(struct world *w, const char *table)
{
    struct buf text;
    buf_init(&text, 64 * 1024);
    buf_printf(&text,
               "{\"accept_admin\": true, \"source\": {\"uri\": \"%s\"},\n"
               "\"service\": {\"url\": \"%s\", \"auth\": {\"api_key\": {\"file\": \"%s/key\"}}},\n"
               "\"state\": {\"path\": \"%s/state.db\"},\n"
               "\"pipelines\": [{\"name\": \"odd\", \"from\": {\"table\": \"%s\",\n"
               "\"query\": \"select p.id, p.title, r.body from " ROOT " p join " REMARKS " r "
               "on r.post_id = p.id\",\n"
               "\"depends_on\": [{\"table\": \"" REMARKS "\", \"key\": [\"post_id\"], "
               "\"keys\": \"select unnest($1)\"}]},\n"
               "\"to\": {\"index\": \"odd\", \"mappings\": {\"properties\": {"
               "\"title\": {\"type\": \"text\"}, \"body\": {\"type\": \"text\"}}}}}]}\n",
               w->uri, w->service.url, w->dir, w->dir, table);
    free(w->config);
    w->config = scratch_write(w->dir, "odd.json", buf_text(&text));
    buf_release(&text);
}

static void sync(struct world *w)
{
    struct program_result result;
    world_sync(w, 0, &result);
    program_result_release(&result);
    expect_equal(50, w->conn, documents, w->service.url, "odd", "ApiKey " WORLD_API_KEY);
}

START_TEST(a_schema_and_a_table_with_dots_capitals_and_quotes_are_followed)
{
    struct world w;
    world_start(&w, 1, NULL);
    sql_exec(w.conn, TABLES);
    configure(&w, ROOT);
    world_install(&w);
    rowferry_expect(0, w.config, "check", "--all", "--accept-admin", NULL);
    sync(&w);
    sql_exec(w.conn, "update \"shop.eu\".\"Weird \"\"Post\"\".1\" set title = 'new' where id < 5");
    sql_exec(w.conn, "update \"Odd\".\"Remark.s\" set body = 'new' where id between 4 and 9");
    sync(&w);
    rowferry_expect(0, w.config, "verify", NULL);
    rowferry_expect(0, w.config, "status", NULL);
    rowferry_expect(0, w.config, "source", "uninstall", NULL);
    ck_assert_int_eq(sql_int(w.conn, "select count(*) from pg_namespace where nspname = "
                                     "'rowferry'"),
                     0);
    world_stop(&w);
}
END_TEST

START_TEST(a_slip_in_a_name_with_a_dot_is_answered_in_the_form_that_can_be_written)
{
    struct world w;
    struct program_result result;
    world_start(&w, 1, NULL);
    sql_exec(w.conn, TABLES);
    configure(&w, "\\\"shop.eu\\\".Weird 'Post'.1");
    rowferry_run(&result, w.config, "source", "install", NULL);
    ck_assert_int_eq(result.exit_code, 1);
    ck_assert_msg(strstr(result.err, "did you mean \"\"shop.eu\".Weird \"Post\".1\"?") != NULL,
                  "%s", result.err);
    program_result_release(&result);
    configure(&w, "\\\"shop.eu.post");
    rowferry_run(&result, w.config, "check", "--all", "--accept-admin", NULL);
    ck_assert_int_eq(result.exit_code, 2);
    ck_assert_msg(strstr(result.err, "from.table") != NULL, "%s", result.err);
    program_result_release(&result);
    world_stop(&w);
}
END_TEST

SUITE_MAIN("integration/names", a_schema_and_a_table_with_dots_capitals_and_quotes_are_followed,
           a_slip_in_a_name_with_a_dot_is_answered_in_the_form_that_can_be_written)
