/* SPDX-License-Identifier: Apache-2.0 */
/* Runs the newcomer's commands of README unchanged. */
#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>

#include "compare.h"
#include "page.h"
#include "rowferry/base/text.h"
#include "suite.h"
#include "world.h"

#define HEADING "From your table to a verified index"
#define COMMANDS_MOST 5
#define ROWS 500

/* Returns the first block of commands below the heading. */
static struct page_block *find_block(struct page *readme)
{
    for (size_t i = 0; i < readme->count; i++) {
        if (strcmp(readme->blocks[i].heading, HEADING) == 0) {
            return &readme->blocks[i];
        }
    }
    ck_abort_msg("README.md has no commands below \"%s\"", HEADING);
}

static int run_block(const struct reader *r, struct page_block *block)
{
    int commands = 0;
    char *command = NULL;
    for (char *at = block->text; (command = page_command(&at)) != NULL; commands++) {
        struct program_result result;
        reader_run(r, command, &result);
        ck_assert_msg(result.exit_code == 0, "ended with %d: %s\n%s%s", result.exit_code, command,
                      result.out, result.err);
        program_result_release(&result);
        free(command);
    }
    return commands;
}

/* Returns the index of the configuration. */
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
    struct page readme;
    struct reader reader;
    page_read(&readme, TEST_TOP "/README.md");
    reader_enter(&reader, &w, folder);
    int commands = run_block(&reader, find_block(&readme));
    ck_assert_msg(commands > 0 && commands <= COMMANDS_MOST, "%d commands", commands);
    char *index = index_of(folder);
    char *query = compare_table("articles", "source_id");
    expect_equal(ROWS, w.conn, query, w.service.url, index, "ApiKey " WORLD_API_KEY);
    free(query);
    free(index);
    reader_leave(&reader);
    page_release(&readme);
    scratch_remove(folder);
    world_stop(&w);
}
END_TEST

SUITE_MAIN("integration/cli/readme", five_commands_lead_from_a_table_to_a_verified_index)
