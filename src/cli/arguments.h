/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a person asked for: argv by the tables of command.h. Pure.
 *
 * Options may stand anywhere, "--" ends them; "--name=value" and "--name value" are the same. An
 * option that takes several values takes them one by one, and behind the command also the words up
 * to the next option.
 */
#ifndef ROWFERRY_CLI_ARGUMENTS_H
#define ROWFERRY_CLI_ARGUMENTS_H

#include <stdbool.h>
#include <stddef.h>

#include "command.h"

/* Texts are borrowed from argv. */
struct arguments {
    const struct command *command;    /* null: only help or version were asked for */
    const char *group;                /* help of a whole group: "source"; else null */
    const char *values[OPTION_COUNT]; /* null: not given; a flag's is not null */
    const char **operands;            /* what stands after the command */
    size_t operand_count;
    const char **words;   /* owned: command and operands */
    const char **several; /* owned: of the option that takes several values */
    size_t several_count;
};

/* ERR_CONFIG where argv cannot be understood; the message is one line that helps. */
int arguments_parse(struct arguments *out, int argc, const char *const *argv,
                    struct err *err) MUST_CHECK;
void arguments_release(struct arguments *a);

static inline bool arguments_have(const struct arguments *a, enum option_id id)
{
    return a->values[id] != NULL;
}

#endif
