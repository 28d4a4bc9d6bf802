/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes the sink behave like a node: `writers` workers, a queue in front of them, a time per
 * request and per byte. A request that finds the queue full is refused with 429. A storm refuses
 * everything.
 *
 * Thread-safe. Without writers nothing waits and nothing is refused.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

struct node {
    long writers; /* 0 = no node */
    long queue;
    long fixed_us;
    long bytes_per_second; /* of one writer */
    atomic_bool storm;
    atomic_long here; /* requests in work or in the queue */
    atomic_long most;
    atomic_llong refused;
    atomic_llong taken;
};

/* Accepts a request and works on it, which blocks for its duration. Returns false if it was
 * refused. */
bool node_take(struct node *n, size_t bytes);
