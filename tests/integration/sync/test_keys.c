/* SPDX-License-Identifier: Apache-2.0 */
/* Keys of every type: their rows arrive, are found by the printed `_id`, change and are deleted. */
#include <string.h>

#include "compare.h"
#include "rowferry/base/buf.h"
#include "sql.h"
#include "suite.h"
#include "world.h"

#define ROWS 4

/* Four keys per type; the last is another notation of an earlier one, if the type has one. */
static const struct {
    const char *type;
    const char *keys; /* array elements in SQL */
} kinds[] = {
    {"int2", "-32768, -1, 0, 7"},
    {"int4", "-2147483648, -1, 0, 7"},
    {"int8", "-9223372036854775808, 9007199254740993, 0, 7"},
    {"numeric", "1.0, -1.00, 0.000, 12345678901234567890.10"},
    {"float8", "0.1, -1e300, 'Infinity', 'NaN'"},
    {"oid", "1, 4294967295, 2, 3"},
    {"text", "'a:b', E'c\\\\d%s', ' blanks in  it ', U&'\\+01F418'"},
    {"varchar(9)", "'%', '-x', '\"', E'line\\n2'"},
    {"char(5)", "'ab', 'ab c', 'x', 'y'"},
    {"uuid", "gen_random_uuid(), gen_random_uuid(), gen_random_uuid(), gen_random_uuid()"},
    {"date", "'2024-03-10', '0001-01-01', 'infinity', '0044-03-15 BC'"},
    {"timestamp", "'2024-03-10 02:30:00.000001', 'infinity', '0001-01-01', '2024-03-10'"},
    {"timestamptz",
     "'2024-03-10 02:30:00.5+05:45', '-infinity', '2024-10-27 00:30Z', '1900-01-01'"},
    {"time", "'00:00', '24:00', '12:34:56.789', '01:00'"},
    {"timetz", "'00:00+05:45', '12:34:56-08', '01:00Z', '02:00Z'"},
    {"interval", "'1 day', '-1 mon 2 days', '1:02:03.000004', '0'"},
    {"bytea", "'\\x00ff', '\\xdeadbeef', '\\x5c', '\\x3a'"},
    {"inet", "'10.0.0.1', '10.0.0.1/8', '::1', '2001:db8::/32'"},
    {"cidr", "'10.0.0.0/8', '10.0.0.1/32', '::1/128', '2001:db8::/32'"},
    {"macaddr", "'08:00:2b:01:02:03', '00:00:00:00:00:00', 'ff:ff:ff:ff:ff:ff', '08002b010204'"},
    {"mood", "'sad', 'so so: \\', 'glad', 'x'"},
    {"amount", "1.10, 2.20, -3.30, 0"},
    {"int4[]", "'{1,2}', '{}', '{NULL,1}', '[0:1]={1,2}'"},
    {"text[]", "'{a,\"b, c\"}', '{}', '{NULL,\"NULL\"}', '{\"\\\\\\\"\"}'"},
    {"jsonb", "'{\"a\": 1}', '[1, 2]', '\"x\"', '1.0'"},
    {"int4range", "'[1,5)', 'empty', '(,)', '[7,)'"},
    {"tstzrange", "'[2024-03-10 02:30+05:45,)', 'empty', '(,2024-01-01Z]', '(,)'"},
    {"pair", "'(1,\"a, b\")', '(,)', '(2,\"2024:01\")', '(3,\"\\\\\\\\\")'"},
};

#define KINDS (sizeof(kinds) / sizeof(kinds[0]))

/* Possible settings of a session that writes the rows. */
static const char foreign[] =
    "set timezone = 'Asia/Kathmandu'; set datestyle = 'German, DMY'; set intervalstyle = "
    "'postgres_verbose'; set extra_float_digits = -5; set bytea_output = 'escape'";

/* Settings with which the program reads them. */
static const char ours[] =
    "set timezone = 'UTC'; set datestyle = 'ISO, YMD'; set intervalstyle = 'iso_8601'; set "
    "extra_float_digits = 1; set bytea_output = 'hex'";

static const char query[] = "select k::text, jsonb_build_object('source_id', k::text, 'n', n) from "
                            "keyed";

static void configure(struct world *w, size_t kind)
{
    struct buf text;
    buf_init(&text, 65536);
    buf_printf(&text,
               "{\"accept_admin\": true, \"source\": {\"uri\": \"%s\"}, \"service\": {\"url\": "
               "\"%s\", \"auth\": "
               "{\"api_key\": {\"file\": \"%s/key\"}}}, \"state\": {\"path\": \"%s/keys-%zu.db\"}, "
               "\"pipelines\": [{\"name\": \"keys\", \"from\": {\"table\": \"public.keyed\", "
               "\"key\": [\"k\"]}, \"to\": {\"index\": \"keys-%zu\", \"mappings\": "
               "{\"properties\": {\"n\": {\"type\": \"integer\"}}}}}]}\n",
               w->uri, w->service.url, w->dir, w->dir, kind, kind);
    free(w->config);
    w->config = scratch_write(w->dir, "keys.json", buf_text(&text));
    buf_release(&text);
}

