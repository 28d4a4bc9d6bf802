/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Error class and message of a request without a complete answer.
 */
#pragma once

#include "http/service.h"

/* Returns true if a finished slot reached no server, so another base URL may work. */
bool fault_is_unreachable(const struct slot *slot);

/* Fills err from a finished slot whose result is not CURLE_OK; returns the class. */
int fault_explain(const struct slot *slot, struct err *err);

/* Like fault_explain, without method and path. */
int fault_describe(const struct slot *slot, struct err *err);

/* Returns true if the next request should use another base URL: the host is unreachable, or accepts
 * requests without answering them. */
bool fault_turns_away(const struct slot *slot);
