/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The arguments of a request for a rebuild:
 *
 *     {"adopt":false,"allow_deletes":false,"configuration":"..."}
 *
 * The holder builds by the configuration that it began with, and the requester has just read the
 * file. `configuration` is a hash that detects a difference, because the holder would then build an
 * index that was not requested.
 *
 * Pure.
 */
#pragma once

#include "rowferry/base/buf.h"
#include "rowferry/config/config.h"

/* The options of the request. */
struct rebuild_terms {
    bool adopt;         /* an existing index with the name of the alias may be replaced */
    bool allow_deletes; /* the new index may have fewer documents than the live one */
};

void rebuild_arguments_push(struct buf *out, const struct pipeline_config *pipeline,
                            const struct rebuild_terms *terms);

/* Returns false if the request was made with another configuration. */
bool rebuild_arguments_read(const char *arguments, const struct pipeline_config *pipeline,
                            struct rebuild_terms *terms);
