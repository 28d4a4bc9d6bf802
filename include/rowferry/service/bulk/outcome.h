/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Classifies the result of one operation: one table by kind, status and error type.
 */
#pragma once

#include <stdbool.h>

#include "rowferry/base/err.h"
#include "rowferry/base/text.h"
#include "rowferry/document/model/operation.h"

struct item {
    int status;
    bool has_error;
    bool diverted;    /* "failure_store":"used": stored, but not where it belongs */
    bool dropped;     /* by an ingest pipeline: nothing was stored */
    bool moved;       /* by an ingest pipeline, to another index */
    struct span type; /* of the error */
    struct span reason;
};

/* Returns the outcome of an item. For OUTCOME_CONFLICT (a version conflict), *seen is the version
 * in the index, from "current version [N]". Pure. */
enum outcome outcome_of_item(const struct operation *o, const struct item *item, int64_t *seen);

/* Returns true if reason reports that neither an index nor an alias of the written name exists. */
bool outcome_is_gone(struct span reason);

/* Returns true if reason reports that the alias has several indices or does not accept writes. */
bool outcome_is_shared(struct span reason);

/* Returns the outcome of every operation of a request whose status is not 200. `type` is the error
 * type of its answer, or "". */
enum outcome outcome_of_request(int status, const char *type);
