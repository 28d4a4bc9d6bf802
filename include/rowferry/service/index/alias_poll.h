/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Resolves a name in the background. A slow answer delays neither bulk requests nor a shutdown. One
 * request at a time; it makes progress in every bulk_wait.
 */
#pragma once

#include "rowferry/service/index/index.h"

/* Sends the request, unless one is already pending. */
int alias_poll_begin(struct service *s, const char *name, struct err *err) MUST_CHECK;

/* Returns ALIAS_POLL_NONE if no answer has arrived or nothing is pending, 0 with the results of
 * index_resolve, or a negative error class. Any other result than ALIAS_POLL_NONE ends the request.
 */
#define ALIAS_POLL_NONE 1
int alias_poll_end(struct service *s, enum alias_kind *kind, struct index_info *out,
                   struct err *err) MUST_CHECK;
