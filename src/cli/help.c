/* SPDX-License-Identifier: Apache-2.0 */
/* Renders usage, options and exit codes. */
#include "help.h"

#include <string.h>

#define COMMAND_COLUMN 20
#define OPTION_COLUMN 21

static const struct {
    enum exit_code code;
    const char *text;
} exit_rows[] = {
    {EXIT_DONE, "done"},
    {EXIT_FAILED, "failed: a server says no; the reason is on standard error"},
    {EXIT_USAGE, "usage or configuration: what file and command line alone show"},
    {EXIT_DEAD_LETTERS, "done, but dead letters are open (--dead-letters-ok makes it 0)"},
    {EXIT_DIFFERENCES, "check has found a FAIL"},
    {EXIT_HELD, "another sync holds the pipeline"},
    {EXIT_TEMPORARY, "temporary: source or service unreachable, try again later"},
};

static void push_exits(struct buf *out, unsigned exits)
{
    buf_push_literal(out, "\nExit codes:\n");
    for (size_t i = 0; i < sizeof(exit_rows) / sizeof(exit_rows[0]); i++) {
        if ((exits & 1U << exit_rows[i].code) != 0) {
            buf_printf(out, "  %d  %s\n", exit_rows[i].code, exit_rows[i].text);
        }
    }
}

static void push_option(struct buf *out, const struct option_row *row)
{
    struct buf name;
    buf_init(&name, 256);
    if (row->letter != 0) {
        buf_printf(&name, "-%c, %s", row->letter, row->name);
    } else {
        buf_printf(&name, "    %s", row->name);
    }
    if (row->argument != NULL) {
        buf_printf(&name, " %s", row->argument);
    }
    buf_printf(out, "  %-*s  %s\n", OPTION_COLUMN, buf_text(&name), row->help);
    buf_release(&name);
}

static void push_options(struct buf *out, const char *title, uint64_t bits)
{
    if (bits == 0) {
        return;
    }
    buf_printf(out, "\n%s:\n", title);
    for (int i = 0; i < OPTION_COUNT; i++) {
        if ((bits & OPTION_BIT(i)) != 0 && option_rows[i].help != NULL) {
            push_option(out, &option_rows[i]);
        }
    }
}

static void push_configuration(struct buf *out)
{
    buf_push_literal(out, "\nThe configuration is that of -c, else $ROWFERRY_CONFIG, "
                          "./rowferry.json or\n/etc/rowferry/rowferry.json.\n");
}

static void push_command(struct buf *out, const struct command *c)
{
    buf_printf(out, "%s: %s\n\nUsage: rowferry [-c FILE] %s%s %s\n\n%s\n", c->name, c->summary,
               c->name, c->options != 0 ? " [options]" : "", c->operands, c->about);
    if (strcmp(c->operands, "[PIPELINE...]") == 0) {
        buf_push_literal(out, "No pipeline named means all.\n");
    }
    push_options(out, "Options", c->options);
    push_options(out, "Global options", OPTIONS_GLOBAL);
    push_configuration(out);
    push_exits(out, c->exits);
}

static bool in_group(const struct command *c, const char *group)
{
    size_t len = strlen(group);
    return strncmp(c->name, group, len) == 0 && c->name[len] == ' ';
}

/* group: null = all */
static void push_commands(struct buf *out, const char *group)
{
    buf_push_literal(out, "\nCommands:\n");
    for (const struct command *c = commands; c->name != NULL; c++) {
        if (c->summary != NULL && (group == NULL || in_group(c, group))) {
            buf_printf(out, "  %-*s%s\n", COMMAND_COLUMN, c->name, c->summary);
        }
    }
}

void help_push(struct buf *out, const struct arguments *a)
{
    if (a->command != NULL) {
        push_command(out, a->command);
        return;
    }
    if (a->group != NULL) {
        buf_printf(out, "Usage: rowferry [-c FILE] %s COMMAND [options]\n", a->group);
        push_commands(out, a->group);
        buf_printf(out, "\nSee: rowferry %s COMMAND --help\n", a->group);
        return;
    }
    buf_push_literal(out, "rowferry keeps a search index equal to a PostgreSQL table.\n\n"
                          "Usage: rowferry [-c FILE] [global options] COMMAND [options] "
                          "[PIPELINE...]\n");
    push_commands(out, NULL);
    push_options(out, "Global options", OPTIONS_GLOBAL);
    push_configuration(out);
    push_exits(out, ~0U);
    buf_push_literal(out, "\nSee: rowferry COMMAND --help\n");
}
