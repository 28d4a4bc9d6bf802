/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A synced world of a few rows whose state file is spoilt again and again, and the one law: a sync
 * either ends well and the index is equal, or it refuses and says what to do.
 *
 * An open transaction keeps the change log from being pruned, so that the sound copy of the state
 * file stays good.
 */
#ifndef ROWFERRY_TESTS_DAMAGE_H
#define ROWFERRY_TESTS_DAMAGE_H

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

/* Writes bytes as the state file, without a journal beside it. */
void damage_write(const struct damage *d, const char *bytes, size_t size);

/* Judges one run over a spoilt file: what says which one. The file is sound again afterwards. */
void damage_judge(struct damage *d, const char *what, const struct program_result *result);

/* A change that the next sync has to bring, and that sync, judged. */
void damage_change(struct damage *d);
void damage_case(struct damage *d, const char *what);

/* A file's bytes; the caller frees them. */
char *damage_read(const char *path, size_t *size);

#endif
