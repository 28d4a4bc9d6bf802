/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Prints the outcome of a rebuild, for people and for programs. Pure.
 */
#ifndef ROWFERRY_CLI_REBUILD_REPORT_H
#define ROWFERRY_CLI_REBUILD_REPORT_H

#include "rowferry/daemon/rebuild_outcome.h"

/* How the command ended that tells it. */
struct rebuilt_end {
    const char *pipeline;
    bool stopped;
    bool asked; /* another process carries it out, and goes on */
    bool abort; /* that was the command, */
    bool back;  /* or --rollback */
    int64_t took_ms;
    enum exit_code exit_code;
    const struct err *err; /* null: none */
};

/* The lines for people. */
void rebuilt_push_text(struct buf *out, const struct rebuilt *r, const struct rebuilt_end *end);
/* One JSON object and a newline. */
void rebuilt_push_json(struct buf *out, const struct rebuilt *r, const struct rebuilt_end *end);

#endif
