/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What holds the source's watermark: the transaction that looks back furthest.
 *
 * While it is open the change log keeps all entries that came since it began (or, where it only
 * reads, their dead rows), and a cursor's horizon stands at its beginning; what it has written
 * itself is not in the index. It may be a session of any state, a prepared transaction, a
 * replication slot or a standby that reports what its own readers need.
 */
#ifndef ROWFERRY_SOURCE_XMIN_HOLDER_H
#define ROWFERRY_SOURCE_XMIN_HOLDER_H

#include <stdbool.h>
#include <stdint.h>

#define HOLD_WHO_BYTES 160

struct hold {
    bool any;
    int64_t pid;    /* of the session; 0: it is none */
    int64_t age_us; /* since it began; where the source does not tell, since it was first seen */
    char who[HOLD_WHO_BYTES]; /* process 4711 ("psql" of alice, idle in transaction) */
};

#endif
