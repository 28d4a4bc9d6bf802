/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Closed and blocked indices, and the requests that they refuse.
 */
#pragma once

#include "index/catalogue.h"

#define CLOSED_SETTING "index.verified_before_close"

bool index_is_closed(const struct index *ix);

/* Call before documents are read or written. */
int index_check_open(const struct index *ix, struct refusal *refusal);

/* Call before documents are written. */
int index_check_writable(const struct index *ix, struct refusal *refusal);

/* Call before the mapping, aliases or settings change, and before a close or delete. */
int index_check_changeable(const struct index *ix, struct refusal *refusal);
