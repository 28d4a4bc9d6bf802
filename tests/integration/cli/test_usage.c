/* SPDX-License-Identifier: Apache-2.0 */
/* Behaviour that needs only argv and the configuration: help, version, and mistakes that end with
 * 2. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rowferry/base/buf.h"
#include "server.h"
#include "suite.h"

static const char *const names[] = {
    "check",
    "init",
    "validate",
    "sync",
    "run",
    "status",
    "verify",
    "smoke",
    "document",
    "source install",
    "source upgrade",
    "source print",
    "source uninstall",
    "deadletter list",
    "resync",
    "deadletter show",
    "deadletter retry",
    "deadletter discard",
    "pause",
    "resume",
    "reindex",
    "completion",
    "help",
    "version",
};

#define NAMES (sizeof(names) / sizeof(names[0]))

/* Runs the program with the words of a line without quotes. */
static void run_line(struct program_result *result, const char *config, const char *line)
{
    char words[8][64] = {{0}};
    const char *argv[12] = {getenv("ROWFERRY_PROGRAM")};
    size_t count = 1;
    if (config != NULL) {
        argv[count++] = "-c";
        argv[count++] = config;
    }
    for (size_t i = 0; *line != '\0' && i < 8; i++) {
        size_t len = strcspn(line, " ");
        snprintf(words[i], sizeof(words[i]), "%.*s", (int)len, line);
        argv[count++] = words[i];
        line += len + strspn(line + len, " ");
    }
    struct program p;
    program_start(&p, argv, NULL);
    program_finish(&p, WAIT_MS, result);
}

static void expect(const char *config, const char *line, int exit_code, const char *text)
{
    struct program_result result;
    run_line(&result, config, line);
    ck_assert_msg(result.exit_code == exit_code, "\"%s\" ended with %d: %s%s", line,
                  result.exit_code, result.out, result.err);
    const char *where = exit_code == 0 ? result.out : result.err;
    ck_assert_msg(strstr(where, text) != NULL, "\"%s\": no \"%s\" in: %s", line, text, where);
    program_result_release(&result);
}

/* --- usage -------------------------------------------------------------------------------------
 */

START_TEST(the_version_is_shown)
{
    expect(NULL, "--version", 0, "rowferry 0.1.0\n");
}
END_TEST

START_TEST(every_command_has_a_help_and_the_help_lists_every_command)
{
    char line[64];
    for (size_t i = 0; i < NAMES; i++) {
        expect(NULL, "--help", 0, names[i]);
        snprintf(line, sizeof(line), "%s --help", names[i]);
        expect(NULL, line, 0, "Exit codes:\n  0  done\n");
        snprintf(line, sizeof(line), "-h %s", names[i]);
        expect(NULL, line, 0, "Usage: rowferry");
    }
    struct program_result help;
    size_t listed = 0;
    run_line(&help, NULL, "--help");
    const char *at = strstr(help.out, "\nCommands:\n") + strlen("\nCommands:\n");
    for (; *at == ' '; at += strcspn(at, "\n") + 1) {
        listed++;
    }
    ck_assert_uint_eq(listed, NAMES);
    program_result_release(&help);
    expect(NULL, "source --help", 0, "source uninstall");
    expect(NULL, "--help", 0, "  6  temporary");
}
END_TEST

START_TEST(what_cannot_be_written_is_temporary_and_every_help_says_so)
{
    char line[64];
    for (size_t i = 0; i < NAMES; i++) {
        snprintf(line, sizeof(line), "%s --help", names[i]);
        expect(NULL, line, 0, "\n  6  temporary");
    }
    const char *const argv[] = {"/bin/sh", "-c", "\"$ROWFERRY_PROGRAM\" --help >/dev/full", NULL};
    struct program_result result;
    struct program p;
    program_start(&p, argv, NULL);
    program_finish(&p, WAIT_MS, &result);
    ck_assert_int_eq(result.exit_code, 6);
    ck_assert_ptr_nonnull(strstr(result.err, "rowferry: could not write to standard output"));
    program_result_release(&result);
}
END_TEST

