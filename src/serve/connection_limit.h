/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Limits the number of connections. If one more comes, the oldest is closed, so a slow client
 * cannot keep others out and no request needs a deadline.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#define CONNECTION_LIMIT_MAX 48

struct connection_limit {
    int guests[CONNECTION_LIMIT_MAX]; /* descriptors, the oldest first */
    size_t count;
};

/* Returns the descriptor to close, or -1. */
int connection_limit_enter(struct connection_limit *d, int fd);
/* A connection that was closed for another may leave a second time. */
void connection_limit_leave(struct connection_limit *d, int fd);
