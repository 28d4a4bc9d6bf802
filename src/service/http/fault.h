/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Plain words and a class for a request that brought no whole answer.
 */
#ifndef ROWFERRY_SERVICE_FAULT_H
#define ROWFERRY_SERVICE_FAULT_H

#include "http/service.h"

/* True where a finished slot reached nobody, so that another base URL may do better. */
bool fault_is_unreachable(const struct slot *slot);

/* Fills err from a finished slot whose result is not CURLE_OK; returns the class. */
int fault_explain(const struct slot *slot, struct err *err);

/* The same without method and path. */
int fault_tell(const struct slot *slot, struct err *err);

/* Whether the next request had better go to another base URL: a host that cannot be reached, or one
 * that takes requests and answers none. */
bool fault_turns_away(const struct slot *slot);

#endif
