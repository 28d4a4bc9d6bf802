/* SPDX-License-Identifier: Apache-2.0 */
/* A holder's answer to a request that it does not carry out: why, and what to do about it. */
#ifndef ROWFERRY_CLI_REFUSAL_H
#define ROWFERRY_CLI_REFUSAL_H

#include <json-c/json.h>

#include "rowferry/base/buf.h"
#include "rowferry/base/err.h"

/* The whole answer; hint: "" where there is none. */
void refusal_push(struct buf *out, const char *why, const char *hint);

/* The same as who asked hears it; otherwise: what is said of an answer without a reason. Returns
 * the class of the error. */
int refusal_read(struct json_object *answer, const char *otherwise, struct err *err);

#endif
