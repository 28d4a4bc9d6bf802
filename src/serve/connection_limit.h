/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Limits the number of connections. If one more comes, the oldest is closed, so a slow client
 * cannot keep others out and no request needs a deadline.
 */
#ifndef ROWFERRY_SERVE_CONNECTION_LIMIT_H
#define ROWFERRY_SERVE_CONNECTION_LIMIT_H

#include <stdbool.h>
#include <stddef.h>

#define DOORKEEPER_MOST 48

struct doorkeeper {
    int guests[DOORKEEPER_MOST]; /* descriptors, the oldest first */
    size_t count;
};

/* Returns the descriptor to close, or -1. */
int doorkeeper_enter(struct doorkeeper *d, int fd);
/* A connection that was closed for another may leave a second time. */
void doorkeeper_leave(struct doorkeeper *d, int fd);

#endif
