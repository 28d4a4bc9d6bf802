/* SPDX-License-Identifier: Apache-2.0 */
/* Closes and opens indices; refuses requests that a closed or blocked index does not accept. */
#include "api/condition.h"
#include "api/server.h"

#include <stdlib.h>

static bool is_on(const struct index *ix, const char *setting)
{
    const char *value = settings_get(&ix->settings, setting);
    return value != NULL && strcmp(value, "true") == 0;
}

bool index_is_closed(const struct index *ix)
{
    return is_on(ix, CLOSED_SETTING);
}

int index_check_open(const struct index *ix, struct refusal *refusal)
{
    if (!index_is_closed(ix)) {
        return 0;
    }
    refuse(refusal, 400, "index_closed_exception", "closed");
    refusal_member(refusal, "index", ix->name);
    refusal_member(refusal, "index_uuid", ix->uuid);
    return -1;
}

static const struct {
    const char *name;
    int status;
    const char *text;
} blocks[] = {
    {"index.blocks.read_only", 403, "FORBIDDEN/5/index read-only (api)"},
    {"index.blocks.write", 403, "FORBIDDEN/8/index write (api)"},
    {"index.blocks.read_only_allow_delete", 429,
     "TOO_MANY_REQUESTS/12/disk usage exceeded flood-stage watermark, index has "
     "read-only-allow-delete block"},
};

/* Checks the first count entries of the block table. */
static int check_blocks(const struct index *ix, size_t count, struct refusal *refusal)
{
    for (size_t i = 0; i < count; i++) {
        if (is_on(ix, blocks[i].name)) {
            return refuse(refusal, blocks[i].status, "cluster_block_exception",
                          "index [%s] blocked by: [%s];", ix->name, blocks[i].text);
        }
    }
    return 0;
}

int index_check_writable(const struct index *ix, struct refusal *refusal)
{
    if (index_check_open(ix, refusal) != 0) {
        return -1;
    }
    return check_blocks(ix, sizeof(blocks) / sizeof(blocks[0]), refusal);
}

int index_check_changeable(const struct index *ix, struct refusal *refusal)
{
    return check_blocks(ix, 1, refusal);
}

HANDLER(close_index)
{
    struct indices list;
    size_t closed = 0;
    if (catalogue_resolve(&s->catalogue, q->segments[0], &list, refusal) != 0) {
        return -1;
    }
    int rc = 0;
    struct buf each;
    buf_init(&each, ANSWER_MAX_BYTES);
    for (size_t i = 0; rc == 0 && i < list.count; i++) {
        struct index *ix = list.list[i];
        if (index_is_closed(ix)) {
            continue;
        }
        rc = index_check_changeable(ix, refusal);
        if (rc == 0) {
            settings_put(&ix->settings, CLOSED_SETTING, "true");
            rc = catalogue_save(&s->catalogue, ix, refusal);
            buf_push_text(&each, closed++ > 0 ? "," : "");
            push_json_text(&each, ix->name);
            buf_push_literal(&each, ":{\"closed\":true}");
        }
    }
    buf_printf(&a->body, "{\"acknowledged\":true,\"shards_acknowledged\":%s,\"indices\":{%s}}",
               closed > 0 ? "true" : "false", buf_text(&each));
    buf_release(&each);
    free(list.list);
    return rc;
}

HANDLER(open_index)
{
    struct indices list;
    if (catalogue_resolve_all(&s->catalogue, q->segments[0], &list, refusal) != 0) {
        return -1;
    }
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < list.count; i++) {
        settings_put(&list.list[i]->settings, CLOSED_SETTING, NULL);
        rc = catalogue_save(&s->catalogue, list.list[i], refusal);
    }
    buf_push_literal(&a->body, "{\"acknowledged\":true,\"shards_acknowledged\":true}");
    free(list.list);
    return rc;
}
