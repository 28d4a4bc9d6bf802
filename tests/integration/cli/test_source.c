/* SPDX-License-Identifier: Apache-2.0 */
/* source install, upgrade, uninstall and print: what they say, and what they leave. */
#include <fcntl.h>
#include <json-c/json.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "rowferry/base/buf.h"
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

#define DBA_PASSWORD "of-the-dba"
#define READER_PASSWORD "of-the-reader"

/* A source whose reader has a password in a file, and an administrator with another password. */
struct office {
    struct world w;
    char *dba, *reader;
    char *dba_uri;
    char source[1024];
};

static void office_open(struct office *o)
{
    world_start(&o->w, 10, NULL);
    o->dba = sql_text(o->w.conn, "select 'dba_' || current_database()");
    o->reader = sql_text(o->w.conn, "select 'reader_' || current_database()");
    sql_exec(o->w.conn,
             "create role \"%s\" superuser login password '" DBA_PASSWORD "';"
             "create role \"%s\" login password '" READER_PASSWORD "'",
             o->dba, o->reader);
    o->dba_uri = uri_as(o->w.uri, o->dba);
    char *uri = uri_as(o->w.uri, o->reader);
    char *file = scratch_write(o->w.dir, "password", READER_PASSWORD "\n");
    snprintf(o->source, sizeof(o->source), "\"uri\": \"%s\", \"password\": {\"file\": \"%s\"}", uri,
             file);
    o->w.source = o->source;
    world_configure(&o->w, WORLD_PROPERTIES, "");
    free(file);
    free(uri);
}

static void office_close(struct office *o)
{
    sql_exec(o->w.conn, "reassign owned by \"%s\" to current_user", o->dba);
    sql_exec(o->w.conn, "drop owned by \"%1$s\", \"%2$s\"; drop role \"%1$s\", \"%2$s\"", o->dba,
             o->reader);
    free(o->dba);
    free(o->reader);
    free(o->dba_uri);
    world_stop(&o->w);
}

/* Runs source ACTION --as the administrator, by role or URI, without a terminal. */
static void office_run(const struct office *o, const char *action, const char *as,
                       const char *setting, struct program_result *r)
{
    struct program p;
    const char *const argv[] = {"/usr/bin/setsid",
                                "--wait",
                                getenv("ROWFERRY_PROGRAM"),
                                "-c",
                                o->w.config,
                                "source",
                                action,
                                "--as",
                                as,
                                NULL};
    const char *const env[] = {setting, NULL};
    program_start(&p, argv, env);
    program_finish(&p, RUN_MS, r);
}

START_TEST(another_login_never_gets_the_password_of_the_configuration)
{
    struct office o;
    struct program_result r;
    office_open(&o);
    char *file = scratch_write(o.w.dir, "pgpass", "*:*:*:*:" DBA_PASSWORD "\n");
    char passfile[512];
    snprintf(passfile, sizeof(passfile), "PGPASSFILE=%s", file);
    const char *const settings[] = {"PGPASSWORD=" DBA_PASSWORD, passfile};
    char *readers = scratch_path(o.w.dir, "password");
    for (size_t i = 0; i < 2; i++) {
        office_run(&o, i == 0 ? "install" : "uninstall", i == 0 ? o.dba : o.dba_uri, settings[i],
                   &r);
        ck_assert_msg(r.exit_code == 0, "%s: %s", settings[i], r.err);
        program_result_release(&r);
        unlink(readers); /* uninstall does not need it */
    }
    office_run(&o, "uninstall", o.dba_uri, NULL, &r);
    ck_assert_int_eq(r.exit_code, 1);
    expect_text(r.err, "no password supplied");
    expect_text(r.err, "the password of --as comes from $PGPASSWORD, ~/.pgpass or a service file, "
                       "or is asked for on a terminal");
    program_result_release(&r);
    free(readers);
    free(file);
    office_close(&o);
}
END_TEST

/* Runs the installation on a terminal, types the password if it is asked for, and returns the
 * output and the exit code. */
static int office_type(const struct office *o, const char *password, struct buf *shown)
{
    int status;
    char part[256];
    int master = posix_openpt(O_RDWR | O_NOCTTY);
    ck_assert(master >= 0 && grantpt(master) == 0 && unlockpt(master) == 0);
    pid_t child = fork();
    ck_assert_int_ge(child, 0);
    if (child == 0) {
        setsid();
        int terminal = open(ptsname(master), O_RDWR); /* the controlling one of the new session */
        dup2(terminal, STDOUT_FILENO);
        dup2(terminal, STDERR_FILENO);
        close(master);
        execl(getenv("ROWFERRY_PROGRAM"), "rowferry", "-c", o->w.config, "source", "install",
              "--as", o->dba_uri, (char *)NULL);
        _exit(127);
    }
    for (ssize_t got; (got = read(master, part, sizeof(part))) > 0;) {
        buf_push(shown, part, (size_t)got);
        if (password != NULL && strstr(buf_text(shown), "Password of --as: ") != NULL) {
            dprintf(master, "%s\n", password);
            password = NULL;
        }
    }
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    close(master);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

START_TEST(a_missing_password_of_another_login_is_asked_for_on_a_terminal)
{
    struct office o;
    struct buf shown;
    static const struct {
        const char *password, *text;
        int exit_code;
    } tries[] = {{"wrong-one", "password authentication failed", 1},
                 {DBA_PASSWORD, "is installed", 0}};
    office_open(&o);
    for (size_t i = 0; i < 2; i++) {
        buf_init(&shown, 65536);
        ck_assert_int_eq(office_type(&o, tries[i].password, &shown), tries[i].exit_code);
        expect_text(buf_text(&shown), tries[i].text);
        ck_assert_ptr_null(strstr(buf_text(&shown), tries[i].password));
        buf_release(&shown);
    }
    office_close(&o);
}
END_TEST

SUITE_MAIN("integration/cli/source", source_install_says_what_it_did_and_nothing_the_second_time,
           another_login_never_gets_the_password_of_the_configuration,
           a_missing_password_of_another_login_is_asked_for_on_a_terminal,
           what_source_print_writes_can_be_run_by_a_dba,
           source_as_json_is_an_object_per_line_with_the_tables,
           the_sql_of_source_print_as_json_is_that_of_the_script,
           what_failed_is_in_the_json_object_and_in_the_exit_code)
