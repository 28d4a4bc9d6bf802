/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Detects the product and version of the service.
 */
#pragma once

#include "rowferry/base/buf.h"
#include "rowferry/base/err.h"
#include "rowferry/service/http/http.h"

#define PRODUCT_CLUSTER_BYTES 40

enum product { PRODUCT_UNKNOWN, PRODUCT_OPENSEARCH, PRODUCT_ELASTICSEARCH };

struct product_info {
    enum product product;
    int major, minor;                    /* 0 if the credential may not read it */
    char version[32];                    /* "2.19.4", or "" */
    bool stand_in;                       /* true if the service identifies itself as devsearch */
    char cluster[PRODUCT_CLUSTER_BYTES]; /* cluster uuid, or "" */
    bool permitted; /* false: GET / answered 403 and the product was guessed from the error text */
};

/* Sends GET /. A 403 is not a failure, because least-privileged keys get it. A 401 is
 * ERR_REJECTED. */
int product_detect(struct service *s, struct product_info *out, struct err *err) MUST_CHECK;

enum product_tested {
    PRODUCT_UNTESTED, /* no release of this major version was tested */
    PRODUCT_TESTED_NEAR,
    PRODUCT_TESTED, /* this very release */
};

/* Returns whether the tests of rowferry ran on this release, from services.tested, which they
 * write. Appends how it was tested and what of the tests did not run there; or else the releases
 * that were tested: of the same major version, or of both products. Pure. */
enum product_tested product_tested(const struct product_info *info, struct buf *out);

/* Returns true if it is this product, of this version or a newer one. */
bool product_is_at_least(const struct product_info *info, enum product product, int major,
                         int minor);

/* Returns the query parameters that bulk requests need for this product ("&..."), or "". */
const char *product_bulk_query(const struct product_info *info);

const char *
product_name(enum product product); /* returns "OpenSearch", "Elasticsearch" or "unknown" */
