/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The ways to find changes, and what each can do. One table answers that for all rooms. Another
 * mode is an entry here, a folder that implements capture.h, a way to open it in
 * engine/ports/table_source.c, one to find unsettled keys in source/listing/listing.c, and its
 * probes in cli/commands/check.c.
 */
#pragma once

#include <stdbool.h>

enum capture_mode { CAPTURE_MODE_CHANGELOG, CAPTURE_MODE_CURSOR, CAPTURE_MODES };

#define CAPTURE_MODE_CHOICES "changelog|cursor" /* the names in the same order */

struct capture_traits {
    const char *name;     /* from.capture.mode */
    bool installs;        /* objects in the source */
    bool keeps;           /* the source keeps entries and a checkpoint backup for each consumer */
    bool needs_primary;   /* a standby is read together with its primary */
    bool may_query;       /* from.query */
    bool follows_column;  /* from.capture.column and from.capture.overlap */
    const char *held;     /* the effect of an old transaction */
    const char *unqueued; /* why waiting changes cannot be counted; null if they can */
};

const struct capture_traits *capture_traits(int mode);

/* Returns the mode of this name, or -1. */
int capture_mode_find(const char *name);
