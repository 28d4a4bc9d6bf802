/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A synced world of a few rows whose state file is damaged repeatedly. The invariant: a sync either
 * succeeds with an equal index, or refuses with a remedy.
 *
 * An open transaction keeps the change log from being pruned, so that the intact copy of the state
 * file stays valid.
 */
#pragma once

#include "crash.h"

struct damage {
    struct world world;
    PGconn *pin;
    char *path;  /* of the state file */
    char *sound; /* its bytes after the first sync */
    size_t size;
    int64_t cases;
    int64_t refused;
};

void damage_start(struct damage *d);
void damage_stop(struct damage *d);

/* Writes bytes as the state file, without a journal. */
void damage_write(const struct damage *d, const char *bytes, size_t size);

/* Checks a run with a damaged file; what: names the case. Afterwards the file is intact again. */
void damage_judge(struct damage *d, const char *what, const struct program_result *result);

/* Makes a change that the next sync must bring; damage_case also runs and checks that sync. */
void damage_change(struct damage *d);
void damage_case(struct damage *d, const char *what);

/* Reads a file. The caller frees the bytes. */
char *damage_read(const char *path, size_t *size);
