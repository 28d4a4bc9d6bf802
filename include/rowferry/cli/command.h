/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The commands, their options and exit codes: three tables, from which parsing, help, manual and
 * completion are derived.
 *
 * A command is one file that defines its function, and one row in command.c.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rowferry/base/err.h"

enum option_id {
    OPTION_CONFIG,
    OPTION_NO_PROGRESS,
    OPTION_HELP,
    OPTION_VERSION,
    OPTION_JSON,
    OPTION_REFRESH,
    OPTION_ALLOW_DELETES,
    OPTION_ALLOW_REJECTIONS,
    OPTION_DEAD_LETTERS_OK,
    OPTION_PIPELINE,
    OPTION_AS,
    OPTION_READER,
    OPTION_NOTIFY,
    OPTION_NO_NOTIFY,
    OPTION_WHERE,
    OPTION_REASON,
    OPTION_OLDER,
    OPTION_NEWER,
    OPTION_LIMIT,
    OPTION_BY_REASON,
    OPTION_ALL,
    OPTION_ONLY,
    OPTION_YES,
    OPTION_SAMPLE,
    OPTION_REPAIR,
    OPTION_PRETTY,
    OPTION_FROM_HIT,
    OPTION_WATCH,
    OPTION_ROLLBACK,
    OPTION_ABORT,
    OPTION_ADOPT,
    OPTION_INDEX,
    OPTION_IMPLICIT,
    OPTION_CLEAN,
    OPTION_KIND,
    OPTION_HTML,
    OPTION_AGAINST,
    OPTION_METRICS_FILE,
    OPTION_QUIET,
    OPTION_WAIT,
    OPTION_ACCEPT_ADMIN,
    OPTION_SOURCE,
    OPTION_TABLE,
    OPTION_WITH,
    OPTION_SERVICE,
    OPTION_OUTPUT,
    OPTION_FORCE,
    OPTION_COUNT,
};

_Static_assert(OPTION_COUNT <= 64, "an option has a bit of its own in command.options");

#define OPTION_BIT(id) (UINT64_C(1) << (id))
#define OPTIONS_GLOBAL                                                                             \
    (OPTION_BIT(OPTION_CONFIG) | OPTION_BIT(OPTION_NO_PROGRESS) | OPTION_BIT(OPTION_HELP) |        \
     OPTION_BIT(OPTION_VERSION))

struct option_row {
    const char *name;     /* including the dashes */
    char letter;          /* 0 if none */
    const char *argument; /* "..." at the end: takes several values, including the words up to the
                           * next option */
    const char *help;
};

extern const struct option_row option_rows[OPTION_COUNT];

struct exit_row {
    enum exit_code code;
    const char *help;
};

/* Ends with a null help. */
extern const struct exit_row exit_rows[];

struct arguments;

struct command {
    const char *name;     /* "sync"; "source install" in the group "source" */
    const char *operands; /* "[PIPELINE...]", "ID..."; "" if none */
    const char *summary;  /* one line */
    const char *about;    /* sentences for help and manual; the output breaks the lines, and an
                           * empty line begins a paragraph */
    uint64_t options;     /* bits, in addition to the global options */
    unsigned exits;       /* bits of the possible exit codes */
    size_t operands_least;
    size_t operands_most; /* 0: any number, or none if operands is "" */
    bool unconfigured;    /* reads no configuration, so its help does not mention any */
    /* Returns the exit code, or a negative error class with err for the caller to print. */
    int (*run)(const struct arguments *a, struct err *err);
};

/* Ends with a null name. */
extern const struct command commands[];

int command_init(const struct arguments *a, struct err *err) MUST_CHECK;
int command_check(const struct arguments *a, struct err *err) MUST_CHECK;
int command_sync(const struct arguments *a, struct err *err) MUST_CHECK;
int command_pause(const struct arguments *a, struct err *err) MUST_CHECK;
int command_resume(const struct arguments *a, struct err *err) MUST_CHECK;
int command_run(const struct arguments *a, struct err *err) MUST_CHECK;
int command_reindex(const struct arguments *a, struct err *err) MUST_CHECK;
int command_resync(const struct arguments *a, struct err *err) MUST_CHECK;
int command_verify(const struct arguments *a, struct err *err) MUST_CHECK;
int command_status(const struct arguments *a, struct err *err) MUST_CHECK;
int command_document(const struct arguments *a, struct err *err) MUST_CHECK;
int command_smoke(const struct arguments *a, struct err *err) MUST_CHECK;
int command_validate(const struct arguments *a, struct err *err) MUST_CHECK;
int command_source_install(const struct arguments *a, struct err *err) MUST_CHECK;
int command_source_upgrade(const struct arguments *a, struct err *err) MUST_CHECK;
int command_source_uninstall(const struct arguments *a, struct err *err) MUST_CHECK;
int command_source_print(const struct arguments *a, struct err *err) MUST_CHECK;
int command_deadletter_list(const struct arguments *a, struct err *err) MUST_CHECK;
int command_deadletter_show(const struct arguments *a, struct err *err) MUST_CHECK;
int command_deadletter_retry(const struct arguments *a, struct err *err) MUST_CHECK;
int command_deadletter_discard(const struct arguments *a, struct err *err) MUST_CHECK;
int command_help(const struct arguments *a, struct err *err) MUST_CHECK;
int command_version(const struct arguments *a, struct err *err) MUST_CHECK;
int command_completion(const struct arguments *a, struct err *err) MUST_CHECK;
