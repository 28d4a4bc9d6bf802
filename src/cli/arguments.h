/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Parses argv into a command, its options and its operands by the tables of command.h. Pure.
 *
 * Options may be anywhere; "--" ends them. "--name=value" and "--name value" are the same. An
 * option that takes several values may be repeated. After the command it also takes all words up to
 * the next option.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "rowferry/cli/command.h"

/* The texts are borrowed from argv. */
struct arguments {
    const struct command *command;    /* null if only help or the version was requested */
    const char *group;                /* group whose help was requested, as "source"; else null */
    const char *values[OPTION_COUNT]; /* null if not given; a flag that was given has a text */
    const char **operands;            /* the words after the command */
    size_t operand_count;
    const char **words;   /* command and operands; owned */
    const char **several; /* values of the option that takes several; owned */
    size_t several_count;
};

/* Returns ERR_CONFIG with a one-line message if argv is not valid. */
int arguments_parse(struct arguments *out, int argc, const char *const *argv,
                    struct err *err) MUST_CHECK;
void arguments_release(struct arguments *a);

static inline bool arguments_have(const struct arguments *a, enum option_id id)
{
    return a->values[id] != NULL;
}
