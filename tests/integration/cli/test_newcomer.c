/* SPDX-License-Identifier: Apache-2.0 */
/* The commands of README's newcomer, run as they stand there. */
#include <json-c/json.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compare.h"
#include "rowferry/base/text.h"
#include "sql.h"
#include "suite.h"
#include "world.h"

#define HEADING "\n## From your table to a verified index\n"
#define COMMANDS_MOST 5
#define ROWS 500
#define PASSWORD "canary-newcomer"

/* The first block of commands below the heading; the caller frees it. */
static char *read_block(void)
{
    static char text[256 * 1024];
    FILE *file = fopen(TEST_TOP "/README.md", "re");
    ck_assert_ptr_nonnull(file);
    text[fread(text, 1, sizeof(text) - 1, file)] = '\0';
    fclose(file);
    const char *heading = strstr(text, HEADING);
    ck_assert_msg(heading != NULL, "README.md has no \"%s\"", HEADING);
    const char *begin = strstr(heading, "\n```sh\n");
    ck_assert_ptr_nonnull(begin);
    begin += strlen("\n```sh\n");
    const char *end = strstr(begin, "\n```\n");
    ck_assert_ptr_nonnull(end);
    return text_copy_span(span_make(begin, (size_t)(end + 1 - begin)));
}

/* What somebody has who comes to rowferry: a role of its own, which owns the table and may make a
 * schema in its database. The caller frees the URI. */
static char *prepare_owner(const struct world *w)
{
    char *role = sql_text(w->conn, "select 'newcomer_' || current_database()");
    sql_exec(w->conn,
             "create role \"%1$s\" login password '" PASSWORD "';"
             "do $$ begin execute format('grant create on database %%I to \"%1$s\"',"
             " current_database()); end $$;"
             "alter table articles owner to \"%1$s\"; analyze articles",
             role);
    char *uri = uri_as(w->uri, role);
    free(role);
    return uri;
}

/* In the folder, with rowferry on the path, as a person types it. */
static void run(const char *folder, const char *command, const char *const *env)
{
    static const char script[] =
        "cd \"$1\" && PATH=$(dirname \"$ROWFERRY_PROGRAM\"):$PATH && eval \"$2\"";
    const char *const argv[] = {"/bin/bash", "-c", script, "bash", folder, command, NULL};
    struct program p;
    struct program_result result;
    program_start(&p, argv, env);
    program_finish(&p, 60000, &result);
    ck_assert_msg(result.exit_code == 0, "ended with %d: %s\n%s%s", result.exit_code, command,
                  result.out, result.err);
    ck_assert_msg(strstr(result.out, PASSWORD) == NULL && strstr(result.err, PASSWORD) == NULL,
                  "the password stands in the output of: %s", command);
    program_result_release(&result);
}

/* Each command of the block; one that ends with a backslash goes on in the next line. */
static int run_block(const char *folder, char *block, const char *const *env)
{
    int commands = 0;
    for (char *at = block; *at != '\0';) {
        char *end = strchr(at, '\n');
        while (end > at && end[-1] == '\\') {
            end = strchr(end + 1, '\n');
        }
        *end = '\0';
        if (*at != '\0' && *at != '#') {
            run(folder, at, env);
            commands++;
        }
        at = end + 1;
    }
    return commands;
}

/* The index that the configuration was written for. */
static char *index_of(const char *folder)
{
    char *path = scratch_path(folder, "rowferry.json");
    struct program_result result;
    rowferry_run(&result, path, "status", "--json", NULL);
    struct json_object *status = json_tokener_parse(result.out);
    char *index = text_copy(json_object_get_string(json_object_object_get(status, "alias")));
    json_object_put(status);
    program_result_release(&result);
    free(path);
    return index;
}

START_TEST(five_commands_lead_from_a_table_to_a_verified_index)
{
    struct world w;
    world_start(&w, ROWS, NULL);
    char *folder = scratch_new();
    char *block = read_block();
    char *uri = prepare_owner(&w);
    char database[512];
    char service[128];
    snprintf(database, sizeof(database), "DATABASE_URL=%s", uri);
    snprintf(service, sizeof(service), "SEARCH_URL=%s", w.service.url);
    const char *const env[] = {database, service, "PGPASSWORD=" PASSWORD,
                               "ROWFERRY_API_KEY=" WORLD_API_KEY, NULL};
    int commands = run_block(folder, block, env);
    ck_assert_msg(commands > 0 && commands <= COMMANDS_MOST, "%d commands", commands);
    char *index = index_of(folder);
    char *query = compare_table("articles", "source_id");
    expect_equal(ROWS, w.conn, query, w.service.url, index, "ApiKey " WORLD_API_KEY);
    free(query);
    free(index);
    free(uri);
    free(block);
    scratch_remove(folder);
    world_stop(&w);
}
END_TEST

SUITE_MAIN("integration/cli/newcomer", five_commands_lead_from_a_table_to_a_verified_index)
