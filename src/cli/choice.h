/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which dead letters a command is about: --reason, --older, --newer and --limit.
 */
#ifndef ROWFERRY_CLI_CHOICE_H
#define ROWFERRY_CLI_CHOICE_H

#include "arguments.h"
#include "rowferry/state/deadletter.h"

/* ERR_CONFIG where a value cannot be understood. Texts are borrowed from the arguments. */
int choice_of(const struct arguments *a, int64_t wall_us, struct dead_letter_filter *out,
              struct err *err) MUST_CHECK;

/* Whether any of the options that choose was given. */
bool choice_given(const struct arguments *a);

#endif
