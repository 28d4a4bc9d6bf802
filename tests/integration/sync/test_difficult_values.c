/* SPDX-License-Identifier: Apache-2.0 */
/* Difficult values: each arrives exactly, or is one dead letter with its reason. */
#include <string.h>

#include "compare.h"
#include "http.h"
#include "rowferry/base/buf.h"
#include "sql.h"
#include "suite.h"
#include "world.h"

#define GOOD_ROWS 80
#define BAD_ROWS 20

/* Keys and texts of every kind, assigned to the rows in turn. */
static const char good_sql[] =
    "create table hostile (id text primary key, t text, k text, n numeric, f float8, small int8, "
    "d date, at timestamptz, j json, b bytea, tags text[], c char(10));"
    "with texts(i, x) as (select row_number() over (), x from unnest(array["
    "  '', ' ', 'a \"quoted\" \\ word', E'line 1\\nline 2\\r\\n\\ttab', "
    "E'\\x01\\x02\\x1f\\x7f\\b\\f', "
    "  U&'\\2028\\2029', U&'\\FEFF\\200B\\202E', U&'\\+01F418\\+01F468\\200D\\+01F469', 'e' || "
    "chr(769), "
    "  '{\"delete\":{\"_id\":\"1\"}}', E'}\\n{\"delete\":{\"_id\":\"1\"}}\\n', '\\u0000', "
    "'</script>', 'null', 'NULL', "
    "  chr(65535), chr(1114111), repeat('é', 16383), '%%s%%n', '../../_all']) x)"
    "insert into hostile select "
    "  case i %% 10 when 0 then 'a:b' || i when 1 then 'c\\d' || i when 2 then E'line\\n' || i "
    "    when 3 then U&'\\+01F418' || i when 4 then '\"' || i when 5 then ' ' || i when 6 then "
    "'/?#&' || i "
    "    when 7 then repeat('k', 509) || i when 8 then '_bulk' || i else i::text end, "
    "  (select x from texts where texts.i = g.i %% 20 + 1), (select x from texts where texts.i = "
    "g.i %% 19 + 1), "
    "  case i %% 4 when 0 then 1234567890123456789012345678901234567890 when 1 then "
    "    0.1234567890123456789012345678901234567890 when 2 then 1.10 else -0.000 end, "
    "  case i %% 4 when 0 then 1e300 when 1 then 5e-324 when 2 then 0.1::float8 + 0.2::float8 end, "
    "  i - 12 + 11, date '0001-01-01' + (i * 40000), timestamptz '0001-01-01 00:00+00' + i * "
    "interval '40001.5 days', "
    "  case i %% 4 when 0 then E'{\\n \"a\" : \"b \\\\n c\" ,\\r\\n\\t\"d\":{} }'::json when 1 "
    "then "
    "    '{\"a\": 1, \"a\": 2}' when 2 then '{\"n\": 12345678901234567890.10, \"\\u00e9\": [null, "
    "1E3]}' end, "
    "  decode(md5(i::text), 'hex'), array[E'x\\ny', null, '{}', '\"', '\\', 'NULL'], 'ab' "
    "from generate_series(10, %d) as g(i)";

