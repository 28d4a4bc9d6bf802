/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Wakeups of a pipeline that sleeps between two polls: the source's connection, a write of the
 * state file (a request may have been filed), and the supervisor of the pipeline. One descriptor
 * covers all of them, so that polling at short intervals is not needed.
 */
#ifndef ROWFERRY_ENGINE_WAKEUP_H
#define ROWFERRY_ENGINE_WAKEUP_H

#include <stdbool.h>

#include "rowferry/state/store.h"

struct bell {
    int fd; /* -1: unavailable, use polling */
    int state_fd;
    int source_fd; /* as given last; -1: none */
};

void bell_init(struct bell *b);
/* wake_fd: descriptor of the supervisor, 0: none. */
void bell_open(struct bell *b, const struct state *state, int wake_fd);
void bell_close(struct bell *b);

/* Returns the descriptor to wait for. source_fd: the source's notifications, -1: none. */
int bell_fd(struct bell *b, int source_fd);

/* Sets *source and *state if the source or the state file caused the wakeup. */
void bell_ask(struct bell *b, bool *source, bool *state);

#endif