static void fill(struct world *w, size_t kind)
{
    sql_exec(w->conn, "drop table if exists keyed; create table keyed (k %s primary key, n int)",
             kinds[kind].type);
    sql_exec(w->conn,
             "insert into keyed select v::%s, i from unnest(array[%s]::text[]) with ordinality as "
             "u(v, i)",
             kinds[kind].type, kinds[kind].keys);
}

static void expect_index(struct world *w, size_t kind, int64_t rows)
{
    char index[32];
    snprintf(index, sizeof(index), "keys-%zu", kind);
    sql_exec(w->conn, "%s", ours);
    expect_equal(rows, w->conn, query, w->service.url, index, "ApiKey " WORLD_API_KEY);
}

/* Expects that the rows are found by `_id`, shown and sent again. */
static void expect_found(struct world *w)
{
    struct program_result result;
    char *id[ROWS];
    for (int n = 0; n < ROWS; n++) {
        id[n] = sql_text(w->conn, "select k::text from keyed where n = %d", n + 1);
    }
    rowferry_run(&result, w->config, "document", "--", id[0], id[1], id[2], id[3], NULL);
    ck_assert_msg(result.exit_code == 0, "%s: %s", id[0], result.err);
    for (int n = 1; n <= ROWS; n++) {
        char member[16];
        snprintf(member, sizeof(member), "\"n\":%d}", n);
        ck_assert_msg(strstr(result.out, member) != NULL, "no %s in %s", member, result.out);
    }
    program_result_release(&result);
    rowferry_run(&result, w->config, "resync", "--json", "--", id[0], id[1], id[2], id[3], NULL);
    ck_assert_msg(result.exit_code == 0, "%s: %s", id[0], result.err);
    ck_assert_msg(program_json_int(&result, "upserts") == ROWS, "%s: %s", id[0], result.out);
    program_result_release(&result);
    for (int n = 0; n < ROWS; n++) {
        free(id[n]);
    }
}

static void sync(struct world *w, size_t kind, int64_t rows)
{
    struct program_result result;
    world_sync(w, 0, &result);
    program_result_release(&result);
    expect_index(w, kind, rows);
}

START_TEST(a_key_of_any_type_is_found_changed_and_deleted)
{
    struct world w;
    world_start(&w, 0, NULL);
    sql_exec(w.conn, "create type mood as enum ('sad', E'so so: \\\\', 'glad', 'x'); create domain "
                     "amount as numeric(10,2); create type pair as (a int, b text)");
    for (size_t kind = 0; kind < KINDS; kind++) {
        sql_exec(w.conn, "%s", foreign);
        fill(&w, kind);
        configure(&w, kind);
        world_install(&w);
        sync(&w, kind, ROWS);
        expect_found(&w);
        sql_exec(w.conn, "%s", foreign);
        sql_exec(w.conn, "update keyed set n = n + 10; delete from keyed where n = 11; "
                         "delete from keyed where n = 14");
        sync(&w, kind, ROWS - 2);
    }
    world_stop(&w);
}
END_TEST

START_TEST(a_key_that_is_written_otherwise_but_equal_is_another_document)
{
    struct world w;
    world_start(&w, 0, NULL);
    sql_exec(w.conn, "create table keyed (k numeric primary key, n int); insert into keyed values "
                     "(1.0, 1), (2.0, 2), (3, 3)");
    configure(&w, 0);
    world_install(&w);
    sync(&w, 0, 3);
    sql_exec(w.conn, "update keyed set k = 1.00 where k = 1; delete from keyed where k = 2; insert "
                     "into keyed values (2.000, 4)");
    sync(&w, 0, 3);
    world_stop(&w);
}
END_TEST

START_TEST(a_database_that_reads_null_as_a_word_and_quotes_all_names_changes_nothing)
{
    struct world w;
    world_start(&w, 0, NULL);
    sql_exec(w.conn, "create table keyed (k text[] primary key, n int); insert into keyed values "
                     "('{NULL}', 1), ('{a,NULL}', 2), ('{\"NULL\"}', 3)");
    configure(&w, 0);
    world_install(&w);
    sync(&w, 0, 3);
    sql_exec(w.conn, "do $$ begin execute format('alter database %%I set array_nulls = off', "
                     "current_database()); execute format('alter database %%I set "
                     "quote_all_identifiers = on', current_database()); end $$");
    sql_exec(w.conn, "update keyed set n = n + 10");
    sync(&w, 0, 3);
    world_stop(&w);
}
END_TEST

SUITE_MAIN("integration/keys", a_key_of_any_type_is_found_changed_and_deleted,
           a_key_that_is_written_otherwise_but_equal_is_another_document,
           a_database_that_reads_null_as_a_word_and_quotes_all_names_changes_nothing)
