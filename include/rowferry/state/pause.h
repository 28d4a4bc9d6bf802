/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether a pipeline is paused: nobody writes its index, whoever holds it, until it is resumed.
 */
#ifndef ROWFERRY_STATE_PAUSE_H
#define ROWFERRY_STATE_PAUSE_H

#include <stdint.h>

#include "rowferry/state/store.h"

/* One that is paused already stays so since then. */
int pause_begin(struct state *s, int64_t wall_us, struct err *err) MUST_CHECK;
int pause_end(struct state *s, struct err *err) MUST_CHECK;
/* *since_us 0 where it is not paused. */
int pause_look(struct state *s, int64_t *since_us, struct err *err) MUST_CHECK;
/* ERR_STATE with what to do where it is. */
int pause_expect_none(struct state *s, struct err *err) MUST_CHECK;

#endif
