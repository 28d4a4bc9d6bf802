/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The xmin holder of the source: the open transaction with the oldest snapshot.
 *
 * While it is open, the change log keeps all entries since its start (or their dead rows, if it
 * only reads). A cursor's horizon cannot pass its start. Its own changes are not in the index yet.
 * The xmin holder can be a session in any state, a prepared transaction, a replication slot, or a
 * standby that reports the needs of its own readers.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define XMIN_HOLDER_WHO_BYTES 160

struct xmin_holder {
    bool any;
    int64_t pid;    /* of the session; 0: not a session */
    int64_t age_us; /* since it began or, if that is unknown, since it was first seen */
    char who[XMIN_HOLDER_WHO_BYTES]; /* process 4711 ("psql" of alice, idle in transaction) */
};