START_TEST(a_mistyped_command_is_answered_with_the_nearest)
{
    expect(NULL, "snyc", 2, "rowferry: unknown command \"snyc\"; did you mean \"sync\"?\n");
    expect(NULL, "source instal", 2, "did you mean \"source install\"?");
    expect(NULL, "frobnicate", 2, "see: rowferry --help");
    expect(NULL, "source", 2, "needs one of: install, upgrade, uninstall, print");
    expect(NULL, "", 2, "no command");
}
END_TEST

START_TEST(help_and_version_are_understood_without_dashes)
{
    expect(NULL, "version", 0, "rowferry 0.1.0\n");
    expect(NULL, "help", 0, "Usage: rowferry [-c FILE] [global options] COMMAND");
    expect(NULL, "help sync", 0, "sync: bring the indices up to date");
    expect(NULL, "help source install", 0, "Usage: rowferry [-c FILE] source install");
    expect(NULL, "help source", 0, "source uninstall");
    expect(NULL, "help synk", 2, "did you mean \"sync\"?");
    expect(NULL, "version now", 2, "takes no \"now\"");
}
END_TEST

START_TEST(a_mistyped_option_is_answered_with_the_nearest)
{
    expect(NULL, "sync --refersh", 2, "unknown option \"--refersh\"; did you mean \"--refresh\"?");
    expect(NULL, "--jsn check", 2, "did you mean \"--json\"?");
    expect(NULL, "status --refresh", 2, "command \"status\" has no option \"--refresh\"");
    expect(NULL, "sync --json=yes", 2, "takes no value");
    expect(NULL, "sync -c", 2, "needs a value");
    expect(NULL, "sync -x", 2, "unknown option \"-x\"");
    expect(NULL, "document", 2, "needs ID...");
    expect(NULL, "deadletter show 1 2", 2, "command \"deadletter show\" takes one KEY");
    expect(NULL, "init articles", 2, "command \"init\" takes no \"articles\"; see: rowferry init");
}
END_TEST

/* --- the configuration -------------------------------------------------------------------------
 */

#define PIPELINE(table)                                                                            \
    "\"pipelines\":[{\"name\":\"articles\",\"from\":{" table "},"                                  \
    "\"to\":{\"index\":\"a\",\"mappings\":{\"properties\":{\"t\":{\"type\":\"text\"}}}}}]}"
#define ENDS(user)                                                                                 \
    "{\"accept_admin\": true, \"source\":{\"uri\":\"postgresql://" user "@db.invalid/x\"},"        \
    "\"service\":{\"url\":\"http://127.0.0.1:1\"},"

/* Expects that sync ends with 2, with the text in the first line of standard error and without the
 * secret. */
static void refuse(const char *json, const char *text)
{
    struct program_result result;
    char *dir = scratch_new();
    char *path = scratch_write(dir, "shop.json", json);
    run_line(&result, path, "sync");
    ck_assert_msg(result.exit_code == 2, "ended with %d: %s", result.exit_code, result.err);
    const char *end = strchr(result.err, '\n');
    const char *found = strstr(result.err, text);
    ck_assert_msg(found != NULL && found < end, "no \"%s\" in the first line of: %s", text,
                  result.err);
    ck_assert_ptr_null(strstr(result.err, "hunter2"));
    ck_assert_str_eq(result.out, "");
    program_result_release(&result);
    free(path);
    scratch_remove(dir);
}

START_TEST(a_configuration_that_is_wrong_is_refused_in_one_line)
{
    expect("/nonexistent/shop.json", "sync", 2, "\"/nonexistent/shop.json\"");
    refuse("{ \"source\": ", "shop.json:1:");
    refuse(ENDS("u") PIPELINE("\"tabel\":\"t\""), "\"pipelines[0].from.tabel\"");
    refuse(ENDS("u:hunter2") PIPELINE("\"table\":\"t\""), "password");
}
END_TEST

