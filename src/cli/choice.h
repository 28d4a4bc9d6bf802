/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Selects the dead letters of a command: --reason, --older, --newer and --limit.
 */
#pragma once

#include "arguments.h"
#include "rowferry/state/deadletter.h"

/* Returns ERR_CONFIG if a value is not valid. Texts are borrowed from the arguments. */
int choice_of(const struct arguments *a, int64_t wall_us, struct dead_letter_filter *out,
              struct err *err) MUST_CHECK;

/* Returns true if any of these options was given. */
bool choice_given(const struct arguments *a);
