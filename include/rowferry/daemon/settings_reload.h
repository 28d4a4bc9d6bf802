/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The configuration of a process that runs for long: as it began, and with what may change
 * meanwhile (secrets, limits, guard, log) as it was read last.
 *
 * One thread reads again, the others take a reading and let it go; each is freed when nobody has
 * it.
 */
#ifndef ROWFERRY_DAEMON_SETTINGS_RELOAD_H
#define ROWFERRY_DAEMON_SETTINGS_RELOAD_H

#include <pthread.h>

#include "rowferry/config/config.h"

struct reading {
    struct config config;  /* what is in force; borrows from both below */
    struct config *loaded; /* owned; null: the first one's is the caller's */
    size_t users;
};

struct settings {
    const struct config *first; /* borrowed: secrets resolved */
    struct reading *now;
    pthread_mutex_t lock;
};

void settings_init(struct settings *s, const struct config *first);
void settings_release(struct settings *s); /* when all readings are let go */

/* For a pipeline's thread. */
struct reading *settings_take(struct settings *s);
void settings_drop(struct settings *s, struct reading *r);

/* Reads the file again; what needs a restart is logged by name. An error leaves all as it was. */
int settings_read_again(struct settings *s, struct err *err) MUST_CHECK;

#endif
