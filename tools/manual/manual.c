/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Prints the manual page at build time. Its argument, manual.mdoc, is the prose. The parts from the
 * tables of rowferry/cli/command.h are inserted at these directives:
 *
 *   @options          the global options
 *   @command NAME     its head, summary and sentences; prose may follow, then its own options
 *   @rest             the same for every command that was not named
 *   @exits            the exit codes
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rowferry/base/buf.h"
#include "rowferry/base/text.h"
#include "rowferry/cli/command.h"

#define MANUAL_BYTES (1024 * 1024)
#define WIDTH 78

struct manual {
    struct buf *out;
    const struct command *open; /* its options are appended at the next directive; null if none */
    uint64_t shown;             /* bits of the commands that were named, by their index */
};

/* --- text ---------------------------------------------------------------------------------- */

/* Appends a word, escaped so that the formatter reads no request, hyphen or escape in it. */
static size_t manual_push_word(struct buf *out, struct span word)
{
    size_t before = out->len;
    for (size_t i = 0; i < word.len; i++) {
        char c = word.data[i];
        bool dashes = c == '-' && (i == 0 || word.data[i - 1] == '-');
        if (i == 0 && (c == '.' || c == '\'')) {
            buf_push_literal(out, "\\&");
        }
        if (c == '\\' || dashes) {
            buf_push_text(out, c == '\\' ? "\\e" : "\\-");
        } else {
            buf_push_char(out, c);
        }
    }
    return out->len - before;
}

/* Appends a text. Each sentence begins a line, as mdoc requires; an empty line begins a
 * paragraph. */
static void manual_push_text(struct buf *out, const char *text)
{
    size_t used = 0; /* columns of the line; WIDTH if it is full */
    const char *at = text + strspn(text, " \n");
    while (*at != '\0') {
        struct span word = span_make(at, strcspn(at, " \n"));
        bool fits = used > 0 && used + 1 + word.len < WIDTH;
        if (used > 0) {
            buf_push_char(out, fits ? ' ' : '\n');
        }
        used = fits ? used + 1 : 0;
        used += manual_push_word(out, word);
        at += word.len;
        size_t blank = strspn(at, " \n");
        if (at[blank] != '\0' && strncmp(at, "\n\n", 2) == 0) {
            buf_push_literal(out, "\n.Pp");
            used = WIDTH;
        } else if (word.data[word.len - 1] == '.') {
            used = WIDTH;
        }
        at += blank;
    }
    buf_push_char(out, '\n');
}

/* Appends a phrase of the table as a sentence. */
static void manual_push_phrase(struct buf *out, const char *phrase)
{
    struct buf text;
    buf_init(&text, MANUAL_BYTES);
    char first = phrase[0];
    buf_push_char(&text, first >= 'a' && first <= 'z' ? (char)(first - 'a' + 'A') : first);
    buf_printf(&text, "%s.", phrase + 1);
    manual_push_text(out, buf_text(&text));
    buf_release(&text);
}

/* --- options ------------------------------------------------------------------------------- */

static void manual_push_options(struct buf *out, uint64_t bits)
{
    buf_push_literal(out, ".Bl -tag -width indent\n");
    for (int i = 0; i < OPTION_COUNT; i++) {
        const struct option_row *row = &option_rows[i];
        if ((bits & OPTION_BIT(i)) == 0) {
            continue;
        }
        buf_push_literal(out, ".It ");
        if (row->letter != 0) {
            buf_printf(out, "Fl %c%s%s , ", row->letter, row->argument != NULL ? " Ar " : "",
                       row->argument != NULL ? row->argument : "");
        }
        buf_printf(out, "Fl %s", row->name + 1);
        buf_printf(out, row->argument != NULL ? " Ar %s\n" : "%s\n",
                   row->argument != NULL ? row->argument : "");
        manual_push_phrase(out, row->help);
    }
    buf_push_literal(out, ".El\n");
}

static void manual_push_synopsis(struct buf *out, uint64_t bits)
{
    for (int i = 0; i < OPTION_COUNT; i++) {
        const struct option_row *row = &option_rows[i];
        if ((bits & OPTION_BIT(i)) != 0) {
            buf_printf(out, " Oo Fl %s%s%s Oc", row->name + 1, row->argument != NULL ? " Ar " : "",
                       row->argument != NULL ? row->argument : "");
        }
    }
}

