/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The outcome of one operation: one table from kind, status and error type.
 */
#ifndef ROWFERRY_SERVICE_OUTCOME_H
#define ROWFERRY_SERVICE_OUTCOME_H

#include <stdbool.h>

#include "rowferry/base/err.h"
#include "rowferry/base/text.h"
#include "rowferry/document/model/operation.h"

struct item {
    int status;
    bool has_error;
    bool diverted;    /* "failure_store":"used": stored, but not where it belongs */
    struct span type; /* of the error */
    struct span reason;
};

/* Pure. seen: for OUTRUN the version that the service holds ("current version [N]"). */
enum outcome outcome_of_item(const struct operation *o, const struct item *item, int64_t *seen);

/* Whether the reason says that neither the index nor the alias that was written to is there. */
bool outcome_is_gone(struct span reason);

/* Whether it says that the alias points at several indices, or takes no writes. */
bool outcome_is_shared(struct span reason);

/* Of a whole request that did not answer 200: what becomes of every operation in it. */
enum outcome outcome_of_request(int status);

#endif
