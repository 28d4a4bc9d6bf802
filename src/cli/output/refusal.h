/* SPDX-License-Identifier: Apache-2.0 */
/* Answers to a request that is not carried out: why, and what to do about it. */
#ifndef ROWFERRY_CLI_REFUSAL_H
#define ROWFERRY_CLI_REFUSAL_H

#include <json-c/json.h>

#include "rowferry/daemon/session.h"

/* What request_refuse wrote, as who asked hears it; otherwise: what is said of an answer without a
 * reason. Returns the class of the error. */
int refusal_read(struct json_object *answer, const char *otherwise, struct err *err);

/* Takes a request of one's own back: nobody waits for it any more, and the next holder shall not
 * carry it out by surprise. */
int refusal_withdraw(struct session *s, int64_t id, struct err *err) MUST_CHECK;

#endif