/* Appends "[PIPELINE...]" as "Op Ar PIPELINE ...". */
static void manual_push_operands(struct buf *out, const char *operands)
{
    bool optional = operands[0] == '[';
    const char *name = operands + (optional ? 1 : 0);
    size_t len = strcspn(name, ".]");
    if (len > 0) {
        buf_printf(out, " %sAr %.*s%s", optional ? "Op " : "", (int)len, name,
                   name[len] == '.' ? " ..." : "");
    }
}

/* --- commands ------------------------------------------------------------------------------ */

static void manual_push_ends(struct buf *out, unsigned exits)
{
    const char *before = "Ends with ";
    for (const struct exit_row *row = exit_rows; row->help != NULL; row++) {
        if ((exits & 1U << row->code) != 0) {
            exits &= ~(1U << row->code);
            buf_printf(out, "%s%d", before, row->code);
            before = (exits & (exits - 1)) == 0 ? " or " : ", ";
        }
    }
    buf_push_literal(out, ".\n");
}

static void manual_end_command(struct manual *m)
{
    if (m->open == NULL) {
        return;
    }
    if (m->open->options != 0) {
        manual_push_options(m->out, m->open->options);
        buf_push_literal(m->out, ".Pp\n");
    }
    manual_push_ends(m->out, m->open->exits);
    m->open = NULL;
}

static void manual_begin_command(struct manual *m, const struct command *c)
{
    m->open = c;
    m->shown |= UINT64_C(1) << (c - commands);
    buf_printf(m->out, ".It Nm Cm %s", c->name);
    manual_push_synopsis(m->out, c->options);
    manual_push_operands(m->out, c->operands);
    buf_push_char(m->out, '\n');
    manual_push_phrase(m->out, c->summary);
    manual_push_text(m->out, c->about);
}

static void manual_push_rest(struct manual *m)
{
    for (const struct command *c = commands; c->name != NULL; c++) {
        if ((m->shown & UINT64_C(1) << (c - commands)) == 0) {
            manual_begin_command(m, c);
            manual_end_command(m);
        }
    }
}

static void manual_push_exits(struct buf *out)
{
    buf_push_literal(out, ".Bl -tag -width indent\n");
    for (const struct exit_row *row = exit_rows; row->help != NULL; row++) {
        buf_printf(out, ".It %d\n", row->code);
        manual_push_phrase(out, row->help);
    }
    buf_push_literal(out, ".El\n");
}

/* --- the page ------------------------------------------------------------------------------ */

/* Returns false if the directive is unknown. */
static bool manual_follow(struct manual *m, struct span word)
{
    static const char command[] = "@command ";
    size_t head = sizeof(command) - 1;
    manual_end_command(m);
    if (span_is(word, "@options")) {
        manual_push_options(m->out, OPTIONS_GLOBAL);
        return true;
    }
    if (span_is(word, "@rest")) {
        manual_push_rest(m);
        return true;
    }
    if (span_is(word, "@exits")) {
        manual_push_exits(m->out);
        return true;
    }
    for (const struct command *c = commands; c->name != NULL; c++) {
        if (word.len > head && span_is(span_make(word.data + head, word.len - head), c->name)) {
            manual_begin_command(m, c);
            return true;
        }
    }
    return false;
}

int main(int argc, char **argv)
{
    struct buf out;
    struct manual m = {.out = &out};
    char *line = NULL;
    size_t size = 0;
    bool good = true;
    FILE *prose = argc == 2 ? fopen(argv[1], "re") : NULL;
    if (prose == NULL) {
        fprintf(stderr, "usage: manual FILE.mdoc\n");
        return EXIT_USAGE;
    }
    buf_init(&out, MANUAL_BYTES);
    while (good && getline(&line, &size, prose) > 0) {
        if (line[0] == '@') {
            good = manual_follow(&m, span_make(line, strcspn(line, "\n")));
        } else {
            buf_push_text(&out, line);
        }
    }
    if (good) {
        fputs(buf_text(&out), stdout);
    } else {
        fprintf(stderr, "unknown directive: %s", line);
    }
    good = good && !out.failed && fflush(stdout) == 0;
    buf_release(&out);
    free(line);
    fclose(prose);
    return good ? EXIT_DONE : EXIT_FAILED;
}