/* Rows that cannot be written: (id, columns to set, text of the dead letter). */
static struct {
    const char *id;
    const char *set;
    const char *column;
    const char *beginning;
    const char *reason;
} bad[BAD_ROWS] = {
    {"bad 1", "n = 'NaN'", "n", "NaN", "not a finite number"},
    {"bad 2", "n = 'Infinity'", "n", "Infinity", "not a finite number"},
    {"bad 3", "f = 'NaN'", "f", "NaN", "not a finite number"},
    {"bad 4", "f = '-Infinity'", "f", "-Infinity", "not a finite number"},
    {"bad 5", "n = 1e309", "n", "1000000", "out of the range of a double"},
    {"bad 6", "small = 128", "small", "128", "out of the range of a byte"},
    {"bad 7", "small = -129", "small", "-129", "out of the range of a byte"},
    {"bad 8", "d = '12024-01-01'", "d", "12024-01-01", "after the year 9999"},
    {"bad 9", "d = '0044-03-15 BC'", "d", "0044-03-15 BC", "BC"},
    {"bad 10", "d = 'infinity'", "d", "infinity", "infinite"},
    {"bad 11", "at = '-infinity'", "at", "-infinity", "infinite"},
    {"bad 12", "at = '12024-01-01 00:00+00'", "at", "12024-01-01 00:00:00+00",
     "after the year 9999"},
    {"bad 13", "at = '0044-03-15 12:00+00 BC'", "at", "0044-03-15 12:00:00+00 BC", "BC"},
    {"bad 14", "k = repeat('x', 32767)", "k", "xxxxxxxx", "more than 32766 bytes"},
    {"bad 15", "k = repeat('é', 16384)", "k", "éééé", "more than 32766 bytes"},
    {"bad 16", "k = E'\\n\"' || repeat('y', 32766)", "k", "yyyy", "more than 32766 bytes"},
    {"bad 17", "tags = array['a', repeat('x', 32767)]", "tags", "{a,xxxx", "more than 32766 bytes"},
    {"bad 18", "small = 9223372036854775807", "small", "9223372036854775807", "range of a byte"},
    {"bad 19", "d = '-infinity'", "d", "-infinity", "infinite"},
    {"bad 20", "id = repeat('k', 513)", NULL, "kkkkkkkk", "more than 512 bytes"},
};

static const char properties[] =
    "\"t\":{\"type\":\"text\"},\"k\":{\"type\":\"keyword\"},\"n\":{\"type\":\"double\"},"
    "\"f\":{\"type\":\"double\"},\"small\":{\"type\":\"byte\"},\"d\":{\"type\":\"date\"},"
    "\"at\":{\"type\":\"date\"},\"j\":{\"type\":\"object\",\"enabled\":false},"
    "\"b\":{\"type\":\"binary\"},\"tags\":{\"type\":\"keyword\"},\"c\":{\"type\":\"keyword\"}";

/* The good rows as documents, computed by PostgreSQL. */
static const char expected_sql[] =
    "select id, jsonb_build_object('source_id', id, 't', t, 'k', k, 'n', n, 'f', f, 'small', "
    "small, "
    "'d', to_char(d, 'YYYY-MM-DD'), "
    "'at', to_char(at at time zone 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS.US\"Z\"'), 'j', j::jsonb, "
    "'b', encode(b, 'base64'), 'tags', tags, 'c', rtrim(c)) from hostile where not bad";

static void configure(struct world *w, const char *table, const char *key, const char *mapping)
{
    struct buf text;
    buf_init(&text, 65536);
    buf_printf(
        &text,
        "{\"accept_admin\": true, \"source\": {\"uri\": \"%s\"}, \"service\": {\"url\": \"%s\", "
        "\"auth\": {\"api_key\": "
        "{\"file\": \"%s/key\"}}}, \"state\": {\"path\": \"%s/hostile.db\"}, \"pipelines\": "
        "[{\"name\": \"hostile\", \"from\": {\"table\": \"public.%s\", \"key\": [%s]}, \"to\": "
        "{\"index\": \"hostile\", \"mappings\": {\"properties\": {%s}}}}]}\n",
        w->uri, w->service.url, w->dir, w->dir, table, key, mapping);
    free(w->config);
    w->config = scratch_write(w->dir, "hostile.json", buf_text(&text));
    buf_release(&text);
}

static void fill(struct world *w)
{
    sql_exec(w->conn, good_sql, GOOD_ROWS + 9);
    sql_exec(w->conn, "alter table hostile add column bad boolean not null default false");
    if (!server_has(140000)) { /* numeric has no infinity */
        bad[1].set = bad[0].set;
        bad[1].beginning = bad[0].beginning;
    }
    for (size_t i = 0; i < BAD_ROWS; i++) {
        sql_exec(w->conn, "insert into hostile (id, t, bad) values ('%s', 'bad', true)", bad[i].id);
        sql_exec(w->conn, "update hostile set %s where id = '%s'", bad[i].set, bad[i].id);
    }
}

