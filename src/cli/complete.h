/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Candidates for shell completion, by the tables of command.h. Pure.
 *
 * The shells' scripts (shell/) do not know the commands. They run `rowferry completion words --
 * WORD...` and show its output.
 */
#pragma once

#include <stddef.h>

#include "rowferry/base/buf.h"

/* A line in place of all others: the shell completes file names itself. */
#define COMPLETE_FILES ":files"

/* Appends the pipelines with complete_candidate. `config` is the value of -c, or null. */
typedef void (*complete_pipelines)(struct buf *out, const char *config, const char *prefix);

/* Appends a line "NAME" or "NAME<tab>HELP" if the name begins with the prefix. `help` may be
 * null. */
void complete_candidate(struct buf *out, const char *prefix, const char *name, const char *help);

/*
 * Appends the candidates. `words` are the words after "rowferry"; the last one is the prefix to
 * complete and may be empty. "=" may be a word of its own, as in bash.
 */
void complete_push(struct buf *out, const char *const *words, size_t count,
                   complete_pipelines pipelines);
