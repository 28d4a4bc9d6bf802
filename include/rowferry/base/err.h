/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Errors: a class, a message, and the evidence.
 *
 * A function that can fail returns 0 (or a non-negative result) or a negative enum err_class. It
 * fills the caller's struct err once, where the error occurs; callers may only prepend context. The
 * class decides what happens next (retry, dead letter, exit code). No code examines the text.
 *
 * Messages follow PostgreSQL's style: lower case, no full stop, quoted names. "could not" means
 * that a later try may succeed, "cannot" that it never will. A message about the whole pipeline
 * says "it": the caller that prints or logs an error names the pipeline, once. `detail` may quote a
 * document or a response body, so no log event has it: it is shown on a line "detail: ..." of a
 * command. Message and detail never contain secrets.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* The caller must use the result. */
#define MUST_CHECK __attribute__((warn_unused_result))

enum err_class {
    ERR_NONE = 0,
    ERR_TRANSIENT = -1, /* may succeed later: server unreachable, time-out, lock, disk full */
    ERR_REJECTED =
        -2, /* refused permanently by a server: credential, privilege, mapping, missing table */
    ERR_CONFIG = -3,   /* invalid configuration file or arguments */
    ERR_STATE = -4,    /* state file damaged, foreign or too new; drift; stopped by the guard */
    ERR_HELD = -5,     /* another process holds the pipeline */
    ERR_INTERNAL = -6, /* a bug in rowferry */
};

/* The exit codes, as docs/sync.md lists them. */
enum exit_code {
    EXIT_DONE = 0,
    EXIT_FAILED = 1,
    EXIT_USAGE = 2,
    EXIT_DEAD_LETTERS = 3,
    EXIT_DIFFERENCES = 4,
    EXIT_HELD = 5,
    EXIT_TEMPORARY = 6,
};

/* What the reason of a refusal by the search service means, if its error type does not say it. */
enum service_reason {
    SERVICE_REASON_OTHER,
    SERVICE_REASON_NO_SECURITY, /* the endpoint is missing or disabled: there are no accounts */
    SERVICE_REASON_NAME_TAKEN,  /* an alias has the name of the new index */
    SERVICE_REASON_NO_TEMPLATE, /* no index template makes data streams of this name */
    SERVICE_REASON_VECTOR,      /* about a vector field or its dimensions */
};

struct err {
    enum err_class class;
    char message[512];     /* one line; ends with "..." if it was cut */
    char detail[1152];     /* optional: the first KiB of a body, escaped */
    char hint[256];        /* optional: what to do */
    char sqlstate[6];      /* optional: PostgreSQL's SQLSTATE */
    char service_type[64]; /* optional: the search service's error type: letters, digits, '_' */
    enum service_reason service_reason;
    size_t place;    /* optional: how many bytes of the message name the request, at its start */
    int http_status; /* optional: HTTP status, 0 = none */
    int sqlite_code; /* optional: SQLite's extended code, 0 = none */
    bool guess;      /* the hint is a name that may be meant */
    bool drift;      /* the index has a different definition; a rebuild resolves this */
};

/* Sets class and message (printf) and clears everything else. Returns the class. e may be null. */
int err_set(struct err *e, enum err_class class, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The place of the pipeline's name in a hint of a room that does not know it. */
#define ERR_PIPELINE "PIPELINE"

/* Adds the hint (what to do). Returns e->class. */
int err_hint(struct err *e, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Replaces ERR_PIPELINE in the hint. For the caller that prints the hint. */
void err_name_pipeline(struct err *e, const char *pipeline);

/* Replaces a guess at a name: the object had its name before, so that was right. */
void err_drop_guess(struct err *e);

/* Marks the error as drift: the index was built from another definition than the table or the
 * configuration has now. Returns e->class. */
int err_drift(struct err *e);

/* Adds the detail from arbitrary bytes, escaped by text_escape; keeps at most 1 KiB. */
void err_detail(struct err *e, const char *bytes, size_t len);

/* Prepends "context: " to the message. Returns e->class. */
int err_context(struct err *e, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Returns "transient", "rejected" ...; a static string. */
const char *err_class_name(enum err_class class);

/* Maps a class to its exit code. */
enum exit_code err_exit_code(enum err_class class);

/* Returns the more severe of two pipelines' exit codes, in the order 2, 1, 5, 6, 4, 3, 0. */
enum exit_code err_exit_code_worse(enum exit_code a, enum exit_code b);
