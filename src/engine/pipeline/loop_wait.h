/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The end of a loop turn: sleeps until an answer arrives, the source has more, a wakeup arrives, or
 * a timer is due.
 */
#pragma once

#include <stdbool.h>

#include "rowferry/base/err.h"

struct loop;

/* No more rows for now: flushes the current batch after `linger_ms`, or at once if the source is
 * unreachable. */
void loop_wait_linger(struct loop *l);

/* Waits. reading: more rows may be available at once; waiting: the source has no more for now. */
int loop_wait_sleep(struct loop *l, bool reading, bool waiting, struct err *err) MUST_CHECK;