/* Expects that the row has a dead letter with column, beginning and reason. */
static void expect_letter(const struct world *w, size_t i)
{
    struct program_result result;
    char *key = sql_text(
        w->conn, "select coalesce((select id from hostile where id = '%s'), repeat('k', 513))",
        bad[i].id);
    rowferry_run(&result, w->config, "deadletter", "show", key, NULL);
    ck_assert_msg(result.exit_code == 0, "%s: %s", bad[i].id, result.err);
    ck_assert_msg(
        strstr(result.out, bad[i].reason) != NULL && strstr(result.out, bad[i].beginning) != NULL,
        "%s: no \"%s\" of \"%s\" in\n%s", bad[i].id, bad[i].reason, bad[i].beginning, result.out);
    ck_assert_msg(strstr(result.out, "operation  upsert\n") != NULL, "%s", result.out);
    if (bad[i].column != NULL) {
        char column[64];
        snprintf(column, sizeof(column), "column \"%s\"", bad[i].column);
        ck_assert_msg(strstr(result.out, column) != NULL, "no %s in\n%s", column, result.out);
    }
    program_result_release(&result);
    free(key);
}

START_TEST(a_hundred_hostile_rows_arrive_exactly_or_say_why_not)
{
    struct world w;
    struct program_result result;
    world_start(&w, 0, NULL);
    fill(&w);
    configure(&w, "hostile", "\"id\"", properties);
    world_install(&w);
    world_sync(&w, 3, &result);
    ck_assert_int_eq(program_json_int(&result, "operations"), GOOD_ROWS);
    ck_assert_int_eq(program_json_int(&result, "rejected"), BAD_ROWS);
    program_result_release(&result);
    expect_equal(GOOD_ROWS, w.conn, expected_sql, w.service.url, "hostile",
                 "ApiKey " WORLD_API_KEY);
    for (size_t i = 0; i < BAD_ROWS; i++) {
        expect_letter(&w, i);
    }
    rowferry_run(&result, w.config, "deadletter", "list", "--json", NULL);
    int lines = 0;
    for (const char *p = result.out; *p != '\0'; p++) {
        lines += *p == '\n';
    }
    ck_assert_int_eq(lines, BAD_ROWS);
    program_result_release(&result);
    world_stop(&w);
}
END_TEST

/* Deletes a document without the program's knowledge. */
static void lose(struct world *w, const char *id)
{
    struct reply reply;
    char *body =
        sql_text(w->conn, "select '{\"delete\":{\"_id\":' || to_json('%s'::text) || '}}'", id);
    char *line = sql_text(w->conn, "select '%s' || E'\\n'", body);
    reply_get(&reply, "POST", w->service.url, "/hostile/_bulk", line, "ApiKey " WORLD_API_KEY);
    ck_assert_msg(reply.status == 200 && strstr(reply.body, "\"deleted\"") != NULL, "%s: %s", body,
                  reply.body);
    reply_release(&reply);
    free(body);
    free(line);
}

START_TEST(keys_of_two_columns_that_join_alike_are_two_documents)
{
    static const char query[] =
        "select x, jsonb_build_object('source_id', x, 'n', n) from (select n, "
        "replace(replace(a, '\\', '\\\\'), ':', '\\:') || ':' || "
        "replace(replace(b, '\\', '\\\\'), ':', '\\:') as x from pair) as p";
    struct world w;
    struct program_result result;
    world_start(&w, 0, NULL);
    sql_exec(w.conn,
             "create table pair (a text, b text, n int, primary key (a, b)); insert into pair "
             "values ('a-b', 'c', 1), ('a', 'b-c', 2), ('a:b', 'c', 3), ('a', 'b:c', 4), "
             "('a\\', 'b', 5), ('a\\:', 'b', 6), ('', ':', 7), (':', '', 8)");
    configure(&w, "pair", "\"a\", \"b\"", "\"n\":{\"type\":\"integer\"}");
    world_install(&w);
    world_sync(&w, 0, &result);
    program_result_release(&result);
    expect_equal(8, w.conn, query, w.service.url, "hostile", "ApiKey " WORLD_API_KEY);
    for (int n = 1; n <= 8; n++) {
        char *id =
            sql_text(w.conn, "select x from (%s) as q(x, d) where (d->>'n')::int = %d", query, n);
        lose(&w, id);
        rowferry_expect(0, w.config, "resync", id, NULL);
        free(id);
    }
    expect_equal(8, w.conn, query, w.service.url, "hostile", "ApiKey " WORLD_API_KEY);
    world_stop(&w);
}
END_TEST

