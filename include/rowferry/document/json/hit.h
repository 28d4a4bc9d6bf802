/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads a hit as a search prints it, `{"_index": "..", "_id": "..", "_source": {..}}`, to find out
 * where its document comes from. Of the whole answer to a search, the first hit is read.
 */
#pragma once

#include "rowferry/base/err.h"
#include "rowferry/base/text.h"

/* A text is null if the hit does not have it. */
struct hit {
    char *index;
    char *id;
    char *source_id;
    char *pipeline; /* of _source.provenance */
};

/* Returns ERR_REJECTED if the text is not a hit, or is the answer to a search without one. */
int hit_read(struct hit *out, struct span text, struct err *err) MUST_CHECK;
void hit_release(struct hit *h);
