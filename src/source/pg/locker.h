/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who is in the way of a lock that was not to be had in time.
 */
#ifndef ROWFERRY_SOURCE_LOCKER_H
#define ROWFERRY_SOURCE_LOCKER_H

#include <stdint.h>

#include "rowferry/source/pg/pg.h"

/* Of such an error (55P03), after which the session has nothing left to do: puts the process before
 * it, where the source tells. Of any other nothing. */
void locker_name(struct pg *pg, uint32_t table, struct err *err);

#endif
