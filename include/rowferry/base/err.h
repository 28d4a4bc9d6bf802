/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Errors: what went wrong, what kind of thing it is, and the evidence.
 *
 * A function that can fail returns 0 (or a non-negative result) or a negative enum err_class, and
 * fills the caller's struct err once, at the origin. Callers may only prepend context. The class
 * decides what happens next (retry, dead letter, exit code); nobody decides on the text.
 *
 * Messages follow PostgreSQL's style: lower case, no full stop, quoted names; "could not" where a
 * later try may succeed, "cannot" where it never will. `detail` holds what may quote a document or
 * a body: it is shown to a person on stderr and never logged. Secrets are in neither.
 */
#ifndef ROWFERRY_BASE_ERR_H
#define ROWFERRY_BASE_ERR_H

#include <stdbool.h>
#include <stddef.h>

/* Every fallible result must be looked at. */
#define MUST_CHECK __attribute__((warn_unused_result))

enum err_class {
    ERR_NONE = 0,
    ERR_TRANSIENT = -1, /* may work later: server away, time-out, lock, disk full */
    ERR_REJECTED =
        -2,          /* a server says no for good: credential, privilege, mapping, missing table */
    ERR_CONFIG = -3, /* what file and argv alone show to be wrong */
    ERR_STATE = -4,  /* state file damaged, foreign, newer; drift; the guard */
    ERR_HELD = -5,   /* another process holds the pipeline */
    ERR_INTERNAL = -6, /* a bug of ours */
};

/* The exit codes of design section 3. */
enum exit_code {
    EXIT_DONE = 0,
    EXIT_FAILED = 1,
    EXIT_USAGE = 2,
    EXIT_DEAD_LETTERS = 3,
    EXIT_DIFFERENCES = 4,
    EXIT_HELD = 5,
    EXIT_TEMPORARY = 6,
};

struct err {
    enum err_class class;
    char message[512]; /* one line, cut with "..." where longer */
    char detail[1152]; /* optional: the first KiB of a body, escaped */
    char hint[256];    /* optional: what to do */
    char sqlstate[6];  /* optional: PostgreSQL's code */
    int http_status;   /* optional: 0 = none */
    int sqlite_code;   /* optional: SQLite's extended code, 0 = none */
    bool drift;        /* the index is of another definition: a rebuild is the answer */
};

/* Sets class and message (printf) and clears the rest; returns the class. A null e is allowed. */
int err_set(struct err *e, enum err_class class, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Adds the hint (what to do); returns e->class. */
int err_hint(struct err *e, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Says that the index is of another definition than the table or the configuration has now; returns
 * e->class. */
int err_drift(struct err *e);

/* Adds the detail from bytes of any content, escaped as text_escape does; at most a KiB kept. */
void err_detail(struct err *e, const char *bytes, size_t len);

/* Puts "context: " before the message; returns e->class. */
int err_context(struct err *e, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* "transient", "rejected" ...; a static string. */
const char *err_class_name(enum err_class class);

/* The one table from class to exit code. */
enum exit_code err_exit_code(enum err_class class);

/* Of two exit codes of two pipelines, the one that counts: the first of 2, 1, 5, 6, 4, 3, 0. */
enum exit_code exit_code_worse(enum exit_code a, enum exit_code b);

#endif
