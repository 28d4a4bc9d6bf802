/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Indices that are closed or blocked, and what is refused then.
 */
#ifndef DEVSEARCH_CONDITION_H
#define DEVSEARCH_CONDITION_H

#include "index/catalogue.h"

#define CLOSED_SETTING "index.verified_before_close"

bool index_is_closed(const struct index *ix);

/* Before documents are read or written. */
int index_check_open(const struct index *ix, struct refusal *refusal);

/* Before a write of documents. */
int index_check_writable(const struct index *ix, struct refusal *refusal);

/* Before its mapping, aliases or settings change, or it is closed or deleted. */
int index_check_changeable(const struct index *ix, struct refusal *refusal);

#endif