/* Four pipelines of servers that do not exist, whose mappings let the service guess. */
static char *four_pipelines(const char *dir)
{
    struct buf json;
    buf_init(&json, 4096);
    buf_push_literal(&json, ENDS("u") "\"state\":{\"path\":\"");
    buf_printf(&json, "%s/state.db\"},\"pipelines\":[", dir);
    for (int i = 1; i <= 4; i++) {
        buf_printf(&json,
                   "%s{\"name\":\"p%d\",\"from\":{\"table\":\"t%d\"},\"to\":{\"index\":\"a%d\","
                   "\"mappings\":{\"dynamic\":true,\"properties\":{\"t\":{\"type\":\"text\"}}}}}",
                   i > 1 ? "," : "", i, i, i);
    }
    buf_push_literal(&json, "]}");
    char *path = scratch_write(dir, "shop.json", buf_text(&json));
    buf_release(&json);
    return path;
}

START_TEST(check_says_once_what_is_the_same_of_several_pipelines)
{
    struct program_result result;
    char *dir = scratch_new();
    char *path = four_pipelines(dir);
    run_line(&result, path, "check");
    ck_assert_int_eq(result.exit_code, 4);
    ck_assert_ptr_nonnull(strstr(result.out, "WARN  p1, p2, p3 and 1 more: guessing"));
    ck_assert_ptr_nonnull(strstr(result.out, "4 warned"));
    ck_assert_ptr_nonnull(strstr(result.out, "; all lines: rowferry check --all\n"));
    ck_assert_ptr_null(strstr(result.out, "PASS"));
    ck_assert_ptr_null(strstr(result.out, "SKIP"));
    program_result_release(&result);
    run_line(&result, path, "check --all");
    ck_assert_ptr_nonnull(strstr(result.out, "WARN  p4: guessing"));
    ck_assert_ptr_nonnull(strstr(result.out, "PASS  configuration"));
    ck_assert_ptr_nonnull(strstr(result.out, "SKIP  p4: table"));
    program_result_release(&result);
    run_line(&result, path, "check --only pass,skip");
    ck_assert_ptr_null(strstr(result.out, "WARN"));
    ck_assert_ptr_null(strstr(result.out, "FAIL"));
    ck_assert_ptr_nonnull(strstr(result.out, "PASS  configuration"));
    program_result_release(&result);
    run_line(&result, path, "check --json --only warn");
    ck_assert_ptr_nonnull(strstr(result.out, "\"pipeline\":\"p4\""));
    ck_assert_ptr_null(strstr(result.out, "\"status\":\"PASS\""));
    program_result_release(&result);
    expect(path, "check --only warm", 2, "\"warm\" is not one of fail, warn, info, pass, skip");
    free(path);
    scratch_remove(dir);
}
END_TEST

START_TEST(a_mistyped_pipeline_is_answered_with_the_nearest)
{
    char *dir = scratch_new();
    char *path = scratch_write(dir, "shop.json", ENDS("u") PIPELINE("\"table\":\"t\""));
    expect(path, "sync articels", 2, "did you mean \"articles\"?");
    expect(path, "status articles", 0,
           "articles\n  state         never synced\n  next          rowferry -c ");
    free(path);
    scratch_remove(dir);
}
END_TEST

START_TEST(a_password_in_an_argument_is_refused_before_anything_else)
{
    expect(NULL, "source install --as postgresql://dba:hunter2@db.invalid/x", 2, "~/.pgpass");
    expect(NULL, "source print --as password=hunter2", 2, "~/.pgpass");
    expect(NULL, "source print --as postgresql://db.invalid/x?%70assword=hunter2", 2, "~/.pgpass");
    expect(NULL, "source print --as sslpassword=hunter2", 2, "~/.pgpass");
}
END_TEST

SUITE_MAIN("integration/cli/usage", the_version_is_shown,
           every_command_has_a_help_and_the_help_lists_every_command,
           what_cannot_be_written_is_temporary_and_every_help_says_so,
           a_mistyped_command_is_answered_with_the_nearest,
           help_and_version_are_understood_without_dashes,
           a_mistyped_option_is_answered_with_the_nearest,
           check_says_once_what_is_the_same_of_several_pipelines,
           a_configuration_that_is_wrong_is_refused_in_one_line,
           a_mistyped_pipeline_is_answered_with_the_nearest,
           a_password_in_an_argument_is_refused_before_anything_else)
