/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a name stands for, asked beside everything else and not waited for: an answer that takes
 * long holds up neither bulks nor a stop. One at a time; it moves on in every wait (bulk_wait).
 */
#ifndef ROWFERRY_SERVICE_ALIAS_POLL_H
#define ROWFERRY_SERVICE_ALIAS_POLL_H

#include "rowferry/service/index/index.h"

/* Sends it. Where one is under way already that one goes on. */
int glance_begin(struct service *s, const char *name, struct err *err) MUST_CHECK;

/* GLANCE_NONE: no answer yet, or nothing was asked. 0: as index_resolve says it. Negative: it
 * failed. After an answer or a failure nothing is under way any more. */
#define GLANCE_NONE 1
int glance_end(struct service *s, enum alias_kind *kind, struct index_info *out,
               struct err *err) MUST_CHECK;

#endif
