/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The lines of `rowferry check`, and planted faults that it must find.
 *
 * planted_try plants a fault in a separate world and expects its line. Then it follows the remedy
 * to the letter, and expects that the line disappears.
 */
#pragma once

#include <json-c/json.h>

#include "world.h"

struct lines {
    struct json_object *tree; /* the lines of all objects */
    int exit_code;
};

/* Runs rowferry check --json with --accept-admin, or another `option` (null: none). env as for
 * program_start. */
void lines_look(struct lines *l, const char *config, const char *option, const char *const *env);
void lines_release(struct lines *l);

/* Returns the remedy of the line `what` with this status ("FAIL") whose text contains the words, ""
 * if it has none, or null if the line does not exist. Borrowed. */
const char *lines_find(const struct lines *l, const char *what, const char *status,
                       const char *words);

/* The same, but the line must exist. */
const char *lines_expect(const struct lines *l, const char *what, const char *status,
                         const char *words);
void lines_expect_none(const struct lines *l, const char *what, const char *status,
                       const char *words);

/* How a remedy is followed. */
enum mend {
    MEND_SQL,      /* runs the statements in it, from `remedy` on */
    MEND_SQL_ONE,  /* runs one statement, up to a ';' */
    MEND_SHELL,    /* runs a shell command, up to a ';' */
    MEND_ROWFERRY, /* runs the rowferry command `remedy`, which it contains */
    MEND_SETTING,  /* `remedy` is its text about the configuration, which becomes `mended` */
    MEND_SERVICE,  /* `remedy` is its text about the service, which then answers `answers` */
};

/* Parts of the configuration; null: the default. Set either `from` or the others. */
struct setting {
    const char *from;       /* members of "from" */
    const char *properties; /* of the mapping */
    const char *limits;     /* members of "limits" */
    const char *to;         /* members of "to" */
    const char *members;    /* of the pipeline */
};

struct planted {
    const char *line, *status, *words;
    const char *before;    /* SQL, before the change log is installed; null: none */
    bool bare;             /* the change log is not installed */
    bool synced;           /* a sync has built the index */
    bool as_reader;        /* as a role that may only read: READER in SQL */
    const char *plant;     /* SQL; null: none */
    const char *command;   /* rowferry command that plants it; its exit code is ignored */
    const char *faults[4]; /* of the service */
    bool passing;          /* they end before the remedy is followed */
    struct setting setting;
    const char *remedy;
    enum mend mend;
    struct setting mended;
    const char *answers[4];
};

void planted_try(const struct planted *p);

/* Tries all faults of a table. */
void planted_try_all(const struct planted *table, size_t count);
