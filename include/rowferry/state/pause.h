/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The paused state of a pipeline: no process writes its index until it is resumed.
 */
#pragma once

#include <stdint.h>

#include "rowferry/state/store.h"

/* Pauses the pipeline; keeps the time if it is already paused. */
int pause_begin(struct state *s, int64_t wall_us, struct err *err) MUST_CHECK;
int pause_end(struct state *s, struct err *err) MUST_CHECK;
/* *since_us is 0 if it is not paused. */
int pause_look(struct state *s, int64_t *since_us, struct err *err) MUST_CHECK;
/* Returns ERR_STATE, with a hint, if it is paused. */
int pause_expect_none(struct state *s, struct err *err) MUST_CHECK;
