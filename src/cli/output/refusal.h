/* SPDX-License-Identifier: Apache-2.0 */
/* Replies to a refused request: the reason, and what to do about it. */
#pragma once

#include <json-c/json.h>

#include "rowferry/daemon/session.h"

/* Sets *err to the reason and hint that request_refuse wrote. If the answer has no reason, the
 * message is `otherwise`. Returns the class of the error. */
int refusal_read(struct json_object *answer, const char *otherwise, struct err *err);

/* Withdraws a request of this process, so that the next holder does not carry it out
 * unexpectedly. */
int refusal_withdraw(struct session *s, int64_t id, struct err *err) MUST_CHECK;
