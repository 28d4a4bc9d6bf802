/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The configuration of a command: the file, its log settings, the pipelines that were named.
 */
#ifndef ROWFERRY_CLI_SETUP_H
#define ROWFERRY_CLI_SETUP_H

#include "arguments.h"
#include "rowferry/config/config.h"

struct setup {
    struct config *config;
    const struct pipeline_config *
        *pipelines; /* those named, in the file's order; none named: all */
    size_t count;
};

/* Loads the file that -c names, sets the log up, and picks the pipelines that names hold. Reads no
 * secrets. */
int setup_load(struct setup *out, const struct arguments *a, const char *const *names, size_t count,
               struct err *err) MUST_CHECK;
/* The same for a command that is about one pipeline: that of --pipeline, or the only one. */
int setup_load_one(struct setup *out, const struct arguments *a, struct err *err) MUST_CHECK;
/* Reads the secrets, for commands that connect, and logs what was doubtful so far. */
int setup_secrets(struct setup *s, struct err *err) MUST_CHECK;
void setup_release(struct setup *s);

#endif
