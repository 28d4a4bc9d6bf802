/* SPDX-License-Identifier: Apache-2.0 */
/* A timestamp with a zone in "fields" arrives as the instant that PostgreSQL makes of it. */
#include <string.h>

#include "compare.h"
#include "rowferry/base/buf.h"
#include "sql.h"
#include "suite.h"
#include "world.h"

#define ZONES 6
#define ROWS 33400 /* times the zones: 200,400 local times */
#define IMPOSSIBLE 4

/* Zones that differ in the size of the change, its season and its hour. */
static const char *const zones[ZONES] = {"Europe/Berlin",       "America/New_York",
                                         "Australia/Lord_Howe", "America/St_Johns",
                                         "Africa/Casablanca",   "Pacific/Apia"};

static void configure(struct world *w, const char *first_zone)
{
    struct buf text;
    buf_init(&text, 65536);
    buf_printf(&text,
               "{\"accept_admin\": true, \"source\": {\"uri\": \"%s\"}, \"service\": {\"url\": "
               "\"%s\", \"auth\": "
               "{\"api_key\": {\"file\": \"%s/key\"}}}, \"state\": {\"path\": \"%s/zones.db\"}, "
               "\"pipelines\": [{\"name\": \"zones\", \"from\": {\"table\": \"public.zoned\"}, "
               "\"to\": {\"index\": \"zones\", \"mappings\": {\"properties\": {\"plain\": "
               "{\"type\": \"date\"}",
               w->uri, w->service.url, w->dir, w->dir);
    for (size_t i = 0; i < ZONES; i++) {
        buf_printf(&text, ", \"z%zu\": {\"type\": \"date\"}", i);
    }
    buf_push_literal(&text, "}}}, \"fields\": {\"plain\": \"at\"");
    for (size_t i = 0; i < ZONES; i++) {
        buf_printf(&text, ", \"z%zu\": {\"column\": \"at\", \"zone\": \"%s\"}", i,
                   i == 0 ? first_zone : zones[i]);
    }
    buf_push_literal(&text, "}}]}\n");
    free(w->config);
    w->config = scratch_write(w->dir, "zones.json", buf_text(&text));
    buf_release(&text);
}

/* Each zone's changes are found in steps of six hours; the random times lie around them. */
static void fill(struct world *w)
{
    sql_exec(w->conn, "select setseed(0.25); create table zoned (id bigint primary key, at "
                      "timestamp, bad boolean not null default false)");
    for (size_t i = 0; i < ZONES; i++) {
        sql_exec(
            w->conn,
            "with hours as materialized (select u at time zone '%s' as here, u as utc from "
            "generate_series(timestamptz '1970-01-01 00:00+00', '2037-12-31', '6 hours') as u), "
            "steps as (select here, row_number() over (order by utc) as n, count(*) over () as all "
            "from (select here, utc, here - lag(here) over (order by utc) as step from hours) as s "
            "where step <> interval '6 hours') "
            "insert into zoned (id, at) select g * %d + %zu, here - interval '12 hours' + random() "
            "* interval '18 hours' from generate_series(1, %d) as g join steps on n = g %% "
            "steps.all + 1",
            zones[i], ZONES, i, ROWS / ZONES + 1);
    }
    sql_exec(w->conn,
             "delete from zoned where id > (select id from zoned order by id offset %d "
             "limit 1)",
             ROWS - 1);
}

static void expect_equal_instants(const struct world *w)
{
    struct buf query;
    buf_init(&query, 65536);
    buf_push_literal(&query, "select id::text, jsonb_build_object('source_id', id::text, 'plain', "
                             "to_char(at, 'YYYY-MM-DD\"T\"HH24:MI:SS.US')");
    for (size_t i = 0; i < ZONES; i++) {
        buf_printf(&query,
                   ", 'z%zu', to_char(at at time zone '%s' at time zone 'UTC', "
                   "'YYYY-MM-DD\"T\"HH24:MI:SS.US\"Z\"')",
                   i, zones[i]);
    }
    buf_push_literal(&query, ") from zoned where not bad");
    expect_equal(ROWS, w->conn, buf_text(&query), w->service.url, "zones", "ApiKey " WORLD_API_KEY);
    buf_release(&query);
}

START_TEST(local_times_become_the_instants_that_postgresql_makes_of_them)
{
    struct world w;
    struct program_result result;
    world_start(&w, 0, NULL);
    fill(&w);
    configure(&w, zones[0]);
    world_install(&w);
    world_sync(&w, 0, &result);
    ck_assert_int_eq(program_json_int(&result, "operations"), ROWS);
    program_result_release(&result);
    expect_equal_instants(&w);
    sql_exec(w.conn, "update zoned set at = at + interval '17 minutes' where id %% 7 = 0; insert "
                     "into zoned values (-1, 'infinity', true), (-2, '-infinity', true), (-3, "
                     "'294276-12-31 23:59:59.999999', true), (-4, '4713-01-01 BC', true)");
    world_sync(&w, 3, &result);
    ck_assert_int_eq(program_json_int(&result, "rejected"), IMPOSSIBLE);
    program_result_release(&result);
    expect_equal_instants(&w);
    rowferry_expect(3, w.config, "verify", NULL);
    world_stop(&w);
}
END_TEST

/* PostgreSQL knows the names, so it is what refuses one. For all but the first it would take an
 * offset out of the name. */
START_TEST(an_unknown_zone_is_refused_by_its_name)
{
    static const char *const wrong[] = {"Europe/Berln", "Europe/Berlin2", "Etc/GMT+20", "a/b<x>3"};
    struct world w;
    struct program_result result;
    world_start(&w, 0, NULL);
    sql_exec(w.conn, "create table zoned (id bigint primary key, at timestamp)");
    configure(&w, "europe/berlin");
    world_install(&w);
    rowferry_expect(0, w.config, "sync", NULL);
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        char text[128];
        snprintf(text, sizeof(text), "has no time zone \"%s\"", wrong[i]);
        configure(&w, wrong[i]);
        rowferry_run(&result, w.config, "check", NULL);
        ck_assert_msg(result.exit_code != 0 && strstr(result.out, text) != NULL, "%s%s", result.out,
                      result.err);
        program_result_release(&result);
        rowferry_run(&result, w.config, "sync", NULL);
        ck_assert_msg(result.exit_code == 1 && strstr(result.err, text) != NULL, "%s", result.err);
        program_result_release(&result);
    }
    world_stop(&w);
}
END_TEST

SUITE_MAIN("sync/zones", local_times_become_the_instants_that_postgresql_makes_of_them,
           an_unknown_zone_is_refused_by_its_name)
