/* SPDX-License-Identifier: Apache-2.0 */
/* source install, upgrade, uninstall and print: what they say, and what they leave. */
#include <json-c/json.h>
#include <stdio.h>
#include <string.h>

#include "sql.h"
#include "suite.h"
#include "world.h"

START_TEST(source_install_says_what_it_did_and_nothing_the_second_time)
{
    struct world w;
    struct program_result result;
    static const struct {
        const char *action;
        const char *text;
    } steps[] = {
        {"install", "articles: the change log of \"public\".\"articles\" is installed\n"},
        {"install", "is already installed, nothing changed\n"},
        {"uninstall", " is removed\n"},
        {"uninstall", "was not installed, nothing changed\n"},
        {"print", "create schema "},
    };
    world_start(&w, 10, NULL);
    for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
        rowferry_run(&result, w.config, "source", steps[i].action, NULL);
        ck_assert_msg(result.exit_code == 0, "%s", result.err);
        expect_text(result.out, steps[i].text);
        program_result_release(&result);
    }
    ck_assert_int_eq(
        sql_int(w.conn, "select count(*) from pg_namespace where nspname = 'rowferry'"), 0);
    world_stop(&w);
}
END_TEST

START_TEST(what_source_print_writes_can_be_run_by_a_dba)
{
    struct world w;
    struct program_result result;
    world_start(&w, 10, NULL);
    rowferry_run(&result, w.config, "source", "print", "--reader", "pg_monitor", NULL);
    ck_assert_int_eq(result.exit_code, 0);
    expect_text(result.out, "to \"pg_monitor\";\n");
    sql_exec(w.conn, "%s", result.out);
    program_result_release(&result);
    rowferry_expect(0, w.config, "check", "--all", "--accept-admin", NULL);
    world_stop(&w);
}
END_TEST

/* Runs `source` with these arguments and --json. */
static void run_json(struct program_result *r, const struct world *w, const char *action,
                     const char *option, const char *value)
{
    rowferry_run(r, w->config, "source", action, "--json", option, value, NULL);
}

START_TEST(source_as_json_is_an_object_per_line_with_the_tables)
{
    struct world w;
    struct program_result r;
    static const struct {
        const char *action, *option, *value, *members;
    } steps[] = {
        {"install", NULL, NULL,
         "\"action\":\"installed\",\"reader\":null,\"notify\":false,\"publications\":null,"
         "\"dumper\":null"},
        {"install", "--notify", NULL,
         "\"action\":\"none\",\"reader\":null,\"notify\":true,\"publications\":null,"
         "\"dumper\":null"},
        {"upgrade", "--reader", "pg_monitor",
         "\"action\":\"none\",\"reader\":\"pg_monitor\",\"notify\":true,\"publications\":null,"
         "\"dumper\":null"},
        {"uninstall", NULL, NULL, "\"action\":\"removed\""},
        {"uninstall", NULL, NULL, "\"action\":\"none\""},
    };
    world_start(&w, 10, NULL);
    for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
        char wanted[512];
        snprintf(wanted, sizeof(wanted),
                 "{\"pipeline\":\"articles\",\"tables\":[{\"schema\":\"public\","
                 "\"table\":\"articles\",%s}],\"exit_code\":0,\"error\":null}\n",
                 steps[i].members);
        run_json(&r, &w, steps[i].action, steps[i].option, steps[i].value);
        ck_assert_msg(r.exit_code == 0, "%s", r.err);
        ck_assert_str_eq(r.out, wanted);
        program_result_release(&r);
    }
    world_stop(&w);
}
END_TEST

START_TEST(the_sql_of_source_print_as_json_is_that_of_the_script)
{
    struct world w;
    struct program_result script;
    struct program_result r;
    world_start(&w, 10, NULL);
    rowferry_run(&script, w.config, "source", "print", "--reader", "pg_monitor", NULL);
    run_json(&r, &w, "print", "--reader", "pg_monitor");
    ck_assert_int_eq(r.exit_code, 0);
    struct json_object *object = json_tokener_parse(r.out);
    struct json_object *table =
        json_object_array_get_idx(json_object_object_get(object, "tables"), 0);
    const char *sql = json_object_get_string(json_object_object_get(table, "sql"));
    ck_assert_ptr_nonnull(sql);
    ck_assert_ptr_eq(strchr(r.out, '\n'), r.out + strlen(r.out) - 1);
    ck_assert_str_eq(script.out + strlen("-- pipeline articles\n"), sql);
    json_object_put(object);
    program_result_release(&r);
    program_result_release(&script);
    world_stop(&w);
}
END_TEST

START_TEST(what_failed_is_in_the_json_object_and_in_the_exit_code)
{
    struct world w;
    struct program_result r;
    world_start(&w, 10, NULL);
    run_json(&r, &w, "upgrade", NULL, NULL);
    ck_assert_int_eq(r.exit_code, 1);
    ck_assert_str_eq(r.out,
                     "{\"pipeline\":\"articles\",\"tables\":[],\"exit_code\":1,\"error\":"
                     "\"no change log is installed for \\\"public\\\".\\\"articles\\\"\"}\n");
    expect_text(r.err, "pipeline \"articles\": no change log is installed");
    program_result_release(&r);
    world_from(&w, "\"capture\": {\"mode\": \"cursor\", \"column\": \"updated_at\"}");
    run_json(&r, &w, "install", NULL, NULL);
    ck_assert_msg(r.exit_code == 0, "%s", r.err);
    ck_assert_str_eq(r.out,
                     "{\"pipeline\":\"articles\",\"tables\":[],\"exit_code\":0,\"error\":null}\n");
    program_result_release(&r);
    world_stop(&w);
}
END_TEST

SUITE_MAIN("integration/cli/source", source_install_says_what_it_did_and_nothing_the_second_time,
           what_source_print_writes_can_be_run_by_a_dba,
           source_as_json_is_an_object_per_line_with_the_tables,
           the_sql_of_source_print_as_json_is_that_of_the_script,
           what_failed_is_in_the_json_object_and_in_the_exit_code)
