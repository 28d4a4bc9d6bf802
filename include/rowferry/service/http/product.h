/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which product answers, and where the products differ: one small dialect table.
 */
#ifndef ROWFERRY_SERVICE_PRODUCT_H
#define ROWFERRY_SERVICE_PRODUCT_H

#include "rowferry/base/err.h"
#include "rowferry/service/http/http.h"

#define PRODUCT_CLUSTER_BYTES 40

enum product { PRODUCT_UNKNOWN, PRODUCT_OPENSEARCH, PRODUCT_ELASTICSEARCH };

struct product_info {
    enum product product;
    int major, minor;                    /* 0 where the credential may not ask */
    char version[32];                    /* "2.19.4", or "" */
    bool stand_in;                       /* devsearch says so itself */
    char cluster[PRODUCT_CLUSTER_BYTES]; /* its uuid, or "" */
    bool permitted; /* false: GET / answered 403; product told by the text of the refusal */
};

/* GET /. A 403 is no failure (least-privileged keys get it); 401 is ERR_REJECTED. */
int product_detect(struct service *s, struct product_info *out, struct err *err) MUST_CHECK;

/* What a bulk request's query has besides the common part ("&..."), or "". */
const char *product_bulk_query(const struct product_info *info);

const char *product_name(enum product product); /* "OpenSearch", "Elasticsearch", "unknown" */

#endif
