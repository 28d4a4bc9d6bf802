/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Help texts, generated from the tables of command.h. Pure.
 */
#pragma once

#include "arguments.h"
#include "rowferry/base/buf.h"

/* Appends the help of the command, of the group, or of the whole program. */
void help_push(struct buf *out, const struct arguments *a);
