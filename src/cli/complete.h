/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What may stand where somebody presses Tab, by the tables of command.h. Pure.
 *
 * The shells' scripts (shell/) know nothing of commands: they ask the program, `rowferry completion
 * words -- WORD...`, and show what it answers.
 */
#ifndef ROWFERRY_CLI_COMPLETE_H
#define ROWFERRY_CLI_COMPLETE_H

#include <stddef.h>

#include "rowferry/base/buf.h"

/* A line in place of all others: names of files, which the shell knows best. */
#define COMPLETE_FILES ":files"

/* Appends candidates with complete_candidate; config: as -c gives it, null: not given. */
typedef void (*complete_pipelines)(struct buf *out, const char *config, const char *prefix);

/* "NAME" or "NAME<tab>HELP" on a line where it begins with the prefix; help may be null. */
void complete_candidate(struct buf *out, const char *prefix, const char *name, const char *help);

/*
 * words: what stands behind "rowferry", the last one is the beginning of what is looked for, and
 * may be empty. "=" may be a word of its own, as bash has it.
 */
void complete_push(struct buf *out, const char *const *words, size_t count,
                   complete_pipelines pipelines);

#endif
