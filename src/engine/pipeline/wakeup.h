/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Wakeups of a pipeline that sleeps between two polls: the source's connection, a write of the
 * state file (a request may have been filed), and the supervisor of the pipeline. One descriptor
 * covers all of them, so that polling at short intervals is not needed.
 */
#pragma once

#include <stdbool.h>

#include "rowferry/state/store.h"

struct wakeup {
    int fd; /* -1: unavailable, use polling */
    int state_fd;
    int source_fd; /* as given last; -1: none */
};

void wakeup_init(struct wakeup *b);
/* wake_fd: descriptor of the supervisor, 0: none. */
void wakeup_open(struct wakeup *b, const struct state *state, int wake_fd);
void wakeup_close(struct wakeup *b);

/* Returns the descriptor to wait for. source_fd: the source's notifications, -1: none. */
int wakeup_fd(struct wakeup *b, int source_fd);

/* Sets *source and *state if the source or the state file caused the wakeup. */
void wakeup_ask(struct wakeup *b, bool *source, bool *state);
