/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The configurations from which the live generation and the former one were built, without secrets.
 * This module does not interpret the text.
 */
#pragma once

#include "rowferry/state/pipeline_row.h"

struct generation_config {
    char *generation; /* the index */
    char *configuration;
};

struct former_config {
    char *configuration;
    bool returned; /* the live generation is one to which the pipeline has returned */
};

/* Stores the configuration of the generation, replacing an earlier one. Writes nothing if it is
 * unchanged. */
int generation_config_write(struct state *s, const char *generation, const char *configuration,
                            struct err *err) MUST_CHECK;

/* Reads it. *configuration is null if it is unknown for that generation; the caller frees it. */
int generation_config_read(struct state *s, const char *generation, char **configuration,
                           struct err *err) MUST_CHECK;

/* Keeps the live generation's configuration as that of the former one, because the next generation
 * is about to replace it. Removes that of the former one if the live one's is unknown. */
int generation_config_leave(struct state *s, bool returned, struct err *err) MUST_CHECK;

/* Reads that of the former generation. out->configuration is null if it is unknown; the caller
 * frees it. */
int generation_config_read_former(struct state *s, struct former_config *out,
                                  struct err *err) MUST_CHECK;
