/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The lines of `rowferry check`, and faults that are planted for it to find.
 *
 * planted_try plants one in a world of its own, finds its line, does to the letter what the remedy
 * says, and finds the line no more.
 */
#ifndef ROWFERRY_TESTS_LINES_H
#define ROWFERRY_TESTS_LINES_H

#include <json-c/json.h>

#include "world.h"

struct lines {
    struct json_object *tree;
    int exit_code;
};

/* rowferry check --json with --accept-admin, unless option is another (null: none). env as of
 * program_start. */
void lines_look(struct lines *l, const char *config, const char *option, const char *const *env);
void lines_release(struct lines *l);

/* The remedy of the line `what` with this status ("FAIL") whose text holds the words, "" where it
 * has none; null where there is no such line. Borrowed. */
const char *lines_find(const struct lines *l, const char *what, const char *status,
                       const char *words);

/* The same, which has to be there. */
const char *lines_expect(const struct lines *l, const char *what, const char *status,
                         const char *words);
void lines_expect_none(const struct lines *l, const char *what, const char *status,
                       const char *words);

/* How a remedy is followed. */
enum mend {
    MEND_SQL,      /* what follows in it, from `remedy` on, are statements */
    MEND_SQL_ONE,  /* .. is one, up to a ';' */
    MEND_SHELL,    /* .. is a command of the shell, up to a ';' */
    MEND_ROWFERRY, /* `remedy` is a command of rowferry that stands in it */
    MEND_SETTING,  /* `remedy` is what it says of the configuration, which then is `mended` */
    MEND_SERVICE,  /* `remedy` is what it says of the service, which then answers `answers` */
};

/* Of the configuration; null: as ever. Either from, or the others. */
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
    bool bare;             /* no change log is installed */
    bool synced;           /* a sync has built the index */
    bool as_reader;        /* by a role that may only read: READER in SQL */
    const char *plant;     /* SQL; null: none */
    const char *command;   /* of rowferry, which plants it; its exit code does not matter */
    const char *faults[4]; /* of the service */
    bool passing;          /* they are over before the remedy is followed */
    struct setting setting;
    const char *remedy;
    enum mend mend;
    struct setting mended;
    const char *answers[4];
};

void planted_try(const struct planted *p);

/* All of a table, with its size. */
void planted_try_all(const struct planted *table, size_t count);

#endif
