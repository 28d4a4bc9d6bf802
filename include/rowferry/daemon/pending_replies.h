/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The requests that wait for a rebuild, or for its end, and what they are answered. Where the state
 * file does not take an answer, the next holder is asked again.
 */
#ifndef ROWFERRY_DAEMON_PENDING_REPLIES_H
#define ROWFERRY_DAEMON_PENDING_REPLIES_H

#include "rowferry/daemon/rebuild_outcome.h"
#include "rowferry/state/store.h"

/* All of them wait for the same. */
struct askers {
    int64_t *ids;
    size_t count;
};

void askers_push(struct askers *a, int64_t id); /* 0: none */

/* Each answers all of them, of whom none is left then. rebuilt: how far it was; null: nowhere. */
void askers_refuse(struct askers *a, struct state *state, const char *pipeline,
                   const struct err *why, const struct rebuilt *rebuilt);
void askers_tell(struct askers *a, struct state *state, const char *pipeline,
                 const struct rebuilt *rebuilt);
/* They wait for the next holder. */
void askers_put_back(struct askers *a, struct state *state, const char *pipeline);

#endif
