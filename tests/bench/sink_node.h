/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A sink that works like a node: so many writers, a queue in front of them, a time for each request
 * and for each byte; what finds the queue full is refused with 429. A storm refuses everything.
 *
 * Thread-safe. Without writers there is no node: nothing waits and nothing is refused.
 */
#ifndef ROWFERRY_BENCH_SINK_NODE_H
#define ROWFERRY_BENCH_SINK_NODE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

struct node {
    long writers; /* 0 = no node */
    long queue;
    long fixed_us;
    long bytes_per_second; /* of one writer */
    atomic_bool storm;
    atomic_long here; /* requests: at work or in the queue */
    atomic_long most;
    atomic_llong refused;
    atomic_llong taken;
};

/* Takes a request in and works on it; false: refused. Blocks for as long as that takes. */
bool node_take(struct node *n, size_t bytes);

#endif