START_TEST(a_row_whose_key_no_document_can_have_is_forgotten_once_it_is_gone)
{
    struct world w;
    struct program_result result;
    world_start(&w, 0, NULL);
    sql_exec(w.conn, "create table far (id text primary key, n int); insert into far values "
                     "(repeat('k', 513), 1), (repeat('l', 513), 2), ('', 3), ('ok', 4)");
    configure(&w, "far", "\"id\"", "\"n\":{\"type\":\"integer\"}");
    world_install(&w);
    world_sync(&w, 3, &result);
    ck_assert_int_eq(program_json_int(&result, "rejected"), 3);
    program_result_release(&result);
    sql_exec(w.conn, "delete from far where n = 1");
    rowferry_run(&result, w.config, "deadletter", "retry", NULL);
    ck_assert_msg(result.exit_code == 3, "%s%s", result.out, result.err);
    program_result_release(&result);
    sql_exec(w.conn, "update far set id = 'short' where n = 2; delete from far where n = 3");
    world_sync(&w, 0, &result);
    ck_assert_int_eq(program_json_int(&result, "rejected"), 0);
    program_result_release(&result);
    rowferry_run(&result, w.config, "deadletter", "list", "--json", NULL);
    ck_assert_str_eq(result.out, "");
    program_result_release(&result);
    expect_equal(2, w.conn, "select id, jsonb_build_object('source_id', id, 'n', n) from far",
                 w.service.url, "hostile", "ApiKey " WORLD_API_KEY);
    world_stop(&w);
}
END_TEST

START_TEST(bytes_of_a_database_that_checks_none_are_said_to_be_no_utf_8)
{
    struct world w;
    struct program_result result;
    world_start(&w, 0, NULL);
    char *usual = w.uri;
    char *name = sql_text(w.conn, "select current_database() || '_bytes'");
    sql_exec(w.conn,
             "create database \"%s\" template template0 encoding 'SQL_ASCII' lc_collate 'C' "
             "lc_ctype 'C'",
             name);
    w.uri = sql_text(w.conn, "select replace('%s', current_database(), '%s')", usual, name);
    PGconn *bytes = sql_open(w.uri);
    sql_exec(bytes, "create table plain (id int primary key, t text); insert into plain values "
                    "(1, E'caf\\xe9')");
    configure(&w, "plain", "\"id\"", "\"t\":{\"type\":\"text\"}");
    world_install(&w);
    rowferry_run(&result, w.config, "sync", NULL);
    ck_assert_int_eq(result.exit_code, 1);
    ck_assert_ptr_nonnull(strstr(result.err, "0xe9"));
    ck_assert_ptr_nonnull(strstr(result.err, "convert the text to UTF-8"));
    program_result_release(&result);
    sql_exec(bytes, "update plain set t = E'caf\\xc3\\xa9'");
    world_sync(&w, 0, &result);
    program_result_release(&result);
    expect_equal(1, w.conn, "select '1', jsonb_build_object('source_id', '1', 't', 'café')",
                 w.service.url, "hostile", "ApiKey " WORLD_API_KEY);
    PQfinish(bytes);
    sql_exec(w.conn, "drop database \"%s\" with (force)", name);
    free(w.uri);
    free(name);
    w.uri = usual;
    world_stop(&w);
}
END_TEST

SUITE_MAIN("integration/difficult_values", a_hundred_hostile_rows_arrive_exactly_or_say_why_not,
           keys_of_two_columns_that_join_alike_are_two_documents,
           a_row_whose_key_no_document_can_have_is_forgotten_once_it_is_gone,
           bytes_of_a_database_that_checks_none_are_said_to_be_no_utf_8)
