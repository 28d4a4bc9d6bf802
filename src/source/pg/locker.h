/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the lock holder after a lock timeout.
 */
#pragma once

#include <stdint.h>

#include "rowferry/source/pg/pg.h"

/* If err is a lock timeout (55P03), prefixes it with the process that has the table locked, if that
 * can be found out. Rolls back the session's transaction. Other errors are left as they are. */
void locker_name(struct pg *pg, uint32_t table, struct err *err);
