/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Requests: what another command asks of the pipeline's holder, and what became of it.
 */
#ifndef ROWFERRY_STATE_REQUEST_H
#define ROWFERRY_STATE_REQUEST_H

#include "rowferry/base/buf.h"
#include "rowferry/state/store.h"

enum request_state { REQUEST_FILED, REQUEST_TAKEN, REQUEST_DONE, REQUEST_FAILED };

/* Files a request; arguments: text of the form that the command has (engine/pipeline/requests.h).
 */
int request_file(struct state *s, const char *command, const char *arguments, int64_t wall_us,
                 int64_t *id, struct err *err) MUST_CHECK;
/* The holder: takes the oldest one with a higher id than `after`; *id 0 where there is none. */
int request_take(struct state *s, int64_t after, int64_t *id, struct buf *command,
                 struct buf *arguments, struct err *err) MUST_CHECK;
/* The holder: progress (REQUEST_TAKEN) or result, one JSON object. */
int request_answer(struct state *s, int64_t id, enum request_state state, const char *answer,
                   int64_t wall_us, struct err *err) MUST_CHECK;
/* Ends it as not carried out: {"error":why,"hint":hint}; hint: "" where there is none. */
int request_refuse(struct state *s, int64_t id, const char *why, const char *hint, int64_t wall_us,
                   struct err *err) MUST_CHECK;
/* The asking command: where it stands. */
int request_look(struct state *s, int64_t id, enum request_state *state, struct buf *answer,
                 struct err *err) MUST_CHECK;

#endif
