/* SPDX-License-Identifier: Apache-2.0 */
/* Number of data nodes: a replica can be assigned only if there are at least two. */
#pragma once

#include "rowferry/base/err.h"
#include "rowferry/service/http/http.h"

/* Sends GET /_cluster/health; *out is 0 if the credential may not read it or the field is
 * missing. */
int nodes_count(struct service *s, int *out, struct err *err) MUST_CHECK;
