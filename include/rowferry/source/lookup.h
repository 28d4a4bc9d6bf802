/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Small questions: the advisory lock that keeps a second holder on another host away, and whether
 * the table can be read as configured.
 */
#ifndef ROWFERRY_SOURCE_LOOKUP_H
#define ROWFERRY_SOURCE_LOOKUP_H

#include "rowferry/source/catalog.h"
#include "rowferry/source/pg.h"

/* Tries the advisory lock of a pipeline's consumer on this session; ERR_HELD names the session
 * that has it (pid, client address, application, since). Freed with the connection. */
int lookup_hold(struct pg *pg, const char *consumer, struct err *err) MUST_CHECK;

/* Has the read of the table planned, not run: ERR_REJECTED where the role may not, or where the
 * condition (null = none) is wrong. */
int lookup_readable(struct pg *pg, const struct table *table, const char *where,
                    struct err *err) MUST_CHECK;

#endif
