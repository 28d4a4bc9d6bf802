/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The configuration of a long-running process: the initial one, overlaid with the latest values of
 * the settings that may change at run time (secrets, limits, guard, log). The definition of a
 * pipeline (mapping, settings, fields, condition, query) changes only with a rebuild of it.
 *
 * Any thread may reload, one at a time; threads take a reading and drop it. A reading is freed when
 * its last user drops it.
 */
#pragma once

#include <pthread.h>

#include "rowferry/config/config.h"

struct reading {
    struct config config;  /* effective configuration; borrows from `first` and `loaded` */
    struct config *loaded; /* owned; null for the initial one, which is the caller's */
    size_t users;
    unsigned number; /* counts the readings of this process, from 1 */
};

struct settings_reload {
    const struct config *first; /* borrowed; secrets are resolved */
    struct reading *now;
    bool *redefined; /* by pipeline: its definition is that of the last reading */
    pthread_mutex_t lock;
    pthread_mutex_t reloading; /* held by the thread that reloads */
};

void settings_reload_init(struct settings_reload *s, const struct config *first);
void settings_reload_release(struct settings_reload *s); /* call after all readings are dropped */

/* Takes the current reading for a pipeline's thread. */
struct reading *settings_reload_take(struct settings_reload *s);
void settings_reload_drop(struct settings_reload *s, struct reading *r);

/* Reloads the file. Logs the options that need a restart. An error leaves everything unchanged. */
int settings_reload_read_again(struct settings_reload *s, struct err *err) MUST_CHECK;

/* Reloads the file like settings_reload_read_again, and takes the definition of the pipeline from
 * it too, if `fits` accepts it. *taken is false if it does not, or if table, key, capture or alias
 * are others, which need a restart; then nothing is changed. */
typedef bool (*settings_reload_fits)(void *context, const struct pipeline_config *pipeline);
int settings_reload_redefine(struct settings_reload *s, const char *pipeline,
                             settings_reload_fits fits, void *context, bool *taken,
                             struct err *err) MUST_CHECK;
