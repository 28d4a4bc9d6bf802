/* SPDX-License-Identifier: Apache-2.0 */
/* The limits of the delete guard, and its decision about the swap of an index. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* The guard stops the pipeline if both limits are exceeded. */
struct guard_limits {
    double share; /* of the live documents; 1: deletes are not limited */
    int64_t count;
};

/* What people lose if one index takes the place of another; negative: unknown. */
struct swap_loss {
    int64_t before; /* documents that they search */
    int64_t after;  /* documents of the one that is to be swapped in */
    bool refused;
};

/* True if an index with `after` documents may not take the place of one that people search with
 * `before`: it has none, or fewer by more than both limits; `allowed` are permitted beside. A
 * negative number is unknown. */
bool guard_refuses_swap(const struct guard_limits *limits, int64_t allowed, int64_t before,
                        int64_t after);
