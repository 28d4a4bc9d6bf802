/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The requests that wait for a rebuild or for its end, and the replies to them. A reply that cannot
 * be written to the state file is dropped with a warning; the next holder takes the request again.
 */
#pragma once

#include "rowferry/daemon/rebuild_outcome.h"
#include "rowferry/state/store.h"

/* Requests that all wait for the same result. */
struct pending_replies {
    int64_t *ids;
    size_t count;
};

void pending_replies_push(struct pending_replies *a, int64_t id); /* 0 is ignored */

/* Each of these replies to all pending requests and empties the list. `rebuilt` is the progress
 * of the rebuild, or null if it made none. */
void pending_replies_refuse(struct pending_replies *a, struct state *state, const char *pipeline,
                            const struct err *why, const struct rebuild_outcome *rebuilt);
void pending_replies_answer(struct pending_replies *a, struct state *state, const char *pipeline,
                            const struct rebuild_outcome *rebuilt);
/* Files the requests again, for the next holder. */
void pending_replies_put_back(struct pending_replies *a, struct state *state, const char *pipeline);
