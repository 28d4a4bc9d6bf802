/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The end of a turn of the loop: it sleeps until an answer comes, the source has more, the bell
 * rings, or something is due.
 */
#ifndef ROWFERRY_ENGINE_LOOP_WAIT_H
#define ROWFERRY_ENGINE_LOOP_WAIT_H

#include <stdbool.h>

#include "rowferry/base/err.h"

struct loop;

/* The source has nothing right now: what was read need not wait for it for long, and for one that
 * is away not at all. */
void rest_linger(struct loop *l);

/* reading: there may be more to read at once; waiting: the source has nothing right now. */
int rest_wait(struct loop *l, bool reading, bool waiting, struct err *err) MUST_CHECK;

#endif
