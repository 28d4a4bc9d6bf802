/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who may stay connected: at most so many, and where one more comes the one that is there longest
 * has to go. So nobody keeps others out by being slow, and nobody has to be timed.
 */
#ifndef ROWFERRY_SERVE_CONNECTION_LIMIT_H
#define ROWFERRY_SERVE_CONNECTION_LIMIT_H

#include <stdbool.h>
#include <stddef.h>

#define DOORKEEPER_MOST 48

struct doorkeeper {
    int guests[DOORKEEPER_MOST]; /* descriptors, the longest there first */
    size_t count;
};

/* Returns the descriptor that has to go, -1: none. */
int doorkeeper_enter(struct doorkeeper *d, int fd);
/* One that had to go may leave a second time. */
void doorkeeper_leave(struct doorkeeper *d, int fd);

#endif
