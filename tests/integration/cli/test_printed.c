/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every command of rowferry that a message, a remedy or the status page prints is one that the
 * program takes. The texts are read from the program itself, where the compiler has joined them. A
 * command ends where its words, options and placeholders end; each one is run once.
 */
#include <ctype.h>

#include "rowferry/base/buf.h"
#include "rowferry/base/file.h"
#include "rowferry/base/text.h"
#include "suite.h"
#include "typed.h"

#define PROGRAM_BYTES ((size_t)64 << 20)
#define COMMANDS_MOST 200
#define NAME "rowferry "

#define NOWHERE "postgresql://nobody@127.0.0.1:1/x"

/* Commands, with the words that may follow, and the arguments that they need and prose leaves out.
 * Other words are prose or arguments. */
static const struct {
    const char *name;
    const char *words[8];
    const char *needs;
} commands[] = {
    {.name = "check"},
    {.name = "completion", .words = {"bash", "fish", "zsh"}},
    {.name = "deadletter", .words = {"list", "show", "retry", "discard", "export"}},
    {.name = "document", .needs = " 7 articles"},
    {.name = "init", .needs = " --table articles --source " NOWHERE},
    {.name = "pause"},
    {.name = "reindex"},
    {.name = "resume"},
    {.name = "resync"},
    {.name = "smoke"},
    {.name = "source", .words = {"install", "print", "uninstall"}},
    {.name = "status"},
    {.name = "sync"},
    {.name = "validate"},
    {.name = "verify"},
};

/* Words after the program's name that are no commands. "run" lasts, and test_manual.c runs it. */
static const char *const prose[] = {"adds",   "alone",   "answers",  "cannot", "cascade", "did",
                                    "exists", "from",    "is",       "keeps",  "login",   "on",
                                    "reads",  "refuses", "rowferry", "run",    "standby", "to"};

struct found {
    char *commands[COMMANDS_MOST];
    size_t count;
};

static size_t command_of(const char *word, size_t len)
{
    for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
        if (strlen(commands[i].name) == len && strncmp(commands[i].name, word, len) == 0) {
            return i;
        }
    }
    for (size_t i = 0; i < sizeof(prose) / sizeof(prose[0]); i++) {
        if (strlen(prose[i]) == len && strncmp(prose[i], word, len) == 0) {
            return SIZE_MAX;
        }
    }
    ck_abort_msg("neither a command nor prose: rowferry %.*s", (int)len, word);
}

static bool is_sub(size_t command, const char *word, size_t len)
{
    for (size_t i = 0; i < 8 && commands[command].words[i] != NULL; i++) {
        const char *sub = commands[command].words[i];
        if (strlen(sub) == len && strncmp(sub, word, len) == 0) {
            return true;
        }
    }
    return false;
}

/* Options whose value a text prints as a placeholder or an example. */
static const char *const values[][2] = {
    {"--where", " true"}, {"--as", " " NOWHERE}, {"--reader", " postgres"}};

static const char *value_of(const char *option, size_t len)
{
    for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
        if (strlen(values[i][0]) == len && strncmp(values[i][0], option, len) == 0) {
            return values[i][1];
        }
    }
    return NULL;
}

/* Appends what follows the command's first word, up to prose or punctuation. */
static void push_rest(struct buf *out, size_t command, const char *at)
{
    bool names_sub = commands[command].words[0] == NULL;
    for (;;) {
        at += strncmp(at, "%s", 2) == 0 ? 2 : 0; /* an option that may be absent */
        if (*at++ != ' ') {
            break;
        }
        size_t len = strspn(at, "abcdefghijklmnopqrstuvwxyz-");
        if (strncmp(at, "%s", 2) == 0 && names_sub) {
            buf_push_literal(out, " articles");
            at += 2;
        } else if (strncmp(at, "%s", 2) == 0) {
            buf_printf(out, " %s", commands[command].words[0]);
            names_sub = true;
            at += 2;
        } else if (len > 2 && at[0] == '-') {
            const char *value = value_of(at, len);
            buf_printf(out, " %.*s%s", (int)len, at, value != NULL ? value : "");
            at += len;
            at += value != NULL && *at == ' ' ? 1 + strcspn(at + 1, " ;\".") : 0;
        } else if (is_sub(command, at, len)) {
            buf_printf(out, " %.*s", (int)len, at);
            names_sub = true;
            at += len;
        } else {
            break;
        }
    }
    buf_push_text(out, commands[command].needs != NULL ? commands[command].needs : "");
}

static void add(struct found *f, const char *text)
{
    for (size_t i = 0; i < f->count; i++) {
        if (strcmp(f->commands[i], text) == 0) {
            return;
        }
    }
    ck_assert_uint_lt(f->count, COMMANDS_MOST);
    f->commands[f->count++] = text_copy(text);
}

static void find_in(struct found *f, const char *text)
{
    struct buf out;
    buf_init(&out, PROGRAM_BYTES);
    for (const char *at = strstr(text, NAME); at != NULL; at = strstr(at, NAME)) {
        at += strlen(NAME);
        size_t len = strspn(at, "abcdefghijklmnopqrstuvwxyz");
        size_t command = len > 1 ? command_of(at, len) : SIZE_MAX;
        if (command != SIZE_MAX) {
            buf_reset(&out);
            buf_printf(&out, NAME "%s", commands[command].name);
            push_rest(&out, command, at + len);
            add(f, buf_text(&out));
        }
    }
    buf_release(&out);
}

/* Each text of a program ends with a zero byte. */
static void find_all(struct found *f)
{
    struct buf program;
    buf_init(&program, PROGRAM_BYTES);
    ck_assert_ptr_null(file_read(getenv("ROWFERRY_PROGRAM"), 1000, &program, NULL));
    for (size_t at = 0; at < program.len; at += strlen(program.data + at) + 1) {
        find_in(f, program.data + at);
    }
    buf_release(&program);
}

START_TEST(every_command_that_the_program_prints_is_one_that_it_takes)
{
    struct world w;
    struct found f = {0};
    find_all(&f);
    ck_assert_uint_ge(f.count, 30);
    world_start(&w, 20, NULL);
    world_install(&w);
    rowferry_expect(0, w.config, "sync", NULL);
    for (size_t i = 0; i < f.count; i++) {
        typed(&w, f.commands[i]);
        free(f.commands[i]);
    }
    world_stop(&w);
}
END_TEST

SUITE_MAIN("cli/printed", every_command_that_the_program_prints_is_one_that_it_takes)
