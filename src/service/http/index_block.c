/* SPDX-License-Identifier: Apache-2.0 */
/* Recognises blocked and closed indices by the text of a refusal. */
#include "rowferry/service/http/index_block.h"

#include <string.h>

/* The services number their blocks: "blocked by: [FORBIDDEN/8/index write (api)]". */
static const char *index_block_setting(struct span reason)
{
    static const struct {
        const char *words;
        const char *setting;
    } blocks[] = {
        {"/5/index read-only", "index.blocks.read_only"},
        {"/6/cluster read-only", "cluster.blocks.read_only"},
        {"/7/index read", "index.blocks.read"},
        {"/8/index write", "index.blocks.write"},
        {"/9/index metadata", "index.blocks.metadata"},
        {"/12/index read-only", "index.blocks.read_only_allow_delete"},
        {"/12/disk usage exceeded", "index.blocks.read_only_allow_delete"},
        {"/13/cluster read-only", "cluster.blocks.read_only_allow_delete"},
        {"/10/cluster create-index", "cluster.blocks.create_index"},
    };
    for (size_t i = 0; i < sizeof(blocks) / sizeof(blocks[0]); i++) {
        if (span_contains(reason, "blocked by") && span_contains(reason, blocks[i].words)) {
            return blocks[i].setting;
        }
    }
    return NULL;
}

bool index_block_hint(struct span reason, const char *index, struct err *err)
{
    const char *setting = index_block_setting(reason);
    if (setting != NULL) {
        bool cluster = strncmp(setting, "cluster.", 8) == 0;
        err_hint(err, "the block \"%s\" is set: PUT /%s%s with null for this setting removes it",
                 setting, cluster ? "_cluster" : index, cluster ? "/settings" : "/_settings");
        return true;
    }
    /* an item's reason is this one word, its type the exception's name */
    bool closed = span_is(reason, "closed") || span_contains(reason, "index_closed_exception");
    if (closed) {
        err_hint(err, "the index is closed: POST /%s/_open opens it", index);
    }
    return closed;
}
