/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Prints the outcome of a rebuild, as text and as JSON. Pure.
 */
#pragma once

#include "rowferry/daemon/rebuild_outcome.h"

/* How the reporting command ended. */
struct rebuild_report_end {
    const char *pipeline;
    bool stopped;
    bool asked;        /* another process does the rebuild, and continues */
    bool abort;        /* the command was --abort */
    bool back;         /* the command was --rollback */
    bool file_differs; /* see session_look_returned */
    int64_t took_ms;
    enum exit_code exit_code;
    const struct err *err; /* null if none */
};

/* Appends one JSON object and a newline, or the lines for people. */
void rebuild_report_push(struct buf *out, bool json, const struct rebuild_outcome *r,
                         const struct rebuild_report_end *end);
