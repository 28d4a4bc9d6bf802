/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Requests from other commands to the pipeline's lock holder, and their answers.
 */
#pragma once

#include "rowferry/base/buf.h"
#include "rowferry/state/store.h"

enum request_state { REQUEST_FILED, REQUEST_TAKEN, REQUEST_DONE, REQUEST_FAILED };

/* Files a request. `arguments` is a text whose form the command defines
 * (engine/pipeline/requests.h). */
int request_file(struct state *s, const char *command, const char *arguments, int64_t wall_us,
                 int64_t *id, struct err *err) MUST_CHECK;
/* For the holder: takes the oldest request with an id above `after`; *id is 0 if none is
 * waiting. */
int request_take(struct state *s, int64_t after, int64_t *id, struct buf *command,
                 struct buf *arguments, struct err *err) MUST_CHECK;
/* For the holder: stores progress (REQUEST_TAKEN) or result, one JSON object. */
int request_answer(struct state *s, int64_t id, enum request_state state, const char *answer,
                   int64_t wall_us, struct err *err) MUST_CHECK;
/* Ends a request as failed: {"error":why,"hint":hint}; hint may be "". */
int request_refuse(struct state *s, int64_t id, const char *why, const char *hint, int64_t wall_us,
                   struct err *err) MUST_CHECK;
/* For the requesting command: reads the state of its request. */
int request_look(struct state *s, int64_t id, enum request_state *state, struct buf *answer,
                 struct err *err) MUST_CHECK;
