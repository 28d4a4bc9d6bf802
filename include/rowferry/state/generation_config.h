/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The configuration from which a generation was built, without secrets. This module does not
 * interpret the text.
 */
#pragma once

#include "rowferry/state/pipeline_row.h"

struct generation_config {
    char *generation; /* the index */
    char *configuration;
};

/* Stores the configuration of the generation, replacing an earlier one. Writes nothing if it is
 * unchanged. */
int generation_config_write(struct state *s, const char *generation, const char *configuration,
                            struct err *err) MUST_CHECK;

/* Reads it. *configuration is null if it is unknown for that generation; the caller frees it. */
int generation_config_read(struct state *s, const char *generation, char **configuration,
                           struct err *err) MUST_CHECK;
