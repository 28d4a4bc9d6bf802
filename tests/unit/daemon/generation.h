/* SPDX-License-Identifier: Apache-2.0 */
/* Generations and rebuilds in a state file, as the engine would have recorded them. */
#pragma once

#include "rowferry/state/checkpoint.h"
#include "rowferry/state/rebuild.h"
#include "workplace.h"

/* Begins the initial load of a generation. */
static inline void generation_begin(struct state *s, const char *name, int number)
{
    struct err err;
    char text[64];
    snprintf(text, sizeof(text), "%s", name);
    OK(checkpoint_begin_generation(s,
                                   &(struct checkpoint){.generation = text,
                                                        .generation_number = number,
                                                        .mapping_fingerprint = text,
                                                        .table_fingerprint = text,
                                                        .source_identity = text},
                                   &err));
    OK(checkpoint_set_uuid(s, "0123456789abcdef", &err));
}

static inline void generation_make_live(struct state *s, const char *name)
{
    struct err err;
    generation_begin(s, name, 1);
    OK(checkpoint_go_live(s, 1, &err));
}

static inline void generation_rebuild(struct state *s)
{
    struct err err;
    const struct rebuild rebuild = {.kind = REBUILD_NEW, .begun_us = 1};
    OK(rebuild_begin(s, &rebuild, NULL, &err));
}
