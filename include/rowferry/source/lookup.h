/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The advisory lock that keeps a second holder on another host away.
 */
#ifndef ROWFERRY_SOURCE_LOOKUP_H
#define ROWFERRY_SOURCE_LOOKUP_H

#include "rowferry/source/pg.h"

/* Tries the advisory lock of a pipeline's consumer on this session; ERR_HELD names the session
 * that has it (pid, client address, application, since). Freed with the connection. */
int lookup_hold(struct pg *pg, const char *consumer, struct err *err) MUST_CHECK;

#endif
