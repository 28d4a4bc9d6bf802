/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The requests that wait for a rebuild or for its end, and the replies to them. A reply that cannot
 * be written to the state file is dropped with a warning; the next holder takes the request again.
 */
#ifndef ROWFERRY_DAEMON_PENDING_REPLIES_H
#define ROWFERRY_DAEMON_PENDING_REPLIES_H

#include "rowferry/daemon/rebuild_outcome.h"
#include "rowferry/state/store.h"

/* Requests that all wait for the same result. */
struct askers {
    int64_t *ids;
    size_t count;
};

void askers_push(struct askers *a, int64_t id); /* 0 is ignored */

/* Each of these replies to all pending requests and empties the list. `rebuilt` is the progress
 * of the rebuild, or null if it made none. */
void askers_refuse(struct askers *a, struct state *state, const char *pipeline,
                   const struct err *why, const struct rebuilt *rebuilt);
void askers_tell(struct askers *a, struct state *state, const char *pipeline,
                 const struct rebuilt *rebuilt);
/* Files the requests again, for the next holder. */
void askers_put_back(struct askers *a, struct state *state, const char *pipeline);

#endif
