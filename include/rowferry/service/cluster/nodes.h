/* SPDX-License-Identifier: Apache-2.0 */
/* How many nodes hold data: a replica has a place only where there are two. */
#ifndef ROWFERRY_SERVICE_NODES_H
#define ROWFERRY_SERVICE_NODES_H

#include "rowferry/base/err.h"
#include "rowferry/service/http/http.h"

/* GET /_cluster/health; 0 where the credential may not ask, or the product does not say. */
int nodes_count(struct service *s, int *out, struct err *err) MUST_CHECK;

#endif
