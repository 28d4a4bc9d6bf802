/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The configuration of a command: the file, its log settings, and the selected pipelines.
 */
#pragma once

#include "arguments.h"
#include "rowferry/config/config.h"

struct setup {
    struct config *config;
    const struct pipeline_config *
        *pipelines; /* the named ones in the file's order; all if none is named */
    size_t count;
};

/* Loads the file of -c, sets up the log, and selects the pipelines that the operands name. Does not
 * read secrets. */
int setup_load(struct setup *out, const struct arguments *a, struct err *err) MUST_CHECK;
/* Does the same for a command on one pipeline: that of --pipeline, or the only one. */
int setup_load_one(struct setup *out, const struct arguments *a, struct err *err) MUST_CHECK;
/* Reads the secrets, for commands that connect, and logs the warnings so far. */
int setup_secrets(struct setup *s, struct err *err) MUST_CHECK;
void setup_release(struct setup *s);
