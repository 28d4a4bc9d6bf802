/* SPDX-License-Identifier: Apache-2.0 */
/* The questions of `init`. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "init/init.h"
#include "output/terminal.h"
#include "rowferry/base/text.h"

bool init_asks(const struct arguments *a)
{
    return !arguments_have(a, OPTION_YES) && isatty(STDIN_FILENO) == 1 &&
           isatty(STDERR_FILENO) == 1;
}

static void init_ask_push_prompt(const char *question, const char *answer)
{
    struct buf line;
    buf_init(&line, INIT_TEXT_BYTES);
    struct buf shown;
    terminal_push(&line, terminal_colours(STDERR_FILENO), COLOUR_BOLD, question);
    buf_push_literal(&line, " [");
    terminal_push_safe(&line, answer, strlen(answer));
    buf_push_literal(&line, "] ");
    buf_init(&shown, INIT_TEXT_BYTES * 6);
    terminal_push_shown(&shown, buf_text(&line), line.len);
    fputs(buf_text(&shown), stderr);
    fflush(stderr);
    buf_release(&shown);
    buf_release(&line);
}

static void init_ask_strip(char *line)
{
    size_t len = strlen(line);
    while (len > 0 && strchr(" \t\r\n", line[len - 1]) != NULL) {
        line[--len] = '\0';
    }
    memmove(line, line + strspn(line, " \t"), len - strspn(line, " \t") + 1);
}

bool init_ask(const char *question, char **answer,
              int (*check)(const char *answer, struct err *err))
{
    char *line = NULL;
    size_t size = 0;
    bool typed = true;
    for (bool good = false; !good && typed;) {
        struct err err;
        init_ask_push_prompt(question, *answer);
        typed = getline(&line, &size, stdin) > 0;
        if (typed) {
            init_ask_strip(line);
        }
        good = typed && (line[0] == '\0' || check(line, &err) == 0);
        if (typed && !good) {
            terminal_error(NULL, &err);
        }
    }
    if (typed && line[0] != '\0') {
        free(*answer);
        *answer = text_copy(line);
    }
    free(line);
    return typed;
}
