/* SPDX-License-Identifier: Apache-2.0 */
/* Renders usage, options and exit codes. */
#include "help.h"

#include <string.h>

#include "rowferry/base/text.h"

#define COMMAND_COLUMN 20
#define OPTION_COLUMN 22
#define WIDTH 80

/* --- text ---------------------------------------------------------------------------------- */

/* Takes the next word at *at; returns false at the end. *paragraph: an empty line precedes it. */
static bool help_next_word(const char **at, struct span *word, bool *paragraph)
{
    size_t blank = strspn(*at, " \n");
    *paragraph = false;
    for (size_t i = 0; i + 1 < blank; i++) {
        *paragraph |= (*at)[i] == '\n' && (*at)[i + 1] == '\n';
    }
    *word = span_make(*at + blank, strcspn(*at + blank, " \n"));
    *at = word->data + word->len;
    return word->len > 0;
}

/* Appends the words of a text, beginning at `column`. Further lines are indented to that column. */
static void help_push_wrapped(struct buf *out, const char *text, size_t column)
{
    struct span word;
    bool paragraph;
    size_t used = column;
    while (help_next_word(&text, &word, &paragraph)) {
        bool first = used == column;
        if (!first && (paragraph || used + 1 + word.len >= WIDTH)) {
            buf_printf(out, "%s%*s", paragraph ? "\n\n" : "\n", (int)column, "");
            used = column;
            first = true;
        }
        if (!first) {
            buf_push_char(out, ' ');
        }
        buf_push(out, word.data, word.len);
        used += word.len + (first ? 0 : 1);
    }
    buf_push_char(out, '\n');
}

/* --- parts --------------------------------------------------------------------------------- */

static void help_push_exits(struct buf *out, unsigned exits)
{
    buf_push_literal(out, "\nExit codes:\n");
    for (const struct exit_row *row = exit_rows; row->help != NULL; row++) {
        if ((exits & 1U << row->code) != 0) {
            buf_printf(out, "  %d  %s\n", row->code, row->help);
        }
    }
}

static void help_push_option(struct buf *out, const struct option_row *row)
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
    buf_printf(out, "  %-*s  ", OPTION_COLUMN, buf_text(&name));
    help_push_wrapped(out, row->help, OPTION_COLUMN + 4);
    buf_release(&name);
}

static void help_push_options(struct buf *out, const char *title, uint64_t bits)
{
    if (bits == 0) {
        return;
    }
    buf_printf(out, "\n%s:\n", title);
    for (int i = 0; i < OPTION_COUNT; i++) {
        if ((bits & OPTION_BIT(i)) != 0) {
            help_push_option(out, &option_rows[i]);
        }
    }
}

static void help_push_configuration(struct buf *out)
{
    buf_push_literal(out, "\nThe configuration is that of -c, else $ROWFERRY_CONFIG, "
                          "./rowferry.json or\n/etc/rowferry/rowferry.json.\n");
}

static void help_push_usage(struct buf *out, const struct command *c)
{
    buf_printf(out, "Usage: rowferry %s%s%s%s%s\n", c->unconfigured ? "" : "[-c FILE] ", c->name,
               c->options != 0 ? " [options]" : "", *c->operands != '\0' ? " " : "", c->operands);
}

static void help_push_command(struct buf *out, const struct command *c)
{
    buf_printf(out, "%s: %s\n\n", c->name, c->summary);
    help_push_usage(out, c);
    buf_push_char(out, '\n');
    help_push_wrapped(out, c->about, 0);
    if (strcmp(c->operands, "[PIPELINE...]") == 0) {
        buf_push_literal(out, "No pipeline named means all.\n");
    }
    help_push_options(out, "Options", c->options);
    help_push_options(out, "Global options", OPTIONS_GLOBAL);
    if (!c->unconfigured) {
        help_push_configuration(out);
    }
    help_push_exits(out, c->exits);
}

static bool help_in_group(const struct command *c, const char *group)
{
    size_t len = strlen(group);
    return strncmp(c->name, group, len) == 0 && c->name[len] == ' ';
}

/* `group` null: all commands */
static void help_push_commands(struct buf *out, const char *group)
{
    buf_push_literal(out, "\nCommands:\n");
    for (const struct command *c = commands; c->name != NULL; c++) {
        if (group == NULL || help_in_group(c, group)) {
            buf_printf(out, "  %-*s%s\n", COMMAND_COLUMN, c->name, c->summary);
        }
    }
}

void help_push(struct buf *out, const struct arguments *a)
{
    if (a->command != NULL) {
        help_push_command(out, a->command);
        return;
    }
    if (a->group != NULL) {
        buf_printf(out, "Usage: rowferry [-c FILE] %s COMMAND [options]\n", a->group);
        help_push_commands(out, a->group);
        buf_printf(out, "\nSee: rowferry %s COMMAND --help\n", a->group);
        return;
    }
    buf_push_literal(out, "rowferry keeps a search index equal to a PostgreSQL table.\n\n"
                          "Usage: rowferry [-c FILE] [global options] COMMAND [options] "
                          "[PIPELINE...]\n");
    help_push_commands(out, NULL);
    help_push_options(out, "Global options", OPTIONS_GLOBAL);
    help_push_configuration(out);
    help_push_exits(out, ~0U);
    buf_push_literal(out, "\nSee: rowferry COMMAND --help\n");
}
