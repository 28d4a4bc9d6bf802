/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What wakes a pipeline that rests between two polls: the source's connection, a write of the state
 * file (a request may have been filed), and whoever watches over it. One descriptor for all, so
 * that nothing has to be looked at again and again.
 */
#ifndef ROWFERRY_ENGINE_WAKEUP_H
#define ROWFERRY_ENGINE_WAKEUP_H

#include <stdbool.h>

#include "rowferry/state/store.h"

struct bell {
    int fd; /* -1: there is none, and looking again and again has to do */
    int state_fd;
    int source_fd; /* as was given last; -1: none */
};

void bell_init(struct bell *b);
/* wake_fd: of whoever watches over it, 0: nobody. */
void bell_open(struct bell *b, const struct state *state, int wake_fd);
void bell_close(struct bell *b);

/* The descriptor to wait for; source_fd: what the source calls on, -1: it is not listened to. */
int bell_fd(struct bell *b, int source_fd);

/* Who has rung. */
void bell_ask(struct bell *b, bool *source, bool *state);

#endif
