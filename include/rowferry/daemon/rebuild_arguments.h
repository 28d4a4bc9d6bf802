/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The arguments of a request for a rebuild:
 *
 *     {"adopt":false,"allow_deletes":false,"configuration":"..."}
 *
 * Pure.
 *
 * The holder builds by the configuration that it began with; who asks has read the file now. Where
 * both are not the same, an index would be built that nobody asked for.
 */
#ifndef ROWFERRY_DAEMON_REBUILD_ARGUMENTS_H
#define ROWFERRY_DAEMON_REBUILD_ARGUMENTS_H

#include "rowferry/base/buf.h"
#include "rowferry/config/config.h"

/* What was said beside the wish itself. */
struct rebuild_terms {
    bool adopt;         /* an index that bears the alias's name may be replaced */
    bool allow_deletes; /* what has fewer documents than the live index may take its place */
};

void rebuild_request_push(struct buf *out, const struct pipeline_config *pipeline,
                          const struct rebuild_terms *terms);

/* False where it was asked for with another configuration. */
bool rebuild_request_read(const char *arguments, const struct pipeline_config *pipeline,
                          struct rebuild_terms *terms);

#endif
